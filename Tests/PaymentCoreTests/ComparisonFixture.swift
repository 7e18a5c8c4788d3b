import PaymentCore
import Testing

/// Positions of both sides, built in a line.
enum Compared {
    static let start = Timestamp(milliseconds: 1_772_355_600_000)

    /// The identity of our store.
    static let store = StoreID(text: "sto_" + String(repeating: "0", count: 32))
    /// That of another at the same provider.
    static let otherStore = StoreID(text: "sto_" + String(repeating: "f", count: 32))

    static func yen() throws -> Currency { try #require(Currency(code: "JPY")) }
    static func provider() throws -> ProviderName { try ProviderName("cards") }

    static func payment(_ name: String) throws -> PaymentID {
        try PaymentID(caller: CallerID("shop"), key: IdempotencyKey(name))
    }

    static func refunds(_ amounts: [String: Int64]) throws -> [RefundPosition] {
        try amounts.sorted { $0.key < $1.key }
            .map { RefundPosition(key: EffectKey(reported: $0.key), amount: try Money($0.value, yen())) }
    }

    /// A leg of ours under the key of its name.
    static func ours(
        _ name: String, _ standing: BookedPosition.Standing, amount: Int64 = 1_000, captured: Int64? = nil,
        refunds: [String: Int64] = [:], work: BookedPosition.Work = .none, state: PaymentState = .succeeded,
        at moment: Timestamp = start, asked: Timestamp? = nil
    ) throws -> BookedPosition {
        let took = standing == .taken || standing == .givenBack
        return BookedPosition(
            payment: try payment(name), leg: 0, provider: try provider(), key: EffectKey(reported: name),
            amount: try Money(amount, yen()), captured: try Money(captured ?? (took ? amount : 0), yen()),
            refunds: try Compared.refunds(refunds), standing: standing, work: work, state: state, updatedAt: moment,
            askedAt: asked)
    }

    /// A transaction under a key, which names the payment of `names`.
    static func theirs(
        _ key: String, _ status: Observation.Status, amount: Int64 = 1_000, in currency: String = "JPY",
        captured: Int64? = nil, refunds: [String: Int64] = [:], names: String? = nil,
        created: Timestamp? = start, store: StoreID? = store, at moment: Timestamp? = start,
        contradiction: String? = nil
    ) throws -> ListedPosition {
        let currency = try #require(Currency(code: currency))
        return ListedPosition(
            key: EffectKey(reported: key), payment: try names.map { try payment($0) }, leg: names == nil ? nil : 0,
            status: status, amount: status == .tombstoned ? nil : try Money(amount, currency),
            captured: status == .tombstoned
                ? nil : try Money(captured ?? (status == .captured ? amount : 0), currency),
            refunds: try Compared.refunds(refunds), createdAt: created, updatedAt: moment,
            contradiction: contradiction, store: store)
    }

    static func run(
        hour: Int64 = 0, kind: ComparisonRun.Kind = .scheduled, isDry: Bool = false, attempt: Int = 0
    ) throws -> ComparisonRun {
        let from = start + .hours(hour)
        let window = try #require(ComparedWindow(from: from, to: from + .hours(1)))
        return ComparisonRun(
            provider: try provider(), window: window, kind: kind, attempt: attempt, isDry: isDry,
            createdAt: window.to + .minutes(10), horizon: window.to + .minutes(2),
            coveredFrom: kind == .asked ? from : start,
            overlap: .minutes(1), clockMargin: .seconds(5))
    }

    static func finding(
        _ found: ComparisonClass, ours: BookedPosition? = nil, theirs: ListedPosition? = nil, key: String = "k"
    ) throws -> ComparisonFinding {
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", found) { _ in true }])
        return ComparisonFinding(
            provider: try provider(), key: EffectKey(reported: key),
            table.classify(ComparisonFacts(ours: .taken, theirs: .absent)), ours: ours, named: nil, theirs: theirs)
    }
}
