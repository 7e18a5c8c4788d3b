internal import PaymentCore

/// Bringing something to a payment: to its runner, to one that is begun for it, or into its row beside its holder.
extension EngineMachine {
    /// What is to be brought to a payment.
    struct Delivery {
        var events: [PaymentEvent] = []
        var requests: [OperationRunner.Request] = []
        /// Who wants to know that the events are with the payment.
        var ticket: Int?
        /// A payment that is gone needs nothing any more.
        var mayBeGone = false
    }

    /// A delivery that is written without a lease: nothing is sent, and the payment's holder finds it.
    struct Write {
        let id: PaymentID
        var rest: Delivery
        /// The writer of what was read last, while its change is on its way.
        var writer: OperationRunner?
        var tries = 0
    }

    mutating func submit(_ request: OperationRunner.Request) {
        tickets.insert(request.ticket)
        guard !isDraining else {
            let failure = StoreFailure(.unavailable, operation: "operation", cause: "shutting down")
            return answer(request.ticket, .failed(failure))
        }
        guard moment.standing.maySettle else {
            let cause = EngineMachine.reason(moment.standing)
            return answer(request.ticket, .failed(StoreFailure(.inactive, operation: "operation", cause: cause)))
        }
        deliver(request.record.payment, Delivery(requests: [request]))
    }

    /// A caller who repeats its create is heard by a payment that waits for that; no other needs to know.
    mutating func repeated(_ ticket: Int, _ payment: Payment) {
        tickets.insert(ticket)
        let window = recovery?.needed(by: payment) ?? payment.recovery
        guard payment.conclusion == nil, window?.repetition == .awaited else { return answer(ticket, .told) }
        deliver(payment.id, Delivery(events: [.callerRepeated], ticket: ticket))
    }

    /// A provider's news are evidence that nobody gives again once they were acknowledged: they are written beside the
    /// payment's holder first, and it is told then.
    mutating func take(_ news: EffectNews, _ ticket: Int, _ id: PaymentID, _ leg: Int) {
        tickets.insert(ticket)
        guard moment.standing.maySettle else {
            let cause = EngineMachine.reason(moment.standing)
            return answer(ticket, .failed(StoreFailure(.inactive, operation: "notification", cause: cause)))
        }
        write(id, Delivery(events: [.notified(leg: leg, news)], ticket: ticket))
    }

    /// Puts events and requests to a payment's runner, which is begun if no other holder has the payment.
    mutating func deliver(_ id: PaymentID, _ delivery: Delivery) {
        if claims[id] != nil { return claims[id, default: []].append(delivery) }
        if let runner = runners[id], !runner.hasEnded {
            feed(id, delivery.events, delivery.requests)
            if let ticket = delivery.ticket { answer(ticket, .told) }
            return
        }
        claims[id] = [delivery]
        jobs.append(.claim(id, holder: settings.holder, leaseFor: settings.sweep.lease))
    }

    mutating func claimed(_ id: PaymentID, _ result: Result<ClaimedPayment?, StoreFailure>) {
        guard let waiting = claims.removeValue(forKey: id) else { return }
        switch result {
        case .success(let claimed?):
            begin(claimed, waiting.flatMap(\.events), waiting.flatMap(\.requests))
            for ticket in waiting.compactMap(\.ticket) { answer(ticket, .told) }
        case .success(nil):
            for delivery in waiting { write(id, delivery) }
        case .failure(let failure):
            for delivery in waiting { fail(delivery, .failed(failure)) }
        }
    }

    private mutating func fail(_ delivery: Delivery, _ answer: EngineAnswer) {
        for request in delivery.requests { self.answer(request.ticket, answer) }
        if let ticket = delivery.ticket { self.answer(ticket, answer) }
    }

    // MARK: Without a lease

    mutating func write(_ id: PaymentID, _ delivery: Delivery) {
        lastWrite += 1
        writes[lastWrite] = Write(id: id, rest: delivery)
        goOnWriting(lastWrite)
    }

    /// First the events, then one request after the other.
    private mutating func goOnWriting(_ number: Int) {
        guard let write = writes[number] else { return }
        if write.rest.events.isEmpty, let ticket = write.rest.ticket {
            writes[number]?.rest.ticket = nil
            answer(ticket, .told)
        }
        guard !write.rest.events.isEmpty || !write.rest.requests.isEmpty else {
            writes.removeValue(forKey: number)
            return
        }
        guard write.tries < 8 else {
            let cause = "other writers were always first"
            return endWriting(number, .failed(StoreFailure(.serialization, operation: "operation", cause: cause)))
        }
        jobs.append(.readToWrite(number, write.id))
    }

    private mutating func endWriting(_ number: Int, _ answer: EngineAnswer) {
        guard let write = writes.removeValue(forKey: number) else { return }
        fail(write.rest, answer)
    }

    /// What the write is about now: events, or one request.
    private func head(_ write: Write) -> OperationRunner.Request? {
        write.rest.events.isEmpty ? write.rest.requests.first : nil
    }

    private mutating func writtenHead(_ number: Int, _ answer: OperationRunner.Answer?) {
        guard let write = writes[number] else { return }
        if let request = head(write) {
            self.answer(request.ticket, answer.map { .answered($0) } ?? .lost)
            writes[number]?.rest.requests.removeFirst()
        } else {
            writes[number]?.rest.events = []
        }
        writes[number]?.tries = 0
        goOnWriting(number)
    }

    mutating func readToWrite(_ number: Int, _ result: Result<Payment?, StoreFailure>) {
        guard let write = writes[number] else { return }
        let payment: Payment
        switch result {
        case .success(let found?):
            payment = found
            seen(found)
        case .success(nil):
            let failure = StoreFailure(.other, operation: "operation", cause: "the payment is gone")
            return endWriting(number, write.rest.mayBeGone ? .told : .failed(failure))
        case .failure(let failure): return endWriting(number, .failed(failure))
        }
        var writer = OperationRunner(machine: PaymentMachine(payment: payment), token: LeaseToken(0))
        let window = rules.breaks(.writtenWithoutWindow) ? nil : recovery
        let told = [window.opening(for: payment)].compactMap { $0 } + write.rest.events
        let outputs = writer.begin(with: told, requests: head(write).map { [$0] } ?? [], writingContext())
        guard var change = outputs.firstChange else {
            alert(outputs)
            return writtenHead(number, outputs.firstAnswer)
        }
        change.lease = .none
        writes[number]?.writer = writer
        jobs.append(.write(number, change))
    }

    mutating func wrote(_ number: Int, _ result: Result<CommitResult, StoreFailure>) {
        guard let write = writes[number], var writer = write.writer else { return }
        writes[number]?.writer = nil
        writes[number]?.tries += 1
        switch result {
        case .failure(let failure): endWriting(number, .failed(failure))
        case .success(.versionConflict) where rules.breaks(.overtakenWriteTaken):
            writtenHead(number, .taken(writer.payment))
        case .success(.versionConflict): goOnWriting(number)
        case .success(let taken):
            let outputs = writer.handle(.committed(taken), writingContext())
            for case .changed(let payment) in outputs {
                seen(payment)
                jobs.append(.announce(payment, kept: nil))
            }
            alert(outputs)
            tellRunner(write)
            lookForDue()
            let answer = outputs.firstAnswer
            if answer != nil || head(write) == nil { return writtenHead(number, answer) }
            // Not the request was written but what came before it; it is looked at again on what is durable now.
            goOnWriting(number)
        }
    }

    private mutating func alert(_ outputs: [OperationRunner.Output]) {
        for case .perform(.alert(let alert)) in outputs { self.alert(alert) }
    }

    /// The holder in this process takes in what was written beside it, instead of finding it at its next change.
    private mutating func tellRunner(_ write: Write) {
        let news = write.rest.events.filter { if case .notified = $0 { true } else { false } }
        guard !news.isEmpty, let runner = runners[write.id], !runner.hasEnded else { return }
        feed(write.id, news, [])
    }

    private mutating func writingContext() -> MachineContext {
        var context = context()
        context.mayBegin = false
        return context
    }

    /// Tells a person, of whom no runner does.
    mutating func alert(_ alert: Alert) {
        jobs.append(.perform(alert.payment, LeaseToken(0), .alert(alert)))
    }
}

extension [OperationRunner.Output] {
    fileprivate var firstChange: PaymentChange? {
        for case .commit(let change) in self { return change }
        return nil
    }

    fileprivate var firstAnswer: OperationRunner.Answer? {
        for case .answered(_, let answer) in self { return answer }
        return nil
    }
}
