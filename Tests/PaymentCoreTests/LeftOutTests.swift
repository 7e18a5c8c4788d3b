import PaymentCore
import Testing

/// Lines that agreed before and that a later listing of the same time leaves out.
@Suite struct LeftOutTests {
    /// Nine transactions of an hour that agree, compared once.
    private static func world(pageSize: Int) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.pageSize = pageSize
        for number in 1...9 {
            let moment = Compared.start + .minutes(Int64(number))
            world.books[EffectKey(reported: "k\(number)")] = try Compared.ours("k\(number)", .taken, at: moment)
            world.provider[EffectKey(reported: "k\(number)")] = try Compared.theirs("k\(number)", .captured, at: moment)
        }
        try world.finish()
        #expect(world.asked.isEmpty && world.discrepancies.isEmpty)
        return world
    }

    @Test(arguments: [2, 3, 100], ["k1", "k4", "k6", "k9"])
    func `what a listing leaves out that it showed before is hidden, wherever it stood`(
        pageSize: Int, name: String
    ) throws {
        let world = try Self.world(pageSize: pageSize)
        world.hidden = [EffectKey(reported: name)]
        try world.finish(Compared.run(kind: .asked))
        #expect(world.asked.map(\.key.text) == [name])
        #expect(world.rows[EffectKey(reported: name)]?.finding == .hidden)
        #expect(world.discrepancies.values.map(\.finding) == [.hidden])
        #expect(world.run.isProven == true && world.run.counts.listed == 8)
        world.hidden = []
        try world.finish(Compared.run(hour: 1))
        #expect(world.discrepancies.values.allSatisfy { $0.closeReason == .listedLate })
    }

    @Test(arguments: [2, 100])
    func `what changed since is listed elsewhere, and is not hidden`(pageSize: Int) throws {
        let world = try Self.world(pageSize: pageSize)
        let key = EffectKey(reported: "k4")
        world.provider[key] = try Compared.theirs("k4", .captured, at: Compared.start + .minutes(90))
        try world.finish(Compared.run(kind: .asked))
        #expect(world.asked.map(\.key) == [key])
        #expect(world.rows[key]?.finding == .matched && world.discrepancies.isEmpty)
    }

    @Test func `what is left out and cannot be asked for is looked at again until it can`() throws {
        let world = try Self.world(pageSize: 3)
        let key = EffectKey(reported: "k4")
        (world.hidden, world.silent) = ([key], [key])
        try world.finish(Compared.run(kind: .asked))
        #expect(world.rows[key]?.finding == .inFlight)
        world.silent = []
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .hidden)
    }

    @Test func `what is left out and denied as well is a contradiction`() throws {
        let world = try Self.world(pageSize: 3)
        let key = EffectKey(reported: "k4")
        world.provider[key] = nil
        try world.finish(Compared.run(kind: .asked))
        #expect(world.rows[key]?.row == "theirs.denied")
        #expect(world.run.isProven == true)
    }
}
