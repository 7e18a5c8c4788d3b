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

    /// Seed 27336791580121: refunded between two runs that came as rarely as the provider forgets. The line from before
    /// the refund says nothing against it.
    @Test(arguments: [
        Forgotten(theirs: .captured, ours: .taken, refunds: ["r1": 200]),
        Forgotten(theirs: .captured, refundsThere: ["r1": 200], ours: .taken, refunds: ["r1": 200, "r2": 300]),
        Forgotten(theirs: .authorized, ours: .taken),
        Forgotten(theirs: .pending, ours: .held),
    ])
    func `what our books say may have become of what is remembered is no difference either`(
        _ example: Forgotten
    ) throws {
        let world = try example.compared(key)
        #expect(world.rows[key]?.row == "provider.forgot")
        #expect(world.discrepancies.isEmpty)
    }

    @Test(arguments: [
        Forgotten(theirs: .captured, refundsThere: ["r1": 200], ours: .taken),
        Forgotten(theirs: .captured, refundsThere: ["r1": 300], ours: .taken, refunds: ["r1": 200]),
        Forgotten(theirs: .captured, ours: .held),
        Forgotten(theirs: .authorized, ours: .taken, claimed: 1_200),
        Forgotten(theirs: .captured, ours: .taken, captured: 700),
    ])
    func `money that our books claim beyond that is not explained by a provider that forgot`(
        _ example: Forgotten
    ) throws {
        let world = try example.compared(key)
        let found = try world.discrepancy(key)
        #expect(found.state == .open && found.suggestion == .tell, "\(found.finding)")
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

/// A line that agreed with our books or was in flight in one run, and of which the next run is shown nothing: our books
/// went on meanwhile, and the provider forgot.
struct Forgotten: Sendable, CustomTestStringConvertible {
    var theirs: Observation.Status
    var refundsThere: [String: Int64] = [:]
    var ours: BookedPosition.Standing
    var captured: Int64? = nil
    var claimed: Int64 = 1_000
    var refunds: [String: Int64] = [:]

    var testDescription: String { "\(theirs.rawValue) \(refundsThere), \(ours) \(captured ?? claimed) \(refunds)" }

    private var before: BookedPosition.Standing {
        switch theirs {
        case .captured: .taken
        case .authorized: .held
        case .pending: .undecided
        default: .ended
        }
    }

    func compared(_ key: EffectKey) throws -> ComparisonWorld {
        let world = try ComparisonWorld.compared { world in
            world.contract.statusRetention = .hours(1)
            world.books[key] = try Compared.ours("k", before, refunds: refundsThere, work: .underWay)
            world.provider[key] = try Compared.theirs("k", theirs, refunds: refundsThere, names: "k")
        }
        #expect(world.rows[key]?.finding == .inFlight)
        (world.provider, world.forgotten) = ([:], [key])
        let asked = Compared.start + .minutes(20)
        world.books[key] = try Compared.ours(
            "k", ours, amount: claimed, captured: captured, refunds: refunds, at: asked + .hours(2), asked: asked)
        try world.finish(Compared.run(hour: 2))
        return world
    }
}
