import MemoryStore
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore

/// A store with runs and discrepancies in it, and a desk over it.
struct OperationsBook: Sendable {
    let clock: ManualClock
    let store: MemoryStore
    let cards: ProviderName

    init() throws {
        let clock = ManualClock()
        self.clock = clock
        store = MemoryStore { clock.now() }
        cards = try ProviderName("cards")
    }

    /// By what payments are decided.
    func context(at now: Timestamp) -> MachineContext { MachineContext(now: now, contracts: [cards: .reference]) }

    /// A payment that waits for people: its provider spoke of another amount.
    func quarantined(_ key: String) async throws -> Payment {
        let work = try await Scenario(store: store, clock: clock).create(.init(key))
        var machine = work.machine
        let leg = machine.payment.legs[0]
        let twice = try leg.amount.adding(leg.amount)
        let other = Observation(
            .authorized, began: clock.now(), source: .answer, key: leg.primary.key, amount: twice)
        let report = AttemptReport(.accepted, code: "ok", observation: other)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, report), context(at: clock.now()))
        let change = PaymentChange(payment: machine.payment, entries: machine.newEntries, lease: .releasing(work.token))
        guard case .committed = try await store.commit(change) else {
            throw RunningOperations.Failure(description: "the payment was not stored")
        }
        return try #require(try await store.payment(machine.payment.id))
    }

    /// A desk that knows two providers, of which one lists nothing.
    func desk(isEnabled: Bool = true) throws -> ComparisonDesk {
        var silent = ProviderContract.reference
        silent.listing = false
        return ComparisonDesk(
            store: store, contracts: [cards: .reference, try ProviderName("points"): silent],
            settings: ComparisonSettings(), isEnabled: isEnabled, people: ["hana", "ken"])
    }

    /// A day that can be judged.
    func day(_ number: Int64 = 0) throws -> ComparedWindow {
        let from = ManualClock.start + .days(number - 10)
        return try #require(ComparedWindow(from: from, to: from + .days(1)))
    }

    /// The body that asks for a window.
    func wish(_ window: ComparedWindow, provider: String = "cards", more: String = "") -> String {
        #"{"provider":"\#(provider)","from":"\#(window.from.rfc3339)","to":"\#(window.to.rfc3339)"\#(more)}"#
    }

    /// Takes a run up as a daemon does.
    func claim(_ id: ComparisonRunID) async throws -> ClaimedRun {
        try #require(try await store.claimRun(id, holder: "worker", leaseFor: .minutes(1)))
    }

    /// Records a step of a run that was taken up.
    func record(
        _ claimed: ClaimedRun, _ run: ComparisonRun, _ found: [ComparisonFinding] = [],
        outcome: RunFinding.Outcome = .opened
    ) async throws -> ComparisonRun {
        let discrepancies = found.map {
            Discrepancy($0, rule: .init(.tell), run: run.id, at: clock.now())
        }
        let step = ComparisonStep(
            run: run, discrepancies: run.isDry ? [] : discrepancies,
            findings: discrepancies.map { discrepancy in
                RunFinding(
                    run: run.id, discrepancy: discrepancy.id, at: clock.now(), evidence: discrepancy.evidence,
                    atRisk: discrepancy.atRisk, outcome: outcome, action: discrepancy.suggestion, closeReason: nil)
            })
        guard case .recorded(let version) = try await store.record(step, token: claimed.token) else {
            throw RunningOperations.Failure(description: "the step was not recorded")
        }
        return run.stored(version: version)
    }

    /// A finished run that found these, with a balance that they explain.
    @discardableResult
    func completed(_ run: ComparisonRun, _ found: [ComparisonFinding] = []) async throws -> ComparisonRun {
        _ = try await store.begin(run)
        let claimed = try await claim(run.id)
        var run = claimed.run
        (run.state, run.startedAt, run.checkpoint) = (.running, clock.now(), .init(.listing))
        run.counts.listed = found.count
        for finding in found { run.counts[finding.finding] += 1 }
        run = try await record(claimed, run, found)
        (run.state, run.finishedAt, run.checkpoint) = (.completed, clock.now(), .init(.done))
        let yen = try #require(Currency(code: "JPY"))
        let net = found.reduce(Int64(0)) { $0 + ($1.theirs?.net?.value ?? 0) }
        if !run.isDry {
            let sides = NetSums.Sides(ours: 0, theirs: net)
            run.proofs = [
                BalanceProof(
                    currency: yen, opening: NetSums.Sides(), moved: sides, closing: sides,
                    explained: ExplainedDifference(discrepancies: -net))
            ]
        }
        return try await record(claimed, run)
    }

    func run(
        _ window: ComparedWindow, kind: ComparisonRun.Kind = .scheduled, isDry: Bool = false
    ) -> ComparisonRun {
        ComparisonRun(
            provider: cards, window: window, kind: kind, isDry: isDry, createdAt: clock.now(), horizon: window.to,
            coveredFrom: window.from, overlap: .minutes(1), clockMargin: .seconds(5))
    }

    /// A transaction that only the provider has.
    func finding(
        _ key: String, _ found: ComparisonClass = .foreign, amount: Int64 = 1_200, payment: PaymentID? = nil,
        ours: BookedPosition? = nil
    ) throws -> ComparisonFinding {
        let money = try Money(amount, try #require(Currency(code: "JPY")))
        let theirs = ListedPosition(
            key: EffectKey(reported: key), payment: payment, leg: payment.map { _ in 0 }, status: .captured,
            amount: money, captured: money,
            refunds: [
                RefundPosition(key: EffectKey(reported: "refund-of-\(key)"), amount: try Money(200, money.currency))
            ],
            updatedAt: ManualClock.start, contradiction: nil)
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", found) { _ in true }])
        return ComparisonFinding(
            provider: cards, key: theirs.key, table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)),
            ours: ours, named: nil, theirs: theirs)
    }

    /// Discrepancies about these keys, opened one minute after the other.
    func keep(_ found: [ComparisonFinding]) async throws -> [Discrepancy] {
        var kept: [DiscrepancyID] = []
        for (index, finding) in found.enumerated() {
            try await completed(run(try day(Int64(index) - 100)), [finding])
            kept.append(finding.id)
            clock.advance(by: .minutes(1))
        }
        return try await store.discrepancies(kept)
    }
}
