import PaymentCore
import Testing

/// Two stores at one account of a provider.
@Suite struct OtherStoreTests {
    private static let key = EffectKey(reported: "k")

    private static func world(_ theirs: ListedPosition, ours: BookedPosition? = nil) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.policy = try ComparisonPolicy([.orphan: .init(.undo), .duplicate: .init(.undo)])
        world.provider[theirs.key] = theirs
        if let ours { world.books[ours.key] = ours }
        try world.finish()
        return world
    }

    @Test func `what names another store is no difference, is not counted, and is not undone`() throws {
        let theirs = try Compared.theirs("k", .captured, names: "elsewhere", store: Compared.otherStore)
        let world = try Self.world(theirs)
        #expect(world.run.counts[.otherStore] == 1 && world.discrepancies.isEmpty && world.carriedOut.isEmpty)
        #expect(world.rows.isEmpty && world.standing.isEmpty && world.asked.isEmpty)
        #expect(world.run.isProven == true)
    }

    @Test func `what names a leg of ours and another store is no duplicate`() throws {
        let ours = try Compared.ours("own", .taken)
        let theirs = try Compared.theirs("k", .captured, names: "own", store: Compared.otherStore)
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.policy = try ComparisonPolicy([.duplicate: .init(.undo)])
        world.books[ours.key] = ours
        world.provider[ours.key] = try Compared.theirs("own", .captured, names: "own")
        world.provider[theirs.key] = theirs
        try world.finish()
        #expect(world.discrepancies.isEmpty && world.carriedOut.isEmpty)
        #expect(world.run.isProven == true)
    }

    @Test func `an orphan that names this store is undone, and one that names none is told to people`() throws {
        let own = try Self.world(try Compared.theirs("k", .captured, names: "lost"))
        #expect(own.carriedOut.map(\.action) == [.undo])
        let nameless = try Self.world(try Compared.theirs("k", .captured, names: "lost", store: nil))
        #expect(nameless.carriedOut.isEmpty)
        #expect(nameless.discrepancies.values.map(\.suggestion) == [.tell])
        #expect(nameless.rows[Self.key]?.finding == .orphan)
    }

    @Test func `a key of ours under which another store is named is a contradiction`() throws {
        let world = try Self.world(
            try Compared.theirs("k", .captured, names: "k", store: Compared.otherStore),
            ours: Compared.ours("k", .taken))
        #expect(world.rows[Self.key]?.finding == .contradiction)
    }

    @Test func `what was an orphan before its store was known is counted no more`() throws {
        let world = try Self.world(try Compared.theirs("k", .captured, names: "lost", store: nil))
        world.provider[Self.key] = try Compared.theirs(
            "k", .captured, names: "lost", store: Compared.otherStore, at: Compared.start + .minutes(70))
        try world.finish(Compared.run(hour: 1))
        #expect(world.discrepancies.values.allSatisfy { $0.state == .closed })
        #expect(world.standing[try Compared.yen()] == .init() && world.run.isProven == true)
    }

    @Test(arguments: [
        (KeyFormat.hex40, "ABCDEF0123456789abcdef0123456789ABCDEF01", "abcdef0123456789abcdef0123456789abcdef01"),
        (.base32of26, "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (.uuid, "0123ABCD-0123-8123-8123-0123456789AB", "0123abcd-0123-8123-8123-0123456789ab"),
        (.hex40, "Not-Of-This-Format-123", "Not-Of-This-Format-123"),
        (.base32of26, "abcdefghijklmnopqrstuvwxy1", "abcdefghijklmnopqrstuvwxy1"),
    ])
    func `a key of ours in another case is spelled as we spell it, and nothing else is changed`(
        format: KeyFormat, listed: String, spelled: String
    ) {
        #expect(format.spelled(listed) == spelled)
    }
}
