import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// What the engine does with payments whose rows may be lost.
@Suite struct RecoveryEngineTests {
    private let one: OnePayment

    init() throws { one = try OnePayment() }

    private func window(after span: Span = .milliseconds(150)) -> RecoveryWindow {
        RecoveryWindow(readsCountFrom: one.clock.now() + span, latestNotAfter: one.clock.now() + .minutes(2))
    }

    private func settings(_ window: RecoveryWindow?, acknowledged: Bool = true) throws -> EngineSettings {
        var settings = try one.settings(holder: "worker-\(one.clock.now().milliseconds)-\(acknowledged)")
        settings.recovery = window
        settings.commitsAreAcknowledged = acknowledged
        return settings
    }

    private func record(_ operation: IdempotencyRecord.Operation, _ key: String) throws -> IdempotencyRecord {
        IdempotencyRecord(
            caller: one.caller, key: try IdempotencyKey(key), operation: operation,
            payment: one.id, fingerprint: Digest(of: [key]), createdAt: one.clock.now())
    }

    /// A row as a backup has it: created, its first intent written or not, its holder gone.
    @discardableResult
    private func store(
        intent: Bool = true, leased: Bool = false, canceled: Bool = false
    ) async throws -> Payment {
        var context = MachineContext(now: one.clock.now(), contracts: [one.card: .reference])
        context.mayBegin = intent
        var machine = PaymentMachine.create(try one.request(), context).machine
        if canceled {
            _ = try machine.cancel(CancelRequest(key: IdempotencyKey("cancel-0"), at: one.clock.now()), context)
        }
        let change = PaymentChange(
            payment: machine.payment, entries: machine.newEntries,
            lease: .creating(holder: "before", leaseFor: .minutes(1)), record: try record(.create, one.key.text))
        guard case .committed(_, let token?) = try await one.store.commit(change) else { throw Unexpected() }
        if !leased { try await one.store.release(machine.payment.id, token: token) }
        return machine.payment
    }

    private struct Unexpected: Error {}

    private func trail(_ id: PaymentID, _ type: AuditType) async throws -> [AuditEntry] {
        try await one.store.auditTrail(of: id, after: 0, limit: 1_000).filter { $0.type == type }
    }

    /// Runs an engine until the payment is as wanted.
    private func run(
        _ engine: SettlementEngine, until isReached: @escaping @Sendable (Payment) async -> Bool
    ) async throws -> Payment {
        let id = one.id
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            let end = one.clock.now() + .seconds(20)
            var found = try await one.store.payment(id)
            while one.clock.now() < end {
                if let payment = found, await isReached(payment) { break }
                try await one.clock.sleep(until: one.clock.now() + .milliseconds(5))
                found = try await one.store.payment(id)
            }
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
            return try #require(try await one.store.payment(id))
        }
    }

    @Test func `an unfinished payment enters the window right after it is claimed, and ends by what reads prove`()
        async throws
    {
        let before = try await store()
        let provider = RememberingProvider(one.card)
        await provider.capture(under: EffectKey(reported: "lost"), one.amount)
        let window = window()
        let payment = try await run(one.engine(provider, try settings(window))) { $0.state.isFinal }
        // It was taken, as the lost rows would say: the proof latches forward, and nothing is sent.
        #expect(payment.state == .succeeded)
        #expect(await provider.inquiries.allSatisfy { $0 >= window.readsCountFrom })
        #expect(await provider.sent.isEmpty)
        let entries = try await one.store.auditTrail(of: before.id, after: 0, limit: 1_000).map(\.type)
        #expect(entries.prefix(4) == [.created, .intent, .claimed, .recovery])
        #expect(entries.count { $0 == .recovery } == 1)
    }

    @Test(arguments: [true, false])
    func `nothing is asked or sent before reads count, then what is missing is sent`(intent: Bool) async throws {
        try await store(intent: intent)
        let provider = RememberingProvider(one.card)
        let window = window(after: .seconds(1))
        let payment = try await run(one.engine(provider, try settings(window))) { $0.state.isFinal }
        #expect(payment.state == .succeeded)
        #expect(await provider.sent == [.authorize, .capture])
        let (asked, sent) = (try #require(await provider.inquiries.first), try #require(await provider.firstSent))
        #expect(asked >= window.readsCountFrom)
        #expect(sent >= asked)
    }

    @Test func `a new payment begins in the window, and its first question comes before its first request`()
        async throws
    {
        let provider = RememberingProvider(one.card, .authorized)
        let window = window()
        let engine = one.engine(provider, try settings(window))
        let service = OperationService(store: one.store, engine: engine, clock: one.clock)
        let request = try one.request()
        let payment = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            _ = try await service.create(request, fingerprint: Digest(of: ["1"]), wait: .seconds(20))
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
            return try #require(try await one.store.payment(one.id))
        }
        #expect(payment.state == .succeeded)
        // The hold of the lost row is found under the same derived key; only the capture is missing.
        #expect(await provider.sent == [.capture])
        #expect(try await trail(payment.id, .recovery).isEmpty)
        #expect(await provider.inquiries.allSatisfy { $0 >= window.readsCountFrom })
    }

    @Test func `a window that a payment is in already is not opened again, by no holder`() async throws {
        let before = try await store()
        let provider = RememberingProvider(one.card, .unavailable)
        let window = window(after: .milliseconds(20))
        for round in 1...3 {
            let isAsked: @Sendable (Payment) async -> Bool = { _ in await provider.inquiries.count >= round * 2 }
            let payment = try await run(one.engine(provider, try settings(window)), until: isAsked)
            #expect(payment.recovery == window)
        }
        #expect(try await trail(before.id, .recovery).count == 1)
        #expect(await provider.sent.isEmpty)
    }

    @Test func `rows that are lost again move the reads on`() async throws {
        let before = try await store()
        let provider = RememberingProvider(one.card, .unavailable)
        let first = window(after: .milliseconds(20))
        _ = try await run(one.engine(provider, try settings(first))) { _ in await !provider.inquiries.isEmpty }
        let second = window(after: .hours(1))
        let payment = try await run(one.engine(provider, try settings(second))) { $0.recovery == second }
        #expect(payment.recovery == second)
        #expect(try await trail(before.id, .recovery).count == 2)
    }

    @Test func `a cancel that is written while another holds the payment does not latch on untrusted rows`()
        async throws
    {
        try await store(leased: true)
        let provider = RememberingProvider(one.card)
        let engine = one.engine(provider, try settings(window(after: .hours(1))))
        let service = OperationService(store: one.store, engine: engine, clock: one.clock)
        let (caller, id) = (one.caller, one.id)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            let command = OperationCommand(
                caller: caller, payment: id, key: try IdempotencyKey("cancel-1"), fingerprint: Digest(of: ["2"]),
                wait: .zero)
            _ = try await service.cancel(command, reason: nil)
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
        }
        let payment = try #require(try await one.store.payment(id))
        #expect(payment.cancel != nil)
        #expect(payment.recovery != nil)
        #expect(payment.latch == .none)
    }

    @Test(arguments: [true, false])
    func `a latch that survived counts as acknowledged only if commits of this store are`(
        acknowledged: Bool
    ) async throws {
        let before = try await store(canceled: true)
        #expect(before.latch == .back && before.latchAcknowledged)
        // There is a standby, and it has nothing of all this.
        if !acknowledged { await one.store.followed() }
        let provider = RememberingProvider(one.card, .authorized)
        let settings = try settings(window(after: .milliseconds(20)), acknowledged: acknowledged)
        let payment = try await run(one.engine(provider, settings)) { payment in
            acknowledged ? payment.state.isFinal : payment.legs.allSatisfy { $0.gone != nil }
        }
        #expect(payment.latchAcknowledged == acknowledged)
        #expect(payment.state == (acknowledged ? .canceled : .canceling))
        #expect(await provider.sent == [.void])
    }

    @Test func `what waits for the standby is told once the standby has it, whoever holds the payment by then`()
        async throws
    {
        try await store(canceled: true)
        await one.store.followed()
        let provider = RememberingProvider(one.card, .authorized)
        let window = window(after: .milliseconds(20))
        // The first process stops before the standby has anything; another takes the payment up.
        let first = try await run(one.engine(provider, try settings(window, acknowledged: false))) { payment in
            payment.legs.allSatisfy { $0.gone != nil }
        }
        #expect(first.state == .canceling && !first.latchAcknowledged)
        let next = one.engine(provider, try settings(window, acknowledged: false))
        let one = one
        let last = try await run(next) { payment in
            if await next.unconfirmedLatches.count > 0 { await one.store.standbyCatchesUp() }
            return payment.state.isFinal
        }
        #expect(last.state == .canceled && last.latchAcknowledged)
    }

    @Test func `without a window nothing is opened`() throws {
        let context = MachineContext(now: one.clock.now(), contracts: [one.card: .reference])
        let payment = PaymentMachine.create(try one.request(), context).machine.payment
        #expect(try settings(nil).recovery.claim(of: payment) == .claimed)
        #expect(try settings(nil).recovery.opening(for: payment) == nil)
        let window = window()
        #expect(try settings(window).recovery.claim(of: payment) == .claimedAfterLoss(window))
        #expect(try settings(window).recovery.opening(for: payment) == .recoveryOpened(window))
    }
}
