import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// A place outside that gives the right to act; it takes its time to say so.
actor SlowWitness: SiteWitness {
    private(set) var askedAt: SteadyMoment?
    private let gate: SiteGate
    private let takes: Span
    var isOurs = true

    init(_ gate: SiteGate, takes: Span) {
        self.gate = gate
        self.takes = takes
    }

    func refuse() { isOurs = false }

    func found(skew: Span) async throws(StoreFailure) -> WitnessContent { try await look(skew: skew) }

    func look(skew: Span) async throws(StoreFailure) -> WitnessContent {
        throw StoreFailure(.unavailable, operation: "look", cause: "not asked for here")
    }

    func renew(_ claim: WitnessClaim) async throws(StoreFailure) -> Bool {
        let now = gate.moment
        askedAt = now
        while gate.moment - now < takes { await Task.yield() }
        return isOurs
    }

    func take(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool { isOurs }

    func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure) {}
}

/// When a process may act for its site: the gate, and who keeps it.
@Suite struct SiteKeeperTests {
    private let one: OnePayment

    init() throws { one = try OnePayment() }

    private static let lease = Span.seconds(20)

    private func machine(_ proof: SiteProofKind) -> SiteMachine.Settings {
        SiteMachine.Settings(site: .main, proof: proof, lease: Self.lease)
    }

    private func keeper(
        _ gate: SiteGate, _ proof: SiteProofKind, _ witness: (any SiteWitness)?, _ engine: SettlementEngine
    ) -> SiteKeeper {
        SiteKeeper(
            store: one.store, witness: witness, engine: engine, gate: gate,
            settings: SiteKeeper.Settings(
                machine: SiteKeeperMachine.Settings(
                    machine: machine(proof), recovery: nil, contracts: [:]),
                skew: .milliseconds(100)),
            clock: one.clock, logger: Logger(label: "test"))
    }

    private func engine(_ gate: SiteGate, _ provider: any PaymentProvider) throws -> SettlementEngine {
        var settings = try one.settings()
        settings.gate = gate
        return one.engine(provider, settings)
    }

    @Test func `a lease counts from before the question, however long the answer takes`() async throws {
        let gate = SiteGate(machine(.postgres))
        let witness = SlowWitness(gate, takes: .milliseconds(300))
        await keeper(gate, .postgres, witness, try engine(gate, RememberingProvider(one.card))).begin()
        let asked = try #require(await witness.askedAt)
        let until = try #require(gate.standing.until)
        let margin = machine(.postgres).margin
        #expect(until <= asked + (Self.lease - margin), "it would outlive what the witness counts")
        #expect(gate.standing.maySettle)
    }

    @Test func `a gate is closed until the store was read and the right was given`() async throws {
        let gate = SiteGate(machine(.postgres))
        #expect(gate.standing.refusal == .notKnownYet)
        #expect(gate.settlesFor == nil)
        let witness = SlowWitness(gate, takes: .zero)
        await witness.refuse()
        await keeper(gate, .postgres, witness, try engine(gate, RememberingProvider(one.card))).begin()
        #expect(!gate.standing.maySettle)
        #expect(gate.settlesFor == nil)
    }

    @Test func `losing the role works at once, getting it only once it was told`() async throws {
        let gate = SiteGate(machine(.none))
        let reading = try await one.store.siteReading()
        gate.take(.read(reading.row, isWritable: true, began: gate.moment))
        #expect(!gate.standing.isActive, "the store does not write under the term yet, nor knows the engine of it")
        await keeper(gate, .none, nil, try engine(gate, RememberingProvider(one.card))).begin()
        #expect(gate.standing.maySettle)
        #expect(gate.settlesFor == Span(milliseconds: .max))
        gate.take(.refused(epoch: reading.row.epoch))
        #expect(!gate.standing.maySettle)
        #expect(gate.settlesFor == nil)
    }

    @Test func `nothing is sent, asked or taken through a closed gate`() async throws {
        let gate = SiteGate(machine(.none))
        let provider = RememberingProvider(one.card)
        let engine = try engine(gate, provider)
        let service = OperationService(store: one.store, engine: engine, clock: one.clock)
        let keeper = keeper(gate, .none, nil, engine)
        let request = try one.request()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run() }
            await #expect(throws: OperationFailure.self) {
                _ = try await service.create(request, fingerprint: Digest(of: ["1"]), wait: .seconds(1))
            }
            #expect(await provider.sent.isEmpty)
            await keeper.begin()
            let made = try await service.create(request, fingerprint: Digest(of: ["1"]), wait: .seconds(20))
            guard case .settled = made else {
                Issue.record("expected a settled payment, and it is \(made)")
                return
            }
            await engine.drain(for: .seconds(5))
            try await group.waitForAll()
        }
        #expect(await provider.sent == [.authorize, .capture])
    }
}

/// What a loss leaves behind is judged by all of it.
@Suite struct LossWatchTests {
    private let one: OnePayment

    init() throws { one = try OnePayment() }

    private func watch() -> LossWatch {
        LossWatch(
            store: one.store, sites: one.store, gate: SiteGate.alwaysOpen(), contracts: [one.card: .reference],
            settings: ComparisonSettings(), callersRepeatFor: nil, clock: one.clock, logger: Logger(label: "test"))
    }

    private func discrepancy(
        _ number: Int, _ run: ComparisonRun, _ action: ComparisonAction
    ) throws -> Discrepancy {
        let key = EffectKey(reported: "orphan-\(number)")
        let theirs = ListedPosition(
            key: key, payment: nil, leg: nil, status: .captured, amount: one.amount, captured: one.amount, refunds: [],
            updatedAt: run.createdAt, contradiction: nil)
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", .orphan) { _ in true }])
        let finding = ComparisonFinding(
            provider: one.card, key: key, table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)), ours: nil,
            named: nil, theirs: theirs)
        return Discrepancy(
            finding, rule: .init(action), run: run.id, at: run.createdAt + .seconds(Int64(number)))
    }

    @Test(arguments: [0, 1])
    func `what is left to the policy is found behind any number of others`(unsettled: Int) async throws {
        let now = one.clock.now()
        let window = try #require(ComparedWindow(from: now, to: now + .hours(1)))
        let run = ComparisonRun(
            provider: one.card, window: window, kind: .scheduled, attempt: 0, isDry: false, createdAt: now,
            horizon: window.to, coveredFrom: now, overlap: .minutes(1), clockMargin: .seconds(5))
        _ = try await one.store.begin(run)
        let claimed = try #require(
            try await one.store.claimRun(run.id, holder: "worker", leaseFor: .minutes(1)))
        var step = ComparisonStep(run: claimed.run)
        // Listings begin with the newest or the oldest; what counts is in the middle of neither page.
        step.discrepancies = try (0..<450).map { number in
            try discrepancy(number, claimed.run, unsettled == 1 && number == 225 ? .undo : .tell)
        }
        _ = try await one.store.record(step, token: claimed.token)
        #expect(try await watch().settlement(at: one.card) == (unsettled == 1 ? .leftToPolicy : .done))
    }

    @Test func `every run since a loss is read, and none from before it`() async throws {
        let start = one.clock.now()
        for number in 0..<430 as Range<Int64> {
            let from = start + .hours(number)
            let window = try #require(ComparedWindow(from: from, to: from + .hours(1)))
            let run = ComparisonRun(
                provider: one.card, window: window, kind: number % 2 == 0 ? .scheduled : .asked, attempt: 0,
                isDry: false, createdAt: from, horizon: window.to, coveredFrom: from, overlap: .minutes(1),
                clockMargin: .seconds(5))
            _ = try await one.store.begin(run)
            _ = try await one.store.abandonRun(run.id)
        }
        let watch = watch()
        let since = try await watch.runs(at: one.card, start + .hours(5), onlyAsked: false)
        #expect(since.count == 425 && since.allSatisfy { $0.createdAt >= start + .hours(5) })
        let asked = try await watch.runs(at: one.card, start + .hours(5), onlyAsked: true)
        #expect(asked.count == 213 && asked.allSatisfy { $0.kind == .asked })
        #expect(try await watch.runs(at: try ProviderName("another"), start, onlyAsked: false).isEmpty)
    }
}
