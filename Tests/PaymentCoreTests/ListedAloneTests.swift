import PaymentCore
import Testing

/// A second transaction under our key that a window of the listing shows alone, because ours changed after the window.
@Suite struct ListedAloneTests {
    private static let key = EffectKey(reported: "k")
    private static let first = Compared.start + .minutes(5)
    private static let later = Compared.start + .minutes(80)

    /// A world whose first window shows a hold, and our books a charge. The difference is open.
    private static func world(_ inquiry: ProviderContract.Inquiry) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = inquiry
        world.books[key] = try Compared.ours("k", .taken)
        world.provider[key] = try hold()
        try world.finish()
        #expect(try world.discrepancy(key).evidence.row == "both.status")
        return world
    }

    private static func hold() throws -> ListedPosition {
        try Compared.theirs("k", .authorized, names: "k", created: nil, at: first)
    }

    /// Seed 39582597121008: it counted as what had become of our charge, and the difference as healed.
    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byListing])
    func `a second hold stays a difference when a later window shows our charge`(
        _ inquiry: ProviderContract.Inquiry
    ) throws {
        let world = try Self.world(inquiry)
        world.books[Self.key] = try Compared.ours("k", .taken, refunds: ["r": 10], at: Self.later)
        world.provider[Self.key] = try Compared.theirs(
            "k", .captured, refunds: ["r": 10], names: "k", created: nil, at: Self.later)
        world.listedEarlier = [try Self.hold()]
        for hour: Int64 in 1...2 {
            try world.finish(Compared.run(hour: hour))
            let found = try world.discrepancy(Self.key)
            #expect(found.state == .open && found.finding == .duplicate)
            #expect(world.rows[Self.key]?.theirs?.lines.map(\.status) == [.captured, .authorized])
        }
    }

    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byListing])
    func `a hold that was captured late is no second transaction, and its difference closes`(
        _ inquiry: ProviderContract.Inquiry
    ) throws {
        let world = try Self.world(inquiry)
        world.provider[Self.key] = try Compared.theirs("k", .captured, names: "k", created: nil, at: Self.later)
        try world.finish(Compared.run(hour: 1))
        #expect(world.asked.last?.earlier == [Self.first, Self.later])
        #expect(try world.discrepancy(Self.key).state == .closed)
        #expect(world.rows[Self.key]?.finding == .matched)
    }

    @Test func `while the listing cannot be asked, the difference stays open, and both are remembered`() throws {
        let world = try Self.world(.byListing)
        world.provider[Self.key] = try Compared.theirs("k", .captured, names: "k", created: nil, at: Self.later)
        world.silent = [Self.key]
        try world.finish(Compared.run(hour: 1))
        #expect(try world.discrepancy(Self.key).state == .open)
        #expect(world.rows[Self.key]?.theirs?.lines.count == 2)
        world.silent = []
        try world.finish(Compared.run(hour: 2))
        #expect(try world.discrepancy(Self.key).state == .closed)
    }
}
