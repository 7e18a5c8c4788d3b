import PaymentCore
import Testing

/// What a comparison says of legs whose status their provider does not show any more, and when it asks again.
@Suite struct ForgottenStatusTests {
    let key = EffectKey(reported: "k")

    /// Seed 31658576151724: settled twice a day, the payment read the status each time, and was never shown anything.
    @Test func `what only the listing still shows is for people, since another read shows nothing`() throws {
        let world = try ComparisonWorld.compared { world in
            world.contract.statusRetention = .hours(12)
            world.books[key] = try Compared.ours("k", .ended, state: .failed, asked: Compared.start + .hours(-12))
            world.provider[key] = try Compared.theirs("k", .captured, amount: 1_234, names: "k")
            world.forgotten = [key]
        }
        let found = try world.discrepancy(key)
        #expect(found.finding == .amountDiffers && world.rows[key]?.row == "theirs.forgotten")
        #expect(found.state == .open && found.suggestion == .tell && world.carriedOut.isEmpty)
    }

    /// Seed 25954150782060: voided and forgotten between two runs that came as rarely as the provider forgets.
    @Test func `what is remembered from before our last request is no difference once its provider forgot it`() throws {
        let world = try ComparisonWorld.compared { world in
            world.contract.statusRetention = .hours(1)
            world.books[key] = try Compared.ours("k", .held, work: .underWay, state: .canceling)
            world.provider[key] = try Compared.theirs("k", .authorized, names: "k")
        }
        #expect(world.rows[key]?.row == "ours.under-way")
        (world.provider, world.forgotten) = ([:], [key])
        let asked = Compared.start + .minutes(20)
        world.books[key] = try Compared.ours("k", .ended, state: .canceled, at: asked + .hours(2), asked: asked)
        try world.finish(Compared.run(hour: 2))
        #expect(world.rows[key]?.row == "provider.forgot")
        #expect(world.discrepancies.isEmpty)
    }

    @Test func `money that our books claim is not explained by a provider that forgot`() throws {
        let world = try ComparisonWorld.compared { world in
            world.contract.statusRetention = .hours(1)
            world.books[key] = try Compared.ours("k", .held, state: .authorized)
            world.provider[key] = try Compared.theirs("k", .authorized, names: "k")
        }
        #expect(world.rows[key]?.finding == .matched)
        (world.provider, world.forgotten) = ([:], [key])
        let asked = Compared.start + .minutes(20)
        world.books[key] = try Compared.ours("k", .taken, at: asked + .hours(2), asked: asked)
        world.provider[key] = nil
        try world.finish(Compared.run(hour: 2))
        let found = try world.discrepancy(key)
        #expect(found.finding == .statusDiffers && found.suggestion == .tell)
        #expect(world.rows[key]?.row == "theirs.forgotten")
    }

    @Test func `a run that somebody asks for asks at once what was asked for a moment ago`() throws {
        let world = try ComparisonWorld.compared { world in
            world.settings.askAgainAfter = .hours(2)
            world.provider[key] = try Compared.theirs("k", .captured)
        }
        #expect(world.asked.count == 1)
        try world.finish(Compared.run(hour: 1, kind: .asked))
        #expect(world.asked.count == 2)
    }
}
