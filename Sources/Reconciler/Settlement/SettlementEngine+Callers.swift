internal import Logging
internal import PaymentCore

extension SettlementEngine {
    /// What came of a creation.
    enum Creation: Sendable {
        case created(Payment)
        case duplicate(IdempotencyRecord)
        case notAccepting(reason: String)
        /// The payment's place is taken: a comparison found it at a provider before its caller came again, and
        /// undoes it.
        case undone
    }

    /// Makes a new payment durable, with its first intents, and puts it to work.
    func create(_ request: CreateRequest, record: IdempotencyRecord) async throws(StoreFailure) -> Creation {
        guard !isDraining else { return .notAccepting(reason: "shutting down") }
        let standing = settings.gate.standing
        guard standing.mayCreate else { return .notAccepting(reason: SettlementEngine.reason(standing)) }
        guard runners.count < settings.maximumActive else {
            return .notAccepting(reason: "too many payments are in work")
        }
        let created = PaymentMachine.create(request, context(), recovery: recovery)
        switch try await insert(created, record, operation: "create") {
        case .inserted(let payment): return .created(payment)
        case .keySpent(let record): return .duplicate(record)
        case .placeTaken:
            let id = created.machine.payment.id
            guard let there = try await store.payment(id), there.caller != request.caller else {
                throw StoreFailure(.other, operation: "create", cause: "a new payment cannot conflict")
            }
            return .undone
        }
    }

    /// Whether a create under this payment's key need not be tried before the key is looked up: the payment is in work
    /// here, or nothing new is taken.
    func isKnownOrRefused(_ id: PaymentID) -> Bool {
        runners[id] != nil || isDraining || runners.count >= settings.maximumActive || !settings.gate.standing.mayCreate
    }

    /// Whether the payment is in work in this process, which hears of each of its changes.
    func isInWork(_ id: PaymentID) -> Bool { runners[id] != nil }

    /// Hands a caller's operation to the payment's runner, or writes it for whoever holds the payment.
    func submit(
        _ operation: OperationRunner.Request.Operation, record: IdempotencyRecord
    ) async throws(StoreFailure) -> OperationRunner.Answer {
        guard !isDraining else {
            throw StoreFailure(.unavailable, operation: "operation", cause: "shutting down")
        }
        guard settings.gate.standing.maySettle else {
            let reason = SettlementEngine.reason(settings.gate.standing)
            throw StoreFailure(.inactive, operation: "operation", cause: reason)
        }
        lastTicket += 1
        let request = OperationRunner.Request(ticket: lastTicket, operation: operation, record: record)
        let submission = await withCheckedContinuation { continuation in
            tickets[request.ticket] = continuation
            if case .terminated = jobSink.yield(.deliver(record.payment, [], [request])) {
                answer(request.ticket, .lost)
            }
        }
        switch submission {
        case .answered(let answer): return answer
        case .failed(let failure): throw failure
        case .lost: throw StoreFailure(.indeterminate, operation: "operation", cause: "the payment changed hands")
        }
    }

    /// Without the lease nothing is sent: the request is made durable, and the payment's holder finds it.
    @discardableResult
    func write(
        _ id: PaymentID, _ events: [PaymentEvent], _ request: OperationRunner.Request?
    ) async throws(StoreFailure) -> OperationRunner.Answer? {
        var events = events
        for _ in 0..<8 {
            guard let payment = try await store.payment(id) else {
                throw StoreFailure(.other, operation: "operation", cause: "the payment is gone")
            }
            var context = context()
            context.mayBegin = false
            var writer = OperationRunner(machine: PaymentMachine(payment: payment), token: LeaseToken(0))
            let told = [recovery.opening(for: payment)].compactMap { $0 } + events
            let first = writer.begin(with: told, requests: request.map { [$0] } ?? [], context)
            guard var change = first.firstChange else { return first.firstAnswer }
            change.lease = .none
            let result = try await store.commit(change)
            if case .versionConflict = result { continue }
            let outputs = writer.handle(.committed(result), context)
            for case .changed(let changed) in outputs { announce(changed) }
            for case .perform(.alert(let alert)) in outputs { self.alert(alert) }
            wakeSink.yield()
            if let answer = outputs.firstAnswer { return answer }
            if request == nil { return nil }
            // The events are durable; the request would be refused, which takes a read that comes after it.
            events = []
        }
        throw StoreFailure(.serialization, operation: "operation", cause: "other writers were always first")
    }

    /// Tells a person, of whom no runner does.
    func alert(_ alert: Alert) { jobSink.yield(.perform(alert.payment, LeaseToken(0), .alert(alert))) }

    /// Reads every undecided status of a payment now.
    func askNow(_ id: PaymentID) async throws(StoreFailure) {
        if try await !take(id, [.inquireNow], []) { try await write(id, [.inquireNow], nil) }
    }

    /// Follows a payment's durable changes; ``unwatch(_:_:)`` ends it.
    func watch(_ id: PaymentID) -> (number: Int, changes: AsyncStream<PaymentNews>) {
        lastWatcher += 1
        let (stream, sink) = AsyncStream.makeStream(of: PaymentNews.self, bufferingPolicy: .bufferingNewest(4))
        watchers[id, default: [:]][lastWatcher] = sink
        return (lastWatcher, stream)
    }

    /// Ends a watch.
    func unwatch(_ id: PaymentID, _ number: Int) {
        watchers[id]?.removeValue(forKey: number)?.finish()
        if watchers[id]?.isEmpty == true { watchers.removeValue(forKey: id) }
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
