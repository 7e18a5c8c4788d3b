internal import PaymentCore
public import Reconciler

/// What a program of the version before comparisons leaves in a database that has their schema: it writes payments, and
/// not the columns by which their legs are compared.
public struct EarlierVersion: Sendable {
    /// Runs SQL past the store.
    private let run: @Sendable (String) async throws -> Void
    private let it: Comparing

    /// An earlier version beside a store.
    public init(
        store: any PaymentStore & ComparisonStore, clock: ManualClock,
        run: @escaping @Sendable (String) async throws -> Void
    ) {
        it = Comparing(store: store, clock: clock)
        self.run = run
    }

    private static let columns = "key, currency, refunds, stands, work, asked_at"

    /// Holds the store to what its payments say, after payments that the earlier version wrote from the beginning, and
    /// after payments that both wrote in turn.
    public func check() async throws {
        var order = Scenario.Order("k1")
        order.legs = [("cards", 700), ("wallet", 300), ("cards", 500)]
        var first = try await it.payments.create(order)
        var second = try await it.payments.settle(Scenario.Order("k2"))
        try await requireBooks(first, second)
        let none = EarlierVersion.columns.split(separator: ", ").map { "\($0) = NULL" }
        try await run("UPDATE legs SET \(none.joined(separator: ", "))")
        try await run("UPDATE payments SET booked_version = NULL")
        try await requireBooks(first, second)

        // The next commit of this version writes the columns.
        it.clock.advance(by: .seconds(1))
        try await it.payments.save(&first, .inquireNow)
        let refund = try RefundCommand(
            key: IdempotencyKey("r1"), amounts: [0: Money(200, Comparing.yen())])
        try await it.refund(&second, refund)
        try await requireBooks(first, second)

        // The earlier version goes on with both, and leaves the columns as they are.
        try await run("CREATE TABLE earlier AS SELECT payment_id, leg, \(EarlierVersion.columns) FROM legs")
        it.clock.advance(by: .seconds(1))
        try await it.payments.save(&first, .inquireNow)
        let more = try RefundCommand(key: IdempotencyKey("r2"), amounts: [0: Money(1_000, Comparing.yen())])
        try await it.refund(&second, more)
        let old = EarlierVersion.columns.split(separator: ", ").map { "\($0) = earlier.\($0)" }
        try await run(
            """
            UPDATE legs SET \(old.joined(separator: ", ")) FROM earlier
            WHERE earlier.payment_id = legs.payment_id AND earlier.leg = legs.leg
            """)
        try await run("UPDATE payments SET booked_version = version - 1")
        try await requireBooks(first, second)
    }

    /// Requires the store to say of each leg at cards what its payment says, whichever way it is asked.
    private func requireBooks(_ works: Work...) async throws {
        let cards = try Comparing.cards()
        var expected: [BookedPosition] = []
        for work in works { expected += try await it.payments.stored(work.payment.id).bookedPositions }
        expected = expected.filter { $0.provider == cards }.sorted { BookedPlace($0) < BookedPlace($1) }
        let changed = try await it.changed(in: ManualClock.start, it.clock.now() + .seconds(1), limit: 2)
        try require(changed.map(\.ours), is: expected, "what changed")
        for named in [true, false] {
            let questions = expected.map { position in
                PositionQuestion(
                    key: position.key, payment: named ? position.payment : nil, leg: named ? position.leg : nil)
            }
            let known = try await it.store.positions(at: cards, questions)
            try require(known.map(\.ours), is: expected, "what the keys find, named \(named)")
        }
        let other = expected.map {
            PositionQuestion(key: EffectKey(reported: "other"), payment: $0.payment, leg: $0.leg)
        }
        let known = try await it.store.positions(at: cards, other)
        try require(known.map(\.named), is: expected, "what is named")
        try require(known.compactMap(\.ours), is: [], "what another key finds")
    }
}
