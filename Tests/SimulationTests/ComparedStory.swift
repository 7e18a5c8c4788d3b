import MemoryStore
import Reconciler
import Testing

@testable import PaymentCore
@testable import Simulation

/// A story of one payment that succeeded, and of runs that compared its provider's side with ours.
struct ComparedStory {
    var story: Story
    let provider: ProviderName
    let yen: Currency
    /// Where the windows begin.
    let start: Timestamp

    init() throws {
        var story = try Story()
        try story.settle()
        self.init(story)
    }

    /// What became of a story, a day later.
    init(_ story: Story) {
        self.story = story
        yen = story.payment.amount.currency
        provider = story.providers[0].name
        start = story.now
        // Long after everything: nothing is in flight.
        self.story.now = story.now + .days(1)
    }

    /// The key of the payment's transaction.
    var key: EffectKey { story.payment.legs[0].primary.key }

    /// A run of so many hours after the first window's beginning.
    func run(_ hour: Int64 = 0, hours: Int64 = 1) throws -> ComparisonRun {
        let from = start + .hours(hour)
        let window = try #require(ComparedWindow(from: from, to: from + .hours(hours)))
        return ComparisonRun(
            provider: provider, window: window, kind: .scheduled, createdAt: story.now, horizon: story.now,
            coveredFrom: start, overlap: .zero, clockMargin: .zero
        ).stored(version: 1)
    }

    func ended(_ run: ComparisonRun, _ proofs: [BalanceProof] = []) -> ComparisonRun {
        var run = run
        (run.state, run.proofs) = (.completed, proofs)
        return run
    }

    mutating func keep(_ run: ComparisonRun) throws { try story.rows.comparisons.apply(.begun(run)) }

    /// Makes a step durable, whoever may.
    mutating func keep(_ step: ComparisonStep) throws {
        try story.rows.comparisons.apply(.step(step, version: step.run.version + 1))
    }

    /// The provider shows that everything was given back, and nobody here did that.
    mutating func refundOutside() {
        let isDone = story.providers[0].changeOutside(.refundAll, key, at: story.now)
        #expect(isDone)
        story.now = story.now + .days(1)
    }

    /// Enters a transaction that nobody here sent.
    mutating func enterStranger(
        _ key: EffectKey, naming payment: PaymentID? = nil, amount: Int64 = 500
    ) throws {
        story.providers[0].enterStranger(
            key, naming: try payment ?? PaymentID(caller: CallerID("shop"), key: IdempotencyKey("lost")), leg: 0,
            amount: try Money(amount, yen), isForeign: false, at: story.now)
        story.now = story.now + .days(1)
    }

    func finding(_ found: ComparisonClass, _ key: EffectKey) -> ComparisonFinding {
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", found) { _ in true }])
        let theirs = ListedPosition(
            key: key, payment: story.payment.id, leg: 0, status: .captured, amount: story.payment.amount,
            captured: story.payment.amount, refunds: [], updatedAt: story.now, contradiction: nil,
            store: SimulatedProvider.ours)
        return ComparisonFinding(
            provider: provider, key: key, table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)), ours: nil,
            named: nil, theirs: theirs)
    }

    /// The same finding, of a key that had a decline before.
    func shared(_ found: ComparisonFinding) throws -> ComparisonFinding {
        let theirs = try #require(found.theirs)
        let before = ListedPosition(
            key: theirs.key, payment: theirs.payment, leg: theirs.leg, status: .declined, amount: theirs.amount,
            captured: nil, refunds: [], updatedAt: theirs.updatedAt, contradiction: nil, store: theirs.store)
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", found.finding) { _ in true }])
        return ComparisonFinding(
            provider: provider, key: theirs.key, table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)),
            ours: nil, named: nil, theirs: theirs.beside(before))
    }

    /// A discrepancy that a run opened.
    func discrepancy(
        _ found: ComparisonClass, _ key: EffectKey, _ state: Discrepancy.State = .open
    ) throws -> Discrepancy {
        var discrepancy = Discrepancy(finding(found, key), rule: .init(.tell), run: try run().id, at: story.now)
        discrepancy.state = state
        return discrepancy
    }

    /// A step that opens discrepancies.
    func opening(_ found: ComparisonClass, _ key: EffectKey, of run: ComparisonRun) throws -> ComparisonStep {
        let discrepancy = try discrepancy(found, key)
        return ComparisonStep(
            run: run, discrepancies: [discrepancy],
            findings: [
                RunFinding(
                    run: run.id, discrepancy: discrepancy.id, at: story.now, evidence: discrepancy.evidence,
                    atRisk: nil, outcome: .opened, action: .tell, closeReason: nil)
            ])
    }

    /// The words of a judge about news of comparisons, each seen with what is stored then.
    func words(_ invariant: any Invariant, _ news: [ComparisonNews], atRest: Bool = false) -> [String] {
        var invariant = invariant
        for piece in news { invariant.judge(.compared(piece), story) }
        if atRest { invariant.atRest(story.evidence) }
        return invariant.words
    }
}
