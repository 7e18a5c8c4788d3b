import Foundation
import PaymentCore
import Testing

/// Two transactions under one key: what a second region, or a key that was forgotten, looks like.
@Suite struct SharedKeyTests {
    private static let key = EffectKey(reported: "k")
    private static let first = Compared.start + .minutes(5)
    private static let second = Compared.start + .minutes(20)

    /// A world whose listing shows lines besides what is shown to whoever asks for the key.
    private static func world(
        ours: BookedPosition, asked: ListedPosition?, besides: [ListedPosition], pageSize: Int = 10
    ) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.pageSize = pageSize
        world.books[key] = ours
        if let asked { world.provider[key] = asked }
        world.alsoListed = besides
        try world.finish()
        return world
    }

    private static func captured(
        at moment: Timestamp, created: Timestamp? = nil, amount: Int64 = 1_000, refunds: [String: Int64] = [:]
    ) throws -> ListedPosition {
        try Compared.theirs(
            "k", .captured, amount: amount, refunds: refunds, names: "k", created: created, at: moment)
    }

    private static func discrepancy(_ world: ComparisonWorld) throws -> Discrepancy {
        let id = DiscrepancyID(provider: try Compared.provider(), subject: .transaction(key))
        return try #require(world.discrepancies[id])
    }

    @Test(arguments: [10, 1], [true, false])
    func `two charges under one key are both counted, on one page or on two, and nobody undoes them by itself`(
        pageSize: Int, saysWhenMade: Bool
    ) throws {
        let world = try Self.world(
            ours: Compared.ours("k", .taken),
            asked: Self.captured(at: Self.second, created: saysWhenMade ? Self.second : nil),
            besides: [Self.captured(at: Self.first, created: saysWhenMade ? Self.first : nil)], pageSize: pageSize)
        let found = try Self.discrepancy(world)
        #expect(found.finding == .duplicate && found.evidence.row == "theirs.twice")
        #expect(found.atRisk == (try Money(1_000, Compared.yen())))
        #expect(world.standing[try Compared.yen()] == .init(ours: 1_000, theirs: 2_000))
        #expect(world.run.isProven == true)
        #expect(found.suggestion == .tell && world.carriedOut.isEmpty)
    }

    @Test func `an undo that is configured for duplicates does not touch a key that is ours`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.policy = try ComparisonPolicy([.duplicate: .init(.undo)])
        world.books[Self.key] = try Compared.ours("k", .taken)
        world.provider[Self.key] = try Self.captured(at: Self.second, created: Self.second)
        world.alsoListed = [try Self.captured(at: Self.first, created: Self.first)]
        try world.finish()
        #expect(try Self.discrepancy(world).suggestion == .tell)
        #expect(world.carriedOut.isEmpty)
    }

    @Test func `a second charge that a later window shows is counted beside the first`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.books[Self.key] = try Compared.ours("k", .taken)
        world.provider[Self.key] = try Self.captured(at: Self.first, created: Self.first)
        try world.finish()
        #expect(world.rows[Self.key]?.finding == .matched)
        let later = Compared.start + .minutes(80)
        world.provider[Self.key] = try Self.captured(at: later, created: later)
        try world.finish(Compared.run(hour: 1))
        #expect(try Self.discrepancy(world).finding == .duplicate)
        #expect(world.standing[try Compared.yen()] == .init(ours: 1_000, theirs: 2_000))
        // The same listing read again changes nothing.
        try world.finish(Compared.run(hour: 1, kind: .asked))
        #expect(world.standing[try Compared.yen()] == .init(ours: 1_000, theirs: 2_000))
        // What is given back of the second is taken from it, and the key is at rest again.
        let end = Compared.start + .minutes(150)
        world.provider[Self.key] = try Self.captured(at: end, created: later, refunds: ["console": 1_000])
        try world.finish(Compared.run(hour: 2))
        #expect(try Self.discrepancy(world).state == .closed)
        #expect(world.standing[try Compared.yen()] == .init(ours: 1_000, theirs: 1_000))
        #expect(world.run.isProven == true)
    }

    @Test(arguments: [true, false])
    func `one transaction that changed while it was compared, or between two windows, is one`(
        saysWhenMade: Bool
    ) throws {
        let created = saysWhenMade ? Self.first : nil
        let whenCompared = try Compared.run().createdAt + .seconds(1)
        let world = try Self.world(
            ours: Compared.ours("k", .taken, refunds: ["r": 10]),
            asked: Self.captured(at: whenCompared, created: created, refunds: ["r": 10]),
            besides: [Self.captured(at: Self.first, created: created)])
        #expect(world.rows[Self.key]?.finding == .matched && world.discrepancies.isEmpty)
        #expect(world.standing[try Compared.yen()] == .init(ours: 990, theirs: 990))
        world.alsoListed = []
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[Self.key]?.finding == .matched && world.discrepancies.isEmpty)
    }

    @Test func `a page shows a second charge beside one that was refunded before the page was read`() throws {
        let world = try Self.world(
            ours: Compared.ours("k", .taken, refunds: ["r": 10]),
            asked: Self.captured(at: Self.second, refunds: ["r": 10]), besides: [Self.captured(at: Self.first)])
        #expect(try Self.discrepancy(world).finding == .duplicate)
        #expect(world.standing[try Compared.yen()] == .init(ours: 990, theirs: 1_990))
    }

    @Test func `an inquiry shows that the listed charge is a second one`() throws {
        // Ours was given back before the page was read, within another window: the listing shows the second alone.
        let world = try ComparisonWorld(run: Compared.run(hour: 1))
        world.books[Self.key] = try Compared.ours("k", .givenBack, refunds: ["r": 1_000], state: .canceled)
        world.alsoListed = [try Self.captured(at: Compared.start + .minutes(70))]
        world.provider[Self.key] = try Self.captured(at: Compared.start + .minutes(5), refunds: ["r": 1_000])
        try world.finish()
        #expect(try Self.discrepancy(world).finding == .duplicate)
        #expect(world.standing[try Compared.yen()] == .init(ours: 0, theirs: 1_000))
        #expect(world.rows[Self.key]?.theirs?.lines.count == 2)
    }

    @Test func `a line older than what is remembered is asked for, and kept if it is listed still`() throws {
        let world = try ComparisonWorld(run: Compared.run(hour: 1))
        world.books[Self.key] = try Compared.ours("k", .ended, state: .canceled)
        world.provider[Self.key] = try Compared.theirs(
            "k", .voided, names: "k", created: nil, at: Compared.start + .minutes(61))
        try world.finish()
        #expect(world.rows[Self.key]?.finding == .matched)
        world.alsoListed = [
            try Compared.theirs("k", .authorized, names: "k", created: nil, at: Compared.start + .minutes(40))
        ]
        try world.finish(Compared.run(kind: .asked))
        #expect(world.asked.last?.earlier == [40, 61].map { Compared.start + .minutes($0) })
        #expect(world.rows[Self.key]?.theirs?.lines.map(\.status) == [.authorized, .voided])
        #expect(world.discrepancies.count == 1)
    }

    /// Where nobody can be asked for a key, the pages of one run tell: each shows what changed before its horizon.
    @Test func `what another page of the same run shows of another moment is another transaction`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.settings.pageSize = 1
        world.books[Self.key] = try Compared.ours("k", .givenBack, refunds: ["r": 1_000], state: .canceled)
        world.alsoListed = [try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.first)]
        world.provider[Self.key] = try Self.captured(at: Self.second, refunds: ["r": 1_000])
        try world.finish()
        #expect(try Self.discrepancy(world).finding == .duplicate)
        #expect(world.rows[Self.key]?.theirs?.lines.count == 2)
    }

    @Test func `one of two holds that ended does not end the other, which nobody was asked for`() throws {
        let hold = try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.first)
        let other = try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.second)
        let world = try Self.world(ours: Compared.ours("k", .held), asked: hold, besides: [other])
        #expect(try Self.discrepancy(world).finding == .duplicate)
        let end = Compared.start + .minutes(70)
        world.books[Self.key] = try Compared.ours("k", .ended, state: .canceled)
        world.provider[Self.key] = try Compared.theirs("k", .expired, names: "k", created: nil, at: end)
        try world.finish(Compared.run(hour: 1))
        #expect(try Self.discrepancy(world).state == .open)
        #expect(world.rows[Self.key]?.theirs?.lines.contains { $0.updatedAt == Self.second } == true)
    }

    @Test func `what is shown again takes the place of no other transaction`() throws {
        let hold = try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.first)
        let ended = try Compared.theirs("k", .expired, names: "k", created: nil, at: Self.second)
        let both = hold.beside(ended)
        #expect(both.joined(by: ended).lines == both.lines)
        #expect(ended.joined(by: both).lines == [ended.line, hold.line])
    }

    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byListing])
    func `where only the moment differs, the listing tells whether the earlier is still there`(
        _ inquiry: ProviderContract.Inquiry
    ) throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = inquiry
        world.books[Self.key] = try Compared.ours("k", .taken)
        world.provider[Self.key] = try Self.captured(at: Self.first)
        try world.finish()
        // Touched, as by a refund that was refused: the listing shows it under the new moment only.
        world.provider[Self.key] = try Self.captured(at: Compared.start + .minutes(80))
        try world.finish(Compared.run(hour: 1))
        #expect(world.asked.map(\.earlier) == [[Self.first, Compared.start + .minutes(80)]])
        #expect(world.rows[Self.key]?.finding == .matched && world.discrepancies.isEmpty)
        #expect(world.standing[try Compared.yen()] == .init(ours: 1_000, theirs: 1_000))
    }

    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byListing])
    func `a second charge that was listed alone while ours was young is told`(
        _ inquiry: ProviderContract.Inquiry
    ) throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = inquiry
        let young = Compared.start + .minutes(63)
        world.books[Self.key] = try Compared.ours("k", .taken, refunds: ["r": 10], at: young)
        world.provider[Self.key] = try Self.captured(at: young, refunds: ["r": 10])
        world.alsoListed = [try Self.captured(at: Self.first)]
        try world.finish()
        #expect(world.rows[Self.key]?.finding == .inFlight)
        #expect(world.discrepancies.isEmpty)
        (world.listedEarlier, world.alsoListed) = (world.alsoListed, [])
        try world.finish(Compared.run(hour: 1))
        #expect(try Self.discrepancy(world).finding == .duplicate)
        #expect(world.standing[try Compared.yen()] == .init(ours: 990, theirs: 1_990))
    }

    /// The listing shows our void only in a later window than our books.
    @Test func `a second hold that was listed alone is not taken for ours, whose end an inquiry shows`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.books[Self.key] = try Compared.ours("k", .ended, state: .failed, at: Compared.start + .minutes(63))
        world.provider[Self.key] = try Compared.theirs(
            "k", .voided, names: "k", created: nil, at: Compared.start + .minutes(125))
        world.alsoListed = [try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.second)]
        try world.finish()
        #expect(world.rows[Self.key]?.finding == .inFlight)
        swap(&world.alsoListed, &world.listedEarlier)
        for hour: Int64 in 1...2 { try world.finish(Compared.run(hour: hour)) }
        #expect(try Self.discrepancy(world).state == .open)
        #expect(world.rows[Self.key]?.theirs?.lines.contains { $0.status == .authorized } == true)
    }

    /// It was captured only after the page was read that showed it held.
    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byListing])
    func `a charge that changed while ours was young is no second one`(_ inquiry: ProviderContract.Inquiry) throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = inquiry
        let young = Compared.start + .minutes(63)
        world.books[Self.key] = try Compared.ours("k", .taken, at: young)
        world.provider[Self.key] = try Compared.theirs("k", .authorized, names: "k", created: nil, at: Self.first)
        try world.finish()
        #expect(world.rows[Self.key]?.finding == .inFlight)
        world.provider[Self.key] = try Self.captured(at: young)
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[Self.key]?.finding == .matched && world.discrepancies.isEmpty)
        #expect(world.asked.last?.earlier == [Self.first, young])
    }

    @Test(arguments: [Observation.Status.tombstoned, nil])
    func `a listed charge is not explained away by an inquiry that shows a tombstone or nothing`(
        asked status: Observation.Status?
    ) throws {
        let shown = try status.map { try Compared.theirs("k", $0, names: "k", at: Self.second) }
        let world = try Self.world(
            ours: Compared.ours("k", .ended, state: .failed), asked: shown,
            besides: [Self.captured(at: Self.first, created: Self.first)])
        func requireTold() throws {
            let found = try Self.discrepancy(world)
            #expect(found.finding == .contradiction && found.evidence.row == "theirs.denied")
            #expect(found.state == .open && found.suggestion == .tell)
            #expect(found.atRisk == (try Money(1_000, Compared.yen())))
            #expect(world.standing[try Compared.yen()] == .init(ours: 0, theirs: 1_000))
            #expect(world.rows[Self.key]?.finding != .matched)
        }
        try requireTold()
        // Nor by later runs, whose listing does not show the charge any more.
        world.alsoListed = []
        for hour in Int64(1)..<3 {
            try world.finish(Compared.run(hour: hour))
            try requireTold()
        }
        #expect(world.carriedOut.isEmpty)
    }

    @Test func `a hold that the listing shows beside a tombstone is a difference`() throws {
        let hold = try Compared.theirs("k", .authorized, names: "k", at: Self.first)
        let world = try Self.world(
            ours: Compared.ours("k", .ended, state: .failed),
            asked: Compared.theirs("k", .tombstoned, names: "k", at: Self.second), besides: [hold])
        #expect(try Self.discrepancy(world).finding == .contradiction)
        #expect(try Self.discrepancy(world).atRisk == (try Money(1_000, Compared.yen())))
    }

    @Test func `a second hold that stays after ours has ended is told to people, and not read again for ever`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[Self.key] = try Compared.ours("k", .held, state: .authorized)
        world.provider[Self.key] = try Compared.theirs(
            "k", .authorized, names: "k", created: Self.first, at: Self.first)
        world.alsoListed = [try Compared.theirs("k", .authorized, names: "k", created: Self.second, at: Self.second)]
        try world.finish()
        #expect(try Self.discrepancy(world).finding == .duplicate)
        let end = Compared.start + .minutes(80)
        world.alsoListed = []
        world.books[Self.key] = try Compared.ours("k", .ended, state: .canceled, at: end)
        world.provider[Self.key] = try Compared.theirs("k", .expired, names: "k", created: Self.first, at: end)
        for hour in Int64(1)..<4 { try world.finish(Compared.run(hour: hour)) }
        let found = try Self.discrepancy(world)
        #expect(found.state == .open && found.suggestion == .tell && world.carriedOut.isEmpty)
    }

    @Test func `a position that was stored before keys could be shared is read`() throws {
        let position = try Self.captured(at: Self.first)
        var stored = String(decoding: try JSONEncoder().encode(position), as: UTF8.self)
        stored = stored.replacing(",\"others\":[]", with: "").replacing("\"others\":[],", with: "")
        #expect(try JSONDecoder().decode(ListedPosition.self, from: Data(stored.utf8)) == position)
        #expect(!stored.contains("others"))
    }
}
