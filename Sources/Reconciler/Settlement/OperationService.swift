public import PaymentCore

/// The use cases of callers, over the store and the engine.
public struct OperationService: PaymentOperations {
    private typealias News = SettlementEngine.PaymentNews

    private let store: any PaymentStore
    private let engine: SettlementEngine
    private let clock: any WallClock

    /// The use cases over one engine.
    public init(store: any PaymentStore, engine: SettlementEngine, clock: any WallClock) {
        self.store = store
        self.engine = engine
        self.clock = clock
    }

    /// Creates a payment, or joins or replays the one that the key stands for.
    public func create(
        _ request: CreateRequest, fingerprint: Digest, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        let id = PaymentID(caller: request.caller, key: request.key)
        let record = IdempotencyRecord(
            caller: request.caller, key: request.key, operation: .create, payment: id, fingerprint: fingerprint,
            createdAt: clock.now())
        // A new key is the rule, and the store finds out about the others: looking first would be one more wait.
        if await engine.isKnownOrRefused(id), let known = try await self.record(request.caller, request.key) {
            return try await join(known, fingerprint, wait)
        }
        return try await watching(id) { changes throws(OperationFailure) in
            switch try await stored({ () throws(StoreFailure) in
                try await engine.create(request, record: record)
            }) {
            case .notAccepting(let reason):
                throw .notAccepting(reason: reason, retryAfter: 1)
            case .undone: throw .undone(id)
            case .duplicate(let known):
                return try await join(known, fingerprint, wait)
            case .created(let payment):
                return await settle(payment, record, wait, changes)
            }
        }
    }

    /// Captures what is held. Too late is a settled refusal.
    public func capture(
        _ command: OperationCommand, amounts: [Int: Money]?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .capture, .capture(amounts: amounts))
    }

    /// Cancels what did not go forward. Too late is a settled refusal.
    public func cancel(
        _ command: OperationCommand, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .cancel, .cancel(reason: reason))
    }

    /// Gives back what was captured; the amounts are reserved with the same change.
    public func refund(
        _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .refund, .refund(amounts: amounts, reason: reason))
    }

    /// Reads every undecided status now and waits for what comes of it.
    public func reconcile(
        caller: CallerID, payment id: PaymentID, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        let payment = try await self.payment(caller: caller, id)
        guard !isSettled(payment, .create, nil) || payment.refunds.contains(where: { !$0.state.isFinal }) else {
            return .settled(payment)
        }
        let finished = try await watching(id) { changes throws(OperationFailure) in
            try await stored { () throws(StoreFailure) in try await engine.askNow(id) }
            return await follow(payment, wait, changes) { changed in
                isSettled(changed, .create, nil) && changed.refunds.allSatisfy { $0.state.isFinal }
            }
        }
        return finished.isDone ? .settled(finished.payment) : .unsettled(finished.payment)
    }

    /// Reads one payment; another caller's is not found.
    public func payment(caller: CallerID, _ id: PaymentID) async throws(OperationFailure) -> Payment {
        let found = try await stored { () throws(StoreFailure) in try await store.payment(id) }
        guard let found, found.caller == caller else { throw .notFound }
        return found
    }

    /// Lists payments, newest first.
    public func payments(_ query: PaymentQuery) async throws(OperationFailure) -> Page<Payment> {
        try await stored { () throws(StoreFailure) in try await store.payments(query) }
    }

    /// Reads the audit trail, oldest first.
    public func events(
        caller: CallerID, payment id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(OperationFailure) -> [AuditEntry] {
        _ = try await payment(caller: caller, id)
        return try await stored { () throws(StoreFailure) in
            try await store.auditTrail(of: id, after: sequence, limit: limit)
        }
    }

    /// Keeps the first settled answer under a key.
    public func keep(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(OperationFailure) -> StoredAnswer {
        try await stored { () throws(StoreFailure) in
            try await store.storeAnswer(answer, caller: caller, key: key)
        }
    }
}

extension OperationService {
    private func operate(
        _ command: OperationCommand, _ operation: IdempotencyRecord.Operation,
        _ request: OperationRunner.Request.Operation
    ) async throws(OperationFailure) -> OperationResult {
        _ = try await payment(caller: command.caller, command.payment)
        if let known = try await record(command.caller, command.key) {
            return try await join(known, command.fingerprint, command.wait)
        }
        let record = IdempotencyRecord(
            caller: command.caller, key: command.key, operation: operation, payment: command.payment,
            fingerprint: command.fingerprint, createdAt: clock.now())
        return try await watching(command.payment) { changes throws(OperationFailure) in
            switch try await stored({ () throws(StoreFailure) in
                try await engine.submit(request, record: record)
            }) {
            case .refused(let refusal):
                // The same key may have been taken a moment before, and be the very reason of the refusal.
                if let known = try await self.record(command.caller, command.key) {
                    return try await join(known, command.fingerprint, command.wait)
                }
                throw .refused(refusal, command.payment)
            case .duplicate(let known): return try await join(known, command.fingerprint, command.wait)
            case .taken(let payment): return await settle(payment, record, command.wait, changes)
            }
        }
    }

    /// The key is known: replay its answer, or join what is under way.
    private func join(
        _ record: IdempotencyRecord, _ fingerprint: Digest, _ wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        guard record.fingerprint == fingerprint else { throw .keyReused }
        if let answer = record.answer { return .replay(answer) }
        if record.isPruned { throw .keySpent }
        return try await watching(record.payment) { changes throws(OperationFailure) in
            let found = try await stored { () throws(StoreFailure) in try await store.payment(record.payment) }
            guard let payment = found else { throw .keySpent }
            if cameTooLate(record, payment) { throw .refused(.tooLate(state: payment.state), payment.id) }
            if isSettled(payment, record.operation, record.key) { return .settled(payment) }
            guard wait > .zero else { return .inFlight(payment) }
            return await settle(payment, record, wait, changes)
        }
    }

    /// A cancel after the payment went forward, or a capture after another one.
    private func cameTooLate(_ record: IdempotencyRecord, _ payment: Payment) -> Bool {
        switch record.operation {
        case .create, .refund: false
        case .cancel: payment.latch == .forward || payment.latch == .compensate
        case .capture: payment.capture?.key != record.key
        }
    }

    private func settle(
        _ payment: Payment, _ record: IdempotencyRecord, _ wait: Span, _ changes: AsyncStream<News>
    ) async -> OperationResult {
        let result = await follow(payment, wait, changes) { changed in
            isSettled(changed, record.operation, record.key)
        }
        guard result.isDone else { return .unsettled(result.payment) }
        if record.operation == .create, let answer = result.answer { return .answered(answer) }
        return .settled(result.payment)
    }

    /// Whether what was asked under a key came to its end.
    private func isSettled(
        _ payment: Payment, _ operation: IdempotencyRecord.Operation, _ key: IdempotencyKey?
    ) -> Bool {
        switch operation {
        case .create: payment.state.isFinal || payment.state == .authorized
        case .capture, .cancel: payment.state.isFinal
        case .refund: payment.refunds.first { $0.key == key }?.state.isFinal ?? false
        }
    }

    /// Follows a payment until it is done or the wait is over.
    private func follow(
        _ payment: Payment, _ wait: Span, _ changes: AsyncStream<News>,
        until isDone: @Sendable @escaping (Payment) -> Bool
    ) async -> (payment: Payment, isDone: Bool, answer: StoredAnswer?) {
        if isDone(payment) { return (payment, true, nil) }
        guard wait > .zero else { return (payment, false, nil) }
        let deadline = clock.now() + wait
        let seen = await withTaskGroup(of: News?.self) { group in
            group.addTask {
                for await news in changes where isDone(news.payment) { return news }
                return nil
            }
            group.addTask { await lookNowAndThen(at: payment.id, before: deadline, until: isDone) }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let seen { return (seen.payment, true, seen.answer) }
        guard let latest = await readable(payment.id) else { return (payment, false, nil) }
        return (latest, isDone(latest), nil)
    }

    /// Another process may have the payment, and its changes are not heard of here: while that is so, the payment is
    /// read again and again, at longer and longer intervals.
    private func lookNowAndThen(
        at id: PaymentID, before deadline: Timestamp, until isDone: (Payment) -> Bool
    ) async -> News? {
        var pause = OperationService.shortestLook
        while clock.now() < deadline {
            do {
                try await clock.sleep(until: min(deadline, clock.now() + pause))
            } catch {
                return nil  // Cancelled, because the change was heard of.
            }
            guard clock.now() < deadline else { return nil }
            if await engine.isInWork(id) {
                pause = OperationService.longestLook
                continue
            }
            if let found = await readable(id), isDone(found) { return News(payment: found, answer: nil) }
            pause = min(pause + pause, OperationService.longestLook)
        }
        return nil
    }

    private static let shortestLook = Span.milliseconds(100)
    private static let longestLook = Span.milliseconds(800)

    private func readable(_ id: PaymentID) async -> Payment? {
        do {
            return try await store.payment(id)
        } catch {
            return nil  // The caller is told what was known before, and asks again.
        }
    }

    private func watching<Result: Sendable>(
        _ id: PaymentID,
        _ body: (AsyncStream<News>) async throws(OperationFailure) -> Result
    ) async throws(OperationFailure) -> Result {
        let watch = await engine.watch(id)
        do {
            let result = try await body(watch.changes)
            await engine.unwatch(id, watch.number)
            return result
        } catch {
            await engine.unwatch(id, watch.number)
            throw error
        }
    }

    private func record(
        _ caller: CallerID, _ key: IdempotencyKey
    ) async throws(OperationFailure) -> IdempotencyRecord? {
        try await stored { () throws(StoreFailure) in
            try await store.idempotencyRecord(caller: caller, key: key)
        }
    }

    private func stored<Result: Sendable>(
        _ body: () async throws(StoreFailure) -> Result
    ) async throws(OperationFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }
}
