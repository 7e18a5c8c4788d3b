import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// A provider that does at once what it is asked for, and counts it.
actor ObligingProvider: PaymentProvider {
    nonisolated let name: ProviderName
    nonisolated let contract = ProviderContract.reference
    private(set) var sent: [EffectKind] = []

    init(_ name: ProviderName) { self.name = name }

    func send(_ order: SendOrder) -> AttemptReport {
        sent.append(order.kind)
        let status: Observation.Status = order.kind == .capture ? .captured : .authorized
        let captures =
            order.kind == .capture
            ? [Observation.Movement(key: order.key, amount: order.amount, state: .succeeded)] : []
        return AttemptReport(
            .accepted, code: "http_201",
            observation: Observation(
                status, began: MachineClock().now(), source: .answer, key: order.transactionKey,
                amount: order.amount, captures: captures))
    }

    func inquire(_ order: InquiryOrder) -> Observation {
        Observation(.unavailable, began: MachineClock().now(), source: .inquiry)
    }
}

struct NoJitter: JitterSource {
    func next() -> Int { 0 }
}

@Suite struct EngineTests {
    private static let answer = StoredAnswer(status: 201, contentType: "text/plain", location: "/p", body: [1])

    /// An engine with one provider, and what is asked of it.
    private struct Parts {
        let provider: ObligingProvider
        let store: MemoryStore
        let engine: SettlementEngine
        let service: OperationService
        let request: CreateRequest

        init(_ endAnswer: @escaping @Sendable (Payment) -> StoredAnswer? = { _ in nil }) throws {
            let card = try ProviderName("card")
            let clock = MachineClock()
            store = MemoryStore(clock: { clock.now() })
            provider = ObligingProvider(card)
            var settings = EngineSettings(holder: "test")
            settings.endAnswer = endAnswer
            engine = SettlementEngine(
                store: store, providers: [provider], clock: clock, jitter: NoJitter(), settings: settings,
                logger: Logger(label: "test"))
            service = OperationService(store: store, engine: engine, clock: clock)
            let amount = try Money(1_200, #require(Currency(code: "JPY")))
            request = try CreateRequest(
                caller: CallerID("shop"), key: IdempotencyKey("create-1"), amount: amount,
                legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
                contracts: [card: .reference])
        }
    }

    private func settle(
        failing faults: [(StoreFailure.Code, StoreOperation, Bool)], wait: Span = .seconds(20),
        endAnswer: @escaping @Sendable (Payment) -> StoredAnswer? = { _ in nil }
    ) async throws -> (result: OperationResult, sent: [EffectKind], kept: StoredAnswer?) {
        let parts = try Parts(endAnswer)
        let (store, engine, service, request) = (parts.store, parts.engine, parts.service, parts.request)
        let provider = parts.provider
        for (code, operation, afterDoing) in faults {
            await store.failNext(code, on: operation, afterDoing: afterDoing)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            let result = try await service.create(request, fingerprint: Digest(of: ["1"]), wait: wait)
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
            let record = try await store.idempotencyRecord(caller: request.caller, key: request.key)
            return (result, await provider.sent, record?.answer)
        }
    }

    @Test(arguments: [StoreFailure.Code.busy, .serialization])
    func `a store that is busy for a moment delays a payment and changes nothing else`(
        code: StoreFailure.Code
    ) async throws {
        let (result, sent, kept) = try await settle(failing: [(code, .commit, false), (code, .commit, false)])
        #expect(kept == nil)
        guard case .settled(let payment) = result else {
            Issue.record("expected a settled payment")
            return
        }
        #expect(payment.state == .succeeded)
        #expect(sent == [.authorize, .capture])
    }

    @Test func `a creation of which nobody knows whether it was written is found, not made twice`() async throws {
        let (result, sent, _) = try await settle(failing: [(.indeterminate, .commit, true)], wait: .milliseconds(300))
        guard case .unsettled(let payment) = result else {
            Issue.record("expected the payment that was written")
            return
        }
        #expect(payment.legs[0].primary.attempts == 1)
        // Its first intent is in doubt, as after a crash: nothing is sent before the status was read.
        #expect(sent.count { $0 == .authorize } == 0)
    }

    @Test func `the answer to a create is kept in the transaction that ends the payment`() async throws {
        // The store would fail if it were asked to keep it apart.
        let (result, _, kept) = try await settle(failing: [(.full, .storeAnswer, false)]) { payment in
            payment.state == .succeeded ? EngineTests.answer : nil
        }
        guard case .answered(let answer) = result else {
            Issue.record("expected the answer that was kept, and it is \(result)")
            return
        }
        #expect(answer == EngineTests.answer)
        #expect(kept == EngineTests.answer)
    }

    private struct Unsettled: Error {}

    @Test(arguments: [true, false])
    func `what is due is taken up by an engine that sweeps, and by no other`(sweeps: Bool) async throws {
        let card = try ProviderName("card")
        let clock = MachineClock()
        let store = MemoryStore(clock: { clock.now() })
        let provider = ObligingProvider(card)
        var settings = EngineSettings(holder: "test")
        settings.sweeps = sweeps
        let engine = SettlementEngine(
            store: store, providers: [provider], clock: clock, jitter: NoJitter(), settings: settings,
            logger: Logger(label: "test"))
        let service = OperationService(store: store, engine: engine, clock: clock)
        let amount = try Money(1_200, #require(Currency(code: "JPY")))
        func request(_ key: String) throws -> CreateRequest {
            try CreateRequest(
                caller: CallerID("shop"), key: IdempotencyKey(key), amount: amount,
                legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
                contracts: [card: .reference])
        }
        // Left by another process: due, and held by nobody.
        let left = PaymentMachine.create(
            try request("left"), MachineContext(now: clock.now(), contracts: [card: .reference]))
        _ = try await store.commit(
            PaymentChange(
                payment: left.machine.payment, entries: left.machine.newEntries,
                lease: .creating(holder: "other", leaseFor: .minutes(1))))
        try await store.release(left.machine.payment.id, token: LeaseToken(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            // Its own payment takes longer than the first look for what is due.
            let own = try await service.create(try request("own"), fingerprint: Digest(of: ["1"]), wait: .seconds(20))
            guard case .settled = own else { throw Unsettled() }
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
        }
        let stored = try #require(try await store.payment(left.machine.payment.id))
        #expect((stored.version > 1) == sweeps)
    }

    @Test func `a full store refuses a payment whole`() async throws {
        await #expect(throws: OperationFailure.self) {
            _ = try await settle(failing: [(.full, .commit, false)])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `nobody waits for an engine that has ended`() async throws {
        let parts = try Parts()
        let running = Task { await parts.engine.run() }
        running.cancel()
        await running.value
        await #expect(throws: OperationFailure.self) {
            _ = try await parts.service.create(parts.request, fingerprint: Digest(of: ["1"]), wait: .seconds(20))
        }
    }
}
