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
        try await carryOut(
            OperationMachine(
                .create(request), caller: request.caller, key: request.key, fingerprint: fingerprint, wait: wait))
    }

    /// Captures what is held. Too late is a settled refusal.
    public func capture(
        _ command: OperationCommand, amounts: [Int: Money]?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .capture(amounts: amounts))
    }

    /// Cancels what did not go forward. Too late is a settled refusal.
    public func cancel(
        _ command: OperationCommand, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .cancel(reason: reason))
    }

    /// Gives back what was captured. One that the payment cannot have is refused.
    public func refund(
        _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await operate(command, .refund(amounts: amounts, reason: reason))
    }

    /// Reads every undecided status now and waits for what comes of it.
    public func reconcile(
        caller: CallerID, payment id: PaymentID, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        try await carryOut(
            OperationMachine(
                .reconcile(id), caller: caller, key: nil, fingerprint: Digest(of: ["reconcile"]), wait: wait))
    }

    /// Writes a provider's news into the payment's row.
    public func take(
        _ news: EffectNews, from provider: ProviderName, of named: PaymentID?
    ) async throws(OperationFailure) -> Bool {
        let found = try await stored { () throws(StoreFailure) -> Payment? in
            if let named { return try await store.payment(named) }
            guard let id = try await store.payment(at: provider, effect: news.key) else { return nil }
            return try await store.payment(id)
        }
        guard let payment = found, let leg = payment.leg(of: news.key, at: provider) else { return false }
        switch await engine.take(news, leg: leg, of: payment.id) {
        case .failed(let failure): throw .store(failure)
        case .lost, .notAccepting:
            throw .store(StoreFailure(.indeterminate, operation: "notification", cause: "the engine stopped"))
        case .created, .duplicate, .undone, .answered, .told: return true
        }
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

/// Executes the steps of an ``OperationMachine``; it keeps no rule of its own.
extension OperationService {
    private func operate(
        _ command: OperationCommand, _ operation: OperationRunner.Request.Operation
    ) async throws(OperationFailure) -> OperationResult {
        try await carryOut(
            OperationMachine(
                .operate(operation, on: command.payment), caller: command.caller, key: command.key,
                fingerprint: command.fingerprint, wait: command.wait))
    }

    private func carryOut(_ machine: OperationMachine) async throws(OperationFailure) -> OperationResult {
        let watch = await engine.watch(machine.payment)
        let result = await run(machine, watch.changes)
        await engine.unwatch(machine.payment, watch.number)
        return try result.get()
    }

    private func run(
        _ machine: OperationMachine, _ changes: AsyncStream<News>
    ) async -> Result<OperationResult, OperationFailure> {
        var machine = machine
        var step = machine.handle(await engine.beginning(of: machine.payment), at: clock.now())
        while let next = step {
            switch next {
            case .finish(let result): return result
            case .wait: return await follow(machine, next, changes)
            default: step = machine.handle(await execute(next), at: clock.now())
            }
        }
        preconditionFailure("an operation ended without a result")
    }

    /// News of the payment and the end of a pause come in any order: both are inputs of one stream.
    private func follow(
        _ machine: OperationMachine, _ first: OperationMachine.Step, _ changes: AsyncStream<News>
    ) async -> Result<OperationResult, OperationFailure> {
        let (inputs, sink) = AsyncStream.makeStream(of: OperationMachine.Input.self)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await news in changes { sink.yield(.changed(news.payment, kept: news.answer)) }
            }
            defer { group.cancelAll() }
            var machine = machine
            var step: OperationMachine.Step? = first
            var pending = inputs.makeAsyncIterator()
            while true {
                switch step {
                case .finish(let result)?: return result
                case .wait(let moment)?:
                    group.addTask { await wait(until: moment, sink) }
                    step = nil
                case let next?: step = machine.handle(await execute(next), at: clock.now())
                // The stream ends when the caller goes away.
                case nil: step = machine.handle(await pending.next() ?? .gaveUp, at: clock.now())
                }
            }
        }
    }

    private func wait(
        until moment: Timestamp, _ sink: AsyncStream<OperationMachine.Input>.Continuation
    ) async {
        do {
            try await clock.sleep(until: moment)
        } catch {
            return
        }
        sink.yield(.waited)
    }

    private func execute(_ step: OperationMachine.Step) async -> OperationMachine.Input {
        do throws(StoreFailure) {
            switch step {
            case .readPayment(let id): return .payment(try await store.payment(id))
            case .readRecord(let caller, let key):
                return .record(try await store.idempotencyRecord(caller: caller, key: key))
            case .create(let request, let record): return .engine(await engine.create(request, record: record))
            case .submit(let operation, let record):
                return .engine(await engine.submit(operation, record: record))
            case .askNow(let id): return .engine(await engine.askNow(id))
            case .tellRepeated(let payment): return .engine(await engine.tellRepeated(payment))
            case .askWhetherInWork(let id): return .isInWork(await engine.isInWork(id))
            case .wait, .finish: return .waited
            }
        } catch {
            return .failed(error)
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
