internal import Logging
internal import PaymentCore

extension SettlementEngine {
    /// What came of a creation.
    enum Creation: Sendable {
        case created(Payment)
        case duplicate(IdempotencyRecord)
        case notAccepting(reason: String)
    }

    /// Makes a new payment durable, with its first intents, and puts it to work.
    func create(_ request: CreateRequest, record: IdempotencyRecord) async throws(StoreFailure) -> Creation {
        guard !isDraining else { return .notAccepting(reason: "shutting down") }
        guard runners.count < settings.maximumActive else {
            return .notAccepting(reason: "too many payments are in work")
        }
        let created = PaymentMachine.create(request, context(), recovery: settings.recovery)
        let change = PaymentChange(
            payment: created.machine.payment, entries: created.machine.newEntries,
            lease: .creating(holder: settings.holder, leaseFor: settings.sweep.lease), record: record)
        switch try await commitNew(change, record) {
        case .committed(let version, let lease):
            guard let lease else {
                throw StoreFailure(.other, operation: "create", cause: "the store gave no lease")
            }
            var machine = created.machine
            machine.committed(version: version)
            begin(machine, lease, created.actions)
            return .created(machine.payment)
        case .duplicate(let record):
            return .duplicate(record)
        case .versionConflict, .leaseLost:
            throw StoreFailure(.other, operation: "create", cause: "a new payment cannot conflict")
        }
    }

    /// Tries again where that is safe. If it is not known whether the row was written, the row is looked for.
    private func commitNew(
        _ change: PaymentChange, _ record: IdempotencyRecord
    ) async throws(StoreFailure) -> CommitResult {
        var last: StoreFailure?
        for index in 0..<3 {
            do {
                return try await store.commit(change)
            } catch {
                telemetry.storeFailed(error)
                if error.code == .indeterminate,
                    let written = try await store.idempotencyRecord(caller: record.caller, key: record.key)
                {
                    // Its intents are taken up by the sweep, as after a crash.
                    return .duplicate(written)
                }
                guard error.code == .busy || error.code == .serialization || error.code == .indeterminate else {
                    throw error
                }
                last = error
                let delay = Span(milliseconds: Int64(20 << index) + Int64(jitter.next() / 50))
                do {
                    try await clock.sleep(until: clock.now() + delay)
                } catch { break }
            }
        }
        throw last ?? StoreFailure(.unavailable, operation: "create", cause: "interrupted")
    }

    /// Hands a caller's operation to the payment's runner, or writes it for whoever holds the payment.
    func submit(
        _ operation: OperationRunner.Request.Operation, record: IdempotencyRecord
    ) async throws(StoreFailure) -> OperationRunner.Answer {
        let id = record.payment
        switch await acquire(id) {
        case .acquired:
            guard let token = runners[id]?.lease else { break }
            lastTicket += 1
            let ticket = lastTicket
            let submission = await withCheckedContinuation { continuation in
                tickets[ticket] = continuation
                feed(
                    id, token,
                    .request(OperationRunner.Request(ticket: ticket, operation: operation, record: record)))
            }
            if case .answered(let answer) = submission { return answer }
            throw StoreFailure(.indeterminate, operation: "operation", cause: "the payment changed hands")
        case .heldElsewhere:
            break
        case .failed(let failure):
            throw failure
        }
        return try await write(operation, record: record)
    }

    /// Without the lease nothing is sent: the request is made durable, and the payment's holder finds it.
    private func write(
        _ operation: OperationRunner.Request.Operation, record: IdempotencyRecord
    ) async throws(StoreFailure) -> OperationRunner.Answer {
        for _ in 0..<8 {
            guard let payment = try await store.payment(record.payment) else {
                throw StoreFailure(.other, operation: "operation", cause: "the payment is gone")
            }
            var context = context()
            context.mayBegin = false
            var writer = OperationRunner(machine: PaymentMachine(payment: payment), token: LeaseToken(0))
            let request = OperationRunner.Request(ticket: 0, operation: operation, record: record)
            for output in writer.handle(.request(request), context) {
                if case .answered(_, let answer) = output { return answer }
                guard case .commit(var change) = output else { continue }
                change.lease = .none
                let result = try await store.commit(change)
                guard case .versionConflict = result else {
                    wakeSink.yield()
                    for case .answered(_, let answer) in writer.handle(.committed(result), context) { return answer }
                    break
                }
            }
        }
        throw StoreFailure(.serialization, operation: "operation", cause: "other writers were always first")
    }

    /// Reads every undecided status of a payment now.
    func askNow(_ id: PaymentID) async {
        guard case .acquired = await acquire(id), let token = runners[id]?.lease else { return }
        feed(id, token, .event(.inquireNow))
    }

    /// Follows a payment's durable changes; ``unwatch(_:_:)`` ends it.
    func watch(_ id: PaymentID) -> (number: Int, changes: AsyncStream<Payment>) {
        lastWatcher += 1
        let (stream, sink) = AsyncStream.makeStream(of: Payment.self, bufferingPolicy: .bufferingNewest(4))
        watchers[id, default: [:]][lastWatcher] = sink
        return (lastWatcher, stream)
    }

    /// Ends a watch.
    func unwatch(_ id: PaymentID, _ number: Int) {
        watchers[id]?.removeValue(forKey: number)?.finish()
        if watchers[id]?.isEmpty == true { watchers.removeValue(forKey: id) }
    }
}
