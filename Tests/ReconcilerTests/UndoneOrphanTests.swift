import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// A caller and a comparison that undoes, in either order: only one of them acts on a payment.
@Suite struct UndoneOrphanTests {
    private let card: ProviderName
    private let caller: CallerID
    private let key: IdempotencyKey
    private let amount: Money
    private let clock = MachineClock()
    private let store: MemoryStore

    init() throws {
        card = try ProviderName("card")
        caller = try CallerID("shop")
        key = try IdempotencyKey("create-1")
        amount = try Money(1_200, #require(Currency(code: "JPY")))
        let clock = clock
        store = MemoryStore(clock: { clock.now() })
    }

    private func engine(_ provider: RememberingProvider) throws -> SettlementEngine {
        var settings = EngineSettings(holder: "worker")
        settings.policy.inquirySchedule = try DelaySchedule([.milliseconds(20)])
        settings.sweep.longestPause = .milliseconds(50)
        return SettlementEngine(
            store: store, providers: [provider], clock: clock, jitter: NoJitter(), settings: settings,
            logger: Logger(label: "test"))
    }

    private func request() throws -> CreateRequest {
        try CreateRequest(
            caller: caller, key: key, amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            captureMode: .automatic, contracts: [card: .reference])
    }

    /// The transaction of the caller's payment, of which the books lost the row.
    private func order() throws -> SettlementOrder {
        let payment = PaymentID(caller: caller, key: key)
        let source = EffectKey.Source(caller: caller, payment: payment, operation: key, leg: 0, effect: .authorize)
        let theirs = ListedPosition(
            key: EffectKey(source, format: .hex40), payment: payment, leg: 0, status: .captured, amount: amount,
            captured: amount, refunds: [], updatedAt: clock.now(), contradiction: nil)
        let verdict = ComparisonTable.shipped.classify(
            ComparisonFacts(ours: nil, named: nil, theirs: theirs, in: .init(horizon: clock.now() + .seconds(1))))
        let finding = ComparisonFinding(
            provider: card, key: theirs.key, verdict, ours: nil, named: nil, theirs: theirs)
        let window = try #require(ComparedWindow(from: clock.now(), to: clock.now() + .seconds(1)))
        return SettlementOrder(
            run: ComparisonRunID(provider: card, window: window, kind: .asked, attempt: 0, isDry: false),
            discrepancy: finding.id, action: .undo, finding: finding)
    }

    private func whileRunning<Value: Sendable>(
        _ engine: SettlementEngine, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            let value = try await body()
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
            return value
        }
    }

    private func create(_ engine: SettlementEngine) async -> Result<OperationResult, OperationFailure> {
        let service = OperationService(store: store, engine: engine, clock: clock)
        do throws(OperationFailure) {
            let request: CreateRequest
            do {
                request = try self.request()
            } catch {
                return .failure(.notFound)
            }
            return .success(
                try await service.create(request, fingerprint: Digest(of: ["create"]), wait: .seconds(5)))
        } catch {
            return .failure(error)
        }
    }

    @Test func `an orphan is given back once, and its caller who comes later is told so`() async throws {
        let provider = RememberingProvider(card)
        let (engine, order) = (try engine(provider), try order())
        await provider.capture(under: order.finding.theirs?.key ?? EffectKey(reported: ""), amount)
        let answer = try await whileRunning(engine) {
            for _ in 0..<3 { try await engine.carryOut(order) }
            try await Polling.until("it is undone") {
                try await store.payment(PaymentID(caller: caller, key: key))?.state == .failed
            }
            return await create(engine)
        }
        guard case .failure(.undone(let id)) = answer else {
            Issue.record("the caller was told \(answer)")
            return
        }
        #expect(id == PaymentID(caller: caller, key: key))
        #expect(await provider.sent == [.refund])
    }

    @Test func `nothing is undone of a payment whose caller came first`() async throws {
        let provider = RememberingProvider(card)
        let (engine, order) = (try engine(provider), try order())
        let answer = try await whileRunning(engine) {
            let answer = await create(engine)
            for _ in 0..<3 { try await engine.carryOut(order) }
            return answer
        }
        guard case .success(.settled(let payment)) = answer else {
            Issue.record("the caller was told \(answer)")
            return
        }
        #expect(payment.state == .succeeded)
        #expect(try await store.payment(payment.id)?.state == .succeeded)
        #expect(await provider.sent == [.authorize, .capture])
    }
}
