import PaymentCore
import SeededChance
import Testing

/// The machine of a run against a small world.
@Suite struct ComparisonMachineTests {
    /// A world over whose four hours positions were planted, compared window by window.
    private func compared(
        seed: UInt64, count: Int = 40, crashes: Int = 0, _ prepare: (ComparisonWorld) throws -> Void = { _ in }
    ) throws -> (world: ComparisonWorld, expected: [EffectKey: ComparisonClass]) {
        let world = try ComparisonWorld(run: Compared.run(), seed: seed)
        var chance = SeededChance(seed: seed)
        let expected = try world.plant(count, over: 3, chance: &chance)
        world.faults.crashes = crashes
        try prepare(world)
        for hour in Int64(0)..<4 { try world.finish(Compared.run(hour: hour)) }
        return (world, expected)
    }

    @Test(arguments: UInt64(1)...60)
    func `what is planted is found in its class, nothing else is, and the money is proven`(_ seed: UInt64) throws {
        let (world, expected) = try compared(seed: seed)
        try world.requireFound(expected, seed: seed)
        #expect(world.largestBatch <= world.settings.pageSize)
    }

    @Test(arguments: UInt64(1)...60)
    func `a run that crashes anywhere comes to the same rows, discrepancies and balances`(_ seed: UInt64) throws {
        let whole = try compared(seed: seed).world
        let broken = try compared(seed: seed, crashes: 8).world
        #expect(broken.crashes > 0)
        #expect(broken.rows == whole.rows)
        #expect(broken.discrepancies == whole.discrepancies)
        #expect(broken.findings == whole.findings)
        #expect(broken.standing == whole.standing)
        #expect(broken.run == whole.run)
        #expect(broken.steps == whole.steps)
        #expect(Set(broken.carriedOut) == Set(whole.carriedOut))
    }

    @Test func `a crash before or after each single order changes nothing`() throws {
        let whole = try compared(seed: 7).world
        var seen = 0
        for seed in UInt64(1_000)...1_400 {
            let broken = try compared(seed: 7, crashes: 3) { $0.faults.chance = SeededChance(seed: seed) }.world
            seen += broken.crashes
            #expect(broken.rows == whole.rows)
            #expect(broken.discrepancies == whole.discrepancies)
            #expect(broken.standing == whole.standing)
            #expect(broken.run == whole.run)
        }
        #expect(seen > 1_000)
    }

    @Test(arguments: UInt64(1)...20)
    func `comments of people do not stop a run, and are not lost`(_ seed: UInt64) throws {
        let (world, expected) = try compared(seed: seed) { $0.faults.comments = 40 }
        // What was seen once is seen again by a later run of the same hours, and commented on meanwhile.
        try world.finish(Compared.run(hour: 0, kind: .asked))
        try world.requireFound(expected, seed: seed)
        for found in world.discrepancies.values {
            let comments = found.history.filter { $0.kind == .commented }.count
            #expect(found.version >= Int64(1 + comments))
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `a window that is compared again finds the same, and moves nothing`(_ seed: UInt64) throws {
        let (world, expected) = try compared(seed: seed)
        let (standing, discrepancies) = (world.standing, world.discrepancies)
        try world.finish(Compared.run(hour: 0, kind: .asked))
        try world.requireFound(expected, seed: seed)
        #expect(world.standing == standing)
        #expect(world.run.moved.byCurrency.values.allSatisfy { $0 == NetSums.Sides() })
        #expect(Set(world.discrepancies.keys) == Set(discrepancies.keys))
        #expect(world.run.counts.opened == 0 && world.run.counts.closed == 0)
        for (id, found) in world.discrepancies {
            #expect(found.history.filter { $0.kind == .opened || $0.kind == .reopened }.count == 1, "\(id)")
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `a dry run finds the same and writes nothing`(_ seed: UInt64) throws {
        let (real, expected) = try compared(seed: seed)
        let dry = try ComparisonWorld(run: Compared.run(), seed: seed)
        (dry.books, dry.provider, dry.hidden) = (real.books, real.provider, real.hidden)
        var found: Set<EffectKey> = []
        for hour in Int64(0)..<4 {
            try dry.finish(Compared.run(hour: hour, isDry: true))
            #expect(dry.run.counts.opened == dry.findings.count)
            found.formUnion(dry.findings.values.compactMap { real.discrepancies[$0.discrepancy]?.key })
        }
        #expect(found == Set(expected.filter { $0.value.isDifference }.keys))
        #expect(dry.rows.isEmpty && dry.discrepancies.isEmpty && dry.standing.isEmpty && dry.carriedOut.isEmpty)
        #expect(dry.run.state == .completed && dry.run.isProven == nil)
    }

    @Test(arguments: UInt64(1)...20)
    func `differences that heal close by themselves, and the money stays proven`(_ seed: UInt64) throws {
        let (world, expected) = try compared(seed: seed)
        let healed = Compared.start + .hours(4) + .minutes(30)
        world.hidden = []
        for (key, kind) in expected where kind.isDifference || kind == .inFlight {
            let ours = try Compared.ours(key.text, .taken, amount: 700, at: healed)
            world.books[key] = ours
            world.provider[key] = try Compared.theirs(key.text, .captured, amount: 700, at: healed)
        }
        for hour in Int64(4)..<6 { try world.finish(Compared.run(hour: hour)) }
        #expect(world.discrepancies.values.allSatisfy { $0.state == .closed && !$0.explainsMoney })
        #expect(world.rows.values.allSatisfy { !$0.isUnsettled })
        #expect(world.run.isProven == true)
        let sums = world.standing.byCurrency.values
        #expect(sums.allSatisfy { $0.ours == $0.theirs })
    }

    @Test func `a listing whose cursor is refused is begun again`() throws {
        let whole = try compared(seed: 3).world
        let again = try compared(seed: 3) { $0.refusedCursor = "3" }.world
        #expect(again.refusedCursor == nil && again.refusals > 1)
        #expect(again.rows == whole.rows)
        #expect(again.standing == whole.standing)
        #expect(again.run.isProven == true)
    }
}
