import LogCapture
import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// A caller and a comparison that undoes, in either order: only one of them acts on a payment.
@Suite struct UndoneOrphanTests {
    private let one: OnePayment

    init() throws { one = try OnePayment() }

    private func engine(_ provider: RememberingProvider) throws -> SettlementEngine {
        one.engine(provider, try one.settings())
    }

    /// The transaction of the caller's payment, of which the books lost the row.
    private func order(leg: Int = 0) throws -> SettlementOrder {
        let payment = one.id
        let source = EffectKey.Source(
            caller: one.caller, payment: payment, operation: one.key, leg: leg, effect: .authorize)
        let theirs = ListedPosition(
            key: EffectKey(source, format: .hex40), payment: payment, leg: leg, status: .captured, amount: one.amount,
            captured: one.amount, refunds: [], updatedAt: one.clock.now(), contradiction: nil,
            store: StoreID(text: "sto_" + String(repeating: "0", count: 32)))
        let verdict = ComparisonTable.shipped.classify(
            ComparisonFacts(ours: nil, named: nil, theirs: theirs, in: .init(horizon: one.clock.now() + .seconds(1))))
        let finding = ComparisonFinding(
            provider: one.card, key: theirs.key, verdict, ours: nil, named: nil, theirs: theirs)
        let window = try #require(ComparedWindow(from: one.clock.now(), to: one.clock.now() + .seconds(1)))
        return SettlementOrder(
            run: ComparisonRunID(provider: one.card, window: window, kind: .asked, attempt: 0, isDry: false),
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
        let service = OperationService(store: one.store, engine: engine, clock: one.clock)
        do throws(OperationFailure) {
            let request: CreateRequest
            do {
                request = try one.request()
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
        let provider = RememberingProvider(one.card)
        let (engine, order) = (try engine(provider), try order())
        await provider.capture(under: try #require(order.finding.theirs?.key), one.amount)
        let answer = try await whileRunning(engine) {
            for _ in 0..<3 { try await engine.carryOut(order) }
            try await Polling.until("it is undone") {
                try await one.store.payment(one.id)?.state == .failed
            }
            return await create(engine)
        }
        guard case .failure(.undone(let id)) = answer else {
            Issue.record("the caller was told \(answer)")
            return
        }
        #expect(id == one.id)
        #expect(await provider.refunds.map(\.amount) == [one.amount])
        #expect(await provider.sent == [.refund])
    }

    @Test func `an orphan that is ordered to be undone again at any time is given back once`() async throws {
        for step in 0..<3 {
            let one = try OnePayment()
            let provider = RememberingProvider(one.card)
            let (engine, order) = (one.engine(provider, try one.settings()), try order())
            await provider.capture(under: try #require(order.finding.theirs?.key), one.amount)
            try await whileRunning(engine) {
                for number in 0..<3 {
                    try await engine.carryOut(order)
                    try await Polling.until("it got so far") {
                        let isSent = await !provider.sent.isEmpty
                        let isUndone = try await one.store.payment(one.id)?.state == .failed
                        return number == 2 ? isUndone : [true, isSent, isUndone][step]
                    }
                }
            }
            #expect(
                await provider.refunds.map(\.amount) == [one.amount],
                "again \(["at once", "while it is sent", "after its end"][step])")
            #expect(await provider.sent == [.refund])
            let trail = try await one.store.auditTrail(of: one.id, after: 0, limit: 100)
            #expect(trail.allSatisfy { $0.type != .claimed }, "nobody lets go of it while its request is on its way")
            let before = trail.prefix { $0.type != .intent }
            #expect(before.count { $0.type == .inquiry } == 1, "it is asked about once before anything is sent")
        }
    }

    @Test func `nothing is undone of a payment whose caller came first`() async throws {
        let provider = RememberingProvider(one.card)
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
        #expect(try await one.store.payment(payment.id)?.state == .succeeded)
        #expect(await provider.sent == [.authorize, .capture])
    }

    @Test(arguments: [
        [(StoreFailure.Code.busy, false), (.serialization, false)], [(.indeterminate, false)],
        [(.busy, false), (.indeterminate, true)],
    ])
    func `an undoing is made once though its store is busy, or does not say whether it was written`(
        faults: [(StoreFailure.Code, Bool)]
    ) async throws {
        let provider = RememberingProvider(one.card)
        // Under the lease of a commit that nobody knows of, it is taken up once that has run out.
        var settings = try one.settings()
        settings.sweep.lease = .milliseconds(300)
        let (engine, order) = (one.engine(provider, settings), try order())
        await provider.capture(under: try #require(order.finding.theirs?.key), one.amount)
        for (code, afterDoing) in faults { await one.store.failNext(code, on: .commit, afterDoing: afterDoing) }
        try await whileRunning(engine) {
            try await engine.carryOut(order)
            try await Polling.until("it is undone") { try await one.store.payment(one.id)?.state == .failed }
        }
        #expect(await one.store.unusedFaults == 0)
        #expect(await provider.refunds.map(\.amount) == [one.amount])
        #expect(try await one.store.auditTrail(of: one.id, after: 0, limit: 100).count { $0.type == .created } == 1)
    }

    @Test func `a person is told of a charge that the payment whose caller came first does not have`() async throws {
        let provider = RememberingProvider(one.card)
        let lines = LogLines()
        let engine = one.engine(
            provider, try one.settings(), logger: Logger(label: "test") { _ in lines.handler })
        // The payment that was lost had a second leg; the caller repeats another request.
        let order = try order(leg: 1)
        try await whileRunning(engine) {
            _ = await create(engine)
            try await engine.carryOut(order)
            try await Polling.until("a person is told") { lines.all.contains { $0.contains("needs attention") } }
        }
        #expect(try await one.store.payment(one.id)?.state == .succeeded)
        #expect(await provider.sent == [.authorize, .capture])
    }

    @Test(arguments: [true, false])
    func `what was undone beside its payment is undone there again, and told to people once that is pruned`(
        isPruned: Bool
    ) async throws {
        let (provider, lines) = (RememberingProvider(one.card), LogLines())
        let engine = one.engine(
            provider, try one.settings(), logger: Logger(label: "test") { _ in lines.handler })
        let order = try order()
        await provider.capture(under: try #require(order.finding.theirs?.key), one.amount)
        let undoing = try await undone(order, isPruned: isPruned)
        try await whileRunning(engine) {
            try await engine.carryOut(order)
            try await Polling.until("it is undone, or a person is told") {
                if isPruned { return lines.all.contains { $0.contains("its own row is pruned") } }
                return try await one.store.payment(undoing)?.state == .failed
            }
        }
        #expect(try await one.store.payment(one.id) == nil)
        #expect(await provider.sent == (isPruned ? [] : [.refund]))
    }

    private struct Unexpected: Error {}

    /// Makes a payment that undoes an order's transaction as the duplicate of a payment, by another holder.
    private func undone(_ order: SettlementOrder, isPruned: Bool) async throws -> PaymentID {
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", .duplicate) { _ in true }])
        let finding = ComparisonFinding(
            provider: one.card, key: try #require(order.finding.theirs?.key),
            table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)), ours: nil, named: nil,
            theirs: order.finding.theirs)
        let transaction = try #require(UnbookedTransaction(finding, run: order.run))
        let made = PaymentMachine.undoing(
            transaction, MachineContext(now: one.clock.now(), contracts: [one.card: .reference])
        ).machine
        let record = IdempotencyRecord(
            caller: made.payment.caller, key: made.payment.key, operation: .create, payment: made.payment.id,
            fingerprint: Digest(of: ["undo"]), createdAt: one.clock.now(), isPruned: isPruned)
        // A row that is pruned is not there for a sweep to take up; here it is, and its lease keeps it from that.
        let lease = isPruned ? Span.hours(1) : .milliseconds(50)
        let change = PaymentChange(
            payment: made.payment, entries: made.newEntries,
            lease: .creating(holder: "before", leaseFor: lease), record: record)
        guard case .committed = try await one.store.commit(change) else { throw Unexpected() }
        return made.payment.id
    }
}
