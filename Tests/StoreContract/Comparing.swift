public import PaymentCore
public import Reconciler

/// A store under test with comparisons, and payments that go through the real machine.
public struct Comparing: Sendable {
    /// The store.
    public let store: any PaymentStore & ComparisonStore
    /// Its clock.
    public let clock: ManualClock

    /// A store by a clock.
    public init(store: any PaymentStore & ComparisonStore, clock: ManualClock) {
        self.store = store
        self.clock = clock
    }

    /// Payments in the same store.
    public var payments: Scenario { Scenario(store: store, clock: clock) }

    /// The provider of most cases.
    static func cards() throws -> ProviderName { try ProviderName("cards") }
    static func yen() throws -> Currency { try require(Currency(code: "JPY"), "a currency") }
    static func euro() throws -> Currency { try require(Currency(code: "EUR"), "a currency") }

    /// A run over an hour that begins so many hours after the clock's.
    public static func run(
        at provider: String = "cards", hour: Int64 = 0, kind: ComparisonRun.Kind = .scheduled, attempt: Int = 0,
        isDry: Bool = false, createdAt: Timestamp = ManualClock.start
    ) throws -> ComparisonRun {
        let from = ManualClock.start + .hours(hour)
        let window = try require(ComparedWindow(from: from, to: from + .hours(1)), "a window")
        return ComparisonRun(
            provider: try ProviderName(provider), window: window, kind: kind, attempt: attempt, isDry: isDry,
            createdAt: createdAt, horizon: window.to, coveredFrom: ManualClock.start, overlap: .minutes(1),
            clockMargin: .seconds(5))
    }

    /// A transaction that was taken, by its key.
    static func taken(
        _ key: String, _ amount: Int64 = 1_200, payment: PaymentID? = nil, leg: Int? = nil,
        refunds: [RefundPosition] = [], in currency: Currency? = nil
    ) throws -> ListedPosition {
        let money = try Money(amount, currency ?? yen())
        return ListedPosition(
            key: EffectKey(reported: key), payment: payment, leg: leg, status: .captured, amount: money,
            captured: money, refunds: refunds, updatedAt: ManualClock.start, contradiction: nil)
    }

    /// A transaction that only the provider knows, as it is remembered.
    static func row(
        _ key: String, _ finding: ComparisonClass, amount: Int64 = 1_200, isNamed: Bool = false,
        run: ComparisonRun
    ) throws -> ComparedPosition {
        ComparedPosition(
            provider: run.provider, key: EffectKey(reported: key), theirs: try taken(key, amount), ours: nil,
            listedAt: ManualClock.start, finding: finding, row: "a.row", isNamed: isNamed,
            comparedAt: ManualClock.start, run: run.id)
    }

    /// A finding of a transaction that names nobody.
    static func finding(
        _ key: String, amount: Int64 = 1_200, in currency: Currency? = nil, at provider: String = "cards",
        _ finding: ComparisonClass = .foreign
    ) throws -> ComparisonFinding {
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", finding) { _ in true }])
        let facts = ComparisonFacts(ours: .unknown, theirs: .taken)
        return ComparisonFinding(
            provider: try ProviderName(provider), key: EffectKey(reported: key), table.classify(facts), ours: nil,
            named: nil, theirs: try taken(key, amount, in: currency))
    }

    /// A discrepancy that is not stored.
    public static func discrepancy(
        _ key: String, amount: Int64 = 1_200, in currency: Currency? = nil, at provider: String = "cards",
        _ finding: ComparisonClass = .foreign, openedAt: Timestamp = ManualClock.start
    ) throws -> Discrepancy {
        Discrepancy(
            try Comparing.finding(key, amount: amount, in: currency, at: provider, finding), rule: .init(.tell),
            run: try run().id, at: openedAt)
    }

    /// Plans a run and claims it.
    func claim(_ run: ComparisonRun, holder: String = "worker") async throws -> ClaimedRun {
        _ = try await store.begin(run)
        return try require(
            try await store.claimRun(run.id, holder: holder, leaseFor: .minutes(1)), "the claim")
    }

    /// A run in work.
    struct RunWork: Sendable {
        var run: ComparisonRun
        let token: LeaseToken
    }

    func work(_ run: ComparisonRun? = nil) async throws -> RunWork {
        let claimed = try await claim(run ?? Comparing.run())
        return RunWork(run: claimed.run, token: claimed.token)
    }

    /// Records a step that must be taken.
    func record(_ work: inout RunWork, _ change: (inout ComparisonStep) throws -> Void) async throws {
        var step = ComparisonStep(run: work.run)
        try change(&step)
        let result = try await store.record(step, token: work.token)
        guard case .recorded(let version) = result else {
            throw ContractViolation(description: "a step was not recorded: \(result)")
        }
        work.run = step.run.stored(version: version)
    }

    /// Stores discrepancies by a step.
    func keep(_ discrepancies: [Discrepancy], _ work: inout RunWork) async throws {
        try await record(&work) { $0.discrepancies = discrepancies }
    }

    /// Everything of a query, by pages.
    func all(_ query: DiscrepancyQuery) async throws -> [Discrepancy] {
        var query = query
        var found: [Discrepancy] = []
        repeat {
            let page = try await store.discrepancies(query)
            found += page.items
            query.after = page.next
        } while query.after != nil
        return found
    }

    /// Opens a discrepancy about a payment.
    public func dispute(_ payment: Payment) async throws -> DiscrepancyID {
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", .statusDiffers) { _ in true }])
        let ours = try require(payment.bookedPositions.first, "the position")
        let finding = ComparisonFinding(
            provider: ours.provider, key: ours.key,
            table.classify(ComparisonFacts(ours: .taken, theirs: .absent)), ours: ours, named: nil, theirs: nil)
        var work = try await self.work()
        let found = Discrepancy(finding, rule: .init(.tell), run: work.run.id, at: clock.now())
        try await keep([found], &work)
        return found.id
    }
}
