import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing
import VirtualTime

/// A store, a provider that lists a transaction every ten minutes, and who compares them, by a clock that stands still.
struct ComparisonStage {
    let clock = VirtualClock()
    let store: MemoryStore
    let provider: ListedProvider
    var settings = ComparisonSettings()
    static let lease = Span.seconds(30)

    /// The transactions of the last hours that can be judged; they name nobody.
    init(hours: Int64 = 1) throws {
        let clock = clock
        store = MemoryStore(clock: { clock.now() })
        settings.pageSize = 2
        let card = try ProviderName("card")
        let settled = ComparisonSchedule.settledUntil(.reference, settings, now: clock.now())
        let begin = settled + .hours(-hours)
        settings.begin = begin
        let yen = try #require(Currency(code: "JPY"))
        provider = ListedProvider(
            card,
            try (0..<hours * 6).map { number in
                let money = try Money(100 + number, yen)
                return ListedPosition(
                    key: EffectKey(reported: "key-\(100 + number)"), payment: nil, leg: nil, status: .captured,
                    amount: money, captured: money, refunds: [], updatedAt: begin + .minutes(number * 10 + 5),
                    contradiction: nil)
            })
    }

    /// The next run of the schedule, planned.
    func planned() async throws -> ComparisonRun {
        let next = ComparisonSchedule.next(
            at: provider.name, after: try await store.chainHead(of: provider.name), provider.contract, settings,
            now: clock.now())
        guard case .begin(let run) = next else { throw Unexpected() }
        return try await store.begin(run)
    }

    struct Unexpected: Error {}

    func runner(_ holder: String = "worker") -> ComparisonRunner {
        ComparisonRunner(
            store: store, provider: provider, settlement: NoSettlement(), settings: settings, identity: nil,
            holder: holder, lease: ComparisonStage.lease, clock: clock, logger: Logger(label: "test"))
    }

    func loop(
        _ holder: String = "worker", providers: [any PaymentProvider]? = nil,
        mayWork: @escaping @Sendable () -> Bool = { true }
    ) -> ComparisonLoop {
        ComparisonLoop(
            store: store, providers: providers ?? [provider], settlement: NoSettlement(), settings: settings,
            identity: nil, holder: holder, lease: ComparisonStage.lease, mayWork: mayWork, clock: clock,
            logger: Logger(label: "test"))
    }

    /// Whether somebody else can have a run now. If so, it is given back.
    func isFree(_ id: ComparisonRunID) async throws -> Bool {
        guard let claimed = try await store.claimRun(id, holder: "somebody else", leaseFor: .seconds(1)) else {
            return false
        }
        try await store.releaseRun(id, token: claimed.token)
        return true
    }

    /// What is remembered of a run's transactions.
    func rows(_ keys: [EffectKey]) async throws -> [ComparedPosition] {
        try await store.positions(at: provider.name, keys.map { PositionQuestion(key: $0) }).compactMap(\.row)
    }

    /// The keys of all transactions.
    func keys(hours: Int64 = 1) -> [EffectKey] { (0..<hours * 6).map { EffectKey(reported: "key-\(100 + $0)") } }

    /// Runs a body beside loops, and ends them.
    func whileRunning(_ loops: [ComparisonLoop], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for loop in loops { group.addTask { await loop.run() } }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private struct NoSettlement: DifferenceSettlement {
        func carryOut(_ order: SettlementOrder) async throws(StoreFailure) {}
    }
}
