internal import PaymentCore
internal import Reconciler

/// What callers are answered, by the rules of the operations' use cases.
extension World {
    /// The key is known: its answer again, or what comes of what is under way.
    mutating func join(_ ask: Int, _ record: IdempotencyRecord) {
        let task = tasks[asks[ask].task]
        let replica = asks[ask].replica
        guard record.fingerprint == task.planned.fingerprint || does(.bodyNotCompared) else {
            return answer(ask, .keyReused)
        }
        if let stored = record.answer, !does(.answerForgotten) { return answer(ask, World.answer(stored)) }
        guard let payment = sites[replicas[replica].site].store.rows[task.payment]?.payment else {
            return answer(ask, .unavailable)
        }
        if cameTooLate(record, payment) { return answer(ask, .refused(payment.state)) }
        settleOrWait(ask, payment)
    }

    private func cameTooLate(_ record: IdempotencyRecord, _ payment: Payment) -> Bool {
        switch record.operation {
        case .create, .refund: false
        case .cancel: payment.latch == .forward || payment.latch == .compensate
        case .capture: payment.capture?.key != record.key
        }
    }

    /// What came of a request that was handed to a runner.
    mutating func submitted(_ ask: Int, _ answer: OperationRunner.Answer) {
        let task = tasks[asks[ask].task]
        let store = sites[replicas[asks[ask].replica].site].store
        switch answer {
        case .taken(let payment): settleOrWait(ask, payment)
        case .duplicate(let record): join(ask, record)
        case .refused(let refusal):
            // The same key may have been taken a moment before, and be the very reason of the refusal.
            let operation = task.planned.operation
            if let known = store.record(operation.caller, operation.key) { return join(ask, known) }
            switch refusal {
            case .tooLate(let state), .wrongState(let state, _): self.answer(ask, .refused(state))
            case .invalid: self.answer(ask, .refused(store.rows[task.payment]?.payment.state ?? .processing))
            }
        }
    }

    mutating func settleOrWait(_ ask: Int, _ payment: Payment) {
        guard asks[ask].isOpen else { return }
        if isSettled(payment, ask) { return settle(ask, payment) }
        let wait = tasks[asks[ask].task].planned.wait
        guard wait > .zero else { return answer(ask, .accepted(payment.state)) }
        replicas[asks[ask].replica].waiting.append((tasks[asks[ask].task].payment, ask))
        push(.follow(ask: ask), after: wait.milliseconds)
    }

    /// The wait is over. What another process changed is found now.
    mutating func follow(_ ask: Int) {
        guard asks[ask].isOpen, replicas[asks[ask].replica].isUp else { return }
        let replica = asks[ask].replica
        guard replicas[replica].waiting.contains(where: { $0.ask == ask }) else { return }
        guard reachesStore(replica),
            let payment = sites[replicas[replica].site].store.rows[tasks[asks[ask].task].payment]?.payment
        else { return answer(ask, .unavailable) }
        if isSettled(payment, ask) { settle(ask, payment) } else { answer(ask, .accepted(payment.state)) }
    }

    /// Whether what was asked came to its end.
    func isSettled(_ payment: Payment, _ ask: Int) -> Bool {
        let operation = tasks[asks[ask].task].planned.operation
        return switch operation.kind {
        case .create: payment.state.isFinal || payment.state == .authorized
        case .cancel, .capture: payment.state.isFinal
        case .refund: payment.refunds.first { $0.key == operation.key }?.state.isFinal ?? false
        }
    }

    /// Keeps the first settled answer under the key, and gives the one that counts.
    mutating func settle(_ ask: Int, _ payment: Payment) {
        let operation = tasks[asks[ask].task].planned.operation
        let replica = asks[ask].replica
        let refund = payment.refunds.first { $0.key == operation.key }?.state
        guard !does(.answerForgotten) else { return answer(ask, .settled(payment.state, refund: refund)) }
        guard reachesStore(replica),
            let kept = keep(
                World.stored(payment.state, refund), operation.caller, operation.key, site: replicas[replica].site)
        else { return answer(ask, .unavailable) }
        answer(ask, World.answer(kept))
    }

    private static func stored(_ state: PaymentState, _ refund: RefundState?) -> StoredAnswer {
        let words = [state.rawValue, refund?.rawValue ?? ""].joined(separator: " ")
        return StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: Array(words.utf8))
    }

    private static func answer(_ stored: StoredAnswer) -> CallerAnswer {
        let words = String(decoding: stored.body, as: UTF8.self).split(separator: " ")
        guard let first = words.first, let state = PaymentState(rawValue: String(first)) else { return .unavailable }
        return .settled(state, refund: words.dropFirst().first.flatMap { RefundState(rawValue: String($0)) })
    }

    /// A caller is answered, and learns.
    mutating func answer(_ ask: Int, _ answer: CallerAnswer) {
        guard asks[ask].isOpen else { return }
        asks[ask].isOpen = false
        replicas[asks[ask].replica].waiting.removeAll { $0.ask == ask }
        let task = asks[ask].task
        emit(.answered(tasks[task].planned.operation, answer))
        tasks[task].last = answer
        switch answer {
        case .settled(let state, _):
            tasks[task].isDone = true
            trigger(.answered, task)
            if state == .authorized { trigger(.held, task) }
            if state == .succeeded { trigger(.succeeded, task) }
        case .accepted: trigger(.answered, task)
        case .keyReused: tasks[task].isDone = true
        case .refused(let state):
            // In a state that goes on, it may be possible a little later.
            tasks[task].isDone = state != .processing && state != .authorized
        case .unavailable: break
        }
    }
}
