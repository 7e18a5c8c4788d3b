import PaymentCore
import Testing

/// What a listing says, and what it leaves unsaid.
struct ComparisonListingTests {
    @Test func `what changes again after the window is no difference where nobody can be asked`() throws {
        let key = EffectKey(reported: "later")
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[key] = try Compared.ours("later", .taken, at: Compared.start + .minutes(30))
        // Given back there by somebody else, minutes after the window: the listing of the window shows it no more.
        world.provider[key] = try Compared.theirs(
            "later", .captured, refunds: ["console": 1_000], names: "later", at: Compared.start + .minutes(65))
        try world.finish()
        #expect(world.asked.isEmpty)
        #expect(world.rows[key]?.row == "listing.behind")
        #expect(world.discrepancies.isEmpty)
        #expect(world.run.isProven == true)
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .lateReversal)
        #expect(world.discrepancies.count == 1)
        #expect(world.run.isProven == true)
    }

    @Test func `what a listing shows of disputes is handed to the payment, and is no difference`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        let at = Compared.start + .minutes(30)
        for name in ["ours", "shared", "theirs", "undisputed"] {
            let key = EffectKey(reported: name)
            let dispute = Dispute(id: "dp_\(name)", amount: try Money(1_000, Compared.yen()), state: .open)
            world.provider[key] = try Compared.theirs(name, .captured, names: name, at: at)
            if name != "undisputed" { world.disputes[key] = [dispute] }
            if name != "theirs" { world.books[key] = try Compared.ours(name, .taken, at: at) }
        }
        world.alsoListed = [try Compared.theirs("shared", .captured, names: "shared", at: at + .minutes(1))]
        try world.finish()
        let told = world.carriedOut.filter { !$0.disputes.isEmpty }
        #expect(Set(told.map { $0.disputes.map(\.id) }) == [["dp_ours"], ["dp_shared"]])
        let payments = try ["ours", "shared"].map { try Compared.payment($0) }
        #expect(Set(told.compactMap(\.finding.ours?.payment)) == Set(payments))
        #expect(told.allSatisfy { $0.action == .tell })
        #expect(world.rows[EffectKey(reported: "ours")]?.finding == .matched)
        #expect(!world.discrepancies.values.contains { $0.key == EffectKey(reported: "ours") })

        let dry = try ComparisonWorld(run: Compared.run())
        (dry.provider, dry.books, dry.disputes) = (world.provider, world.books, world.disputes)
        try dry.finish(Compared.run(isDry: true))
        #expect(dry.carriedOut.isEmpty)
    }

    /// Seed 7715497905065: declined first, taken under the same key, reversed. The decline was compared with ours.
    @Test func `a sale that was reversed is compared, and not the decline that came before it`() throws {
        let key = EffectKey(reported: "anew")
        let at = Compared.start + .minutes(30)
        for lines in [[Observation.Status.declined, .voided], [.voided, .declined]] {
            let world = try ComparisonWorld(run: Compared.run())
            world.books[key] = try Compared.ours(
                "anew", .givenBack, refunds: ["anew": 1_000], state: .canceled, at: at)
            func theirs(_ status: Observation.Status, at minutes: Int64) throws -> ListedPosition {
                let changed = Compared.start + .minutes(minutes)
                return try Compared.theirs("anew", status, names: "anew", created: changed, at: changed)
            }
            world.alsoListed = [try theirs(lines[0], at: 28)]
            world.provider[key] = try theirs(lines[1], at: 30)
            try world.finish()
            #expect(world.rows[key]?.finding == .matched, "\(String(describing: world.rows[key]))")
            #expect(world.discrepancies.isEmpty)
        }
    }

    /// Seed 1086: what was given back stood beside the charge that it had been, as a transaction of its own that holds
    /// nothing, and both sides were called the same.
    @Test func `what is given back while ours is in flight is found, where nobody says when it was recorded`() throws {
        let key = EffectKey(reported: "back")
        let world = try ComparisonWorld(run: Compared.run())
        let (early, late) = (Compared.start + .minutes(30), Compared.start + .minutes(65))
        world.books[key] = try Compared.ours("back", .taken, work: .underWay, at: early)
        world.provider[key] = try Compared.theirs("back", .captured, names: "back", created: nil, at: early)
        try world.finish()
        #expect(world.rows[key]?.finding == .inFlight)
        world.books[key] = try Compared.ours("back", .taken, at: late)
        world.provider[key] = try Compared.theirs(
            "back", .captured, refunds: ["console": 1_000], names: "back", created: nil, at: late)
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .lateReversal, "\(String(describing: world.rows[key]))")
        #expect(world.run.isProven == true)
    }

    /// Seed 2795825550: a hold that a run had shown was captured hours before the windows that were asked for.
    @Test func `a listing that was not read through denies nothing`() throws {
        let key = EffectKey(reported: "gap")
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[key] = try Compared.ours("gap", .held, at: Compared.start + .minutes(30))
        world.provider[key] = try Compared.theirs(
            "gap", .authorized, names: "gap", at: Compared.start + .minutes(30))
        try world.finish()
        world.provider[key] = try Compared.theirs(
            "gap", .captured, names: "gap", at: Compared.start + .minutes(130))
        world.books[key] = try Compared.ours("gap", .taken, at: Compared.start + .minutes(270))
        for hour in Int64(4)...6 { try world.finish(Compared.run(hour: hour, kind: .asked)) }
        #expect(world.rows[key]?.row == "listing.behind")
        #expect(world.discrepancies.isEmpty)
        for hour in Int64(1)...2 { try world.finish(Compared.run(hour: hour)) }
        #expect(world.rows[key]?.finding == .matched)
    }

    /// Seed 1815318362: a refund that the provider declined moved a charge to another place in the listing.
    @Test func `what a listing leaves out because it changed is no second transaction`() throws {
        let key = EffectKey(reported: "moved")
        func theirs(at minute: Int64) throws -> ListedPosition {
            try Compared.theirs(
                "moved", .captured, names: "moved", created: nil, at: Compared.start + .minutes(minute))
        }
        let world = try ComparisonWorld(run: Compared.run())
        world.books[key] = try Compared.ours("moved", .taken, at: Compared.start + .minutes(30))
        world.provider[key] = try theirs(at: 30)
        try world.finish()
        #expect(world.rows[key]?.finding == .matched)
        world.provider[key] = try theirs(at: 65)
        try world.finish(Compared.run(kind: .asked, attempt: 1))
        #expect(world.rows[key]?.finding == .matched)
        #expect(world.discrepancies.isEmpty)
    }

    @Test func `what no later listing shows either is ours only, also where nobody can be asked`() throws {
        let key = EffectKey(reported: "nowhere")
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[key] = try Compared.ours("nowhere", .taken, at: Compared.start + .minutes(30))
        try world.finish()
        #expect(world.discrepancies.isEmpty)
        // It was missing at ten past; the listing until then is read by the second run from here.
        for hour in Int64(1)...2 { try world.finish(Compared.run(hour: hour)) }
        #expect(world.rows[key]?.finding == .oursOnly)
        let found = try #require(world.discrepancies.values.first)
        #expect(found.finding == .oursOnly)
        try world.finish(Compared.run(hour: 3))
        #expect(world.discrepancies[found.id]?.state != .closed)
        #expect(world.rows[key]?.finding == .oursOnly)
        #expect(world.run.isProven == true)
    }

    /// Seed 1237345610: the hold was taken for what the charge had been.
    @Test func `an older hold beside a charge that changed is a transaction of its own`() throws {
        let key = EffectKey(reported: "beside")
        func line(
            _ status: Observation.Status, refunds: [String: Int64] = [:], at minute: Int64
        ) throws -> ListedPosition {
            try Compared.theirs(
                "beside", status, refunds: refunds, names: "beside", created: nil,
                at: Compared.start + .minutes(minute))
        }
        let world = try ComparisonWorld(run: Compared.run())
        world.books[key] = try Compared.ours("beside", .taken, at: Compared.start + .minutes(30))
        world.provider[key] = try line(.captured, at: 30)
        try world.finish()
        #expect(world.rows[key]?.finding == .matched)
        world.books[key] = try Compared.ours("beside", .taken, refunds: ["r": 100], at: Compared.start + .minutes(50))
        world.provider[key] = try line(.captured, refunds: ["r": 100], at: 50)
        world.alsoListed = [try line(.authorized, at: 20)]
        try world.finish(Compared.run(kind: .asked, attempt: 1))
        #expect(world.rows[key]?.finding == .duplicate)
    }

    /// Seed 1237344939: what a payment gives back was listed before its rows knew that it had been given back.
    @Test func `what a payment is giving back is no reversal by others`() throws {
        let key = EffectKey(reported: "back")
        let world = try ComparisonWorld(run: Compared.run())
        world.books[key] = try Compared.ours(
            "back", .taken, work: .underWay, state: .canceling, at: Compared.start + .minutes(10))
        world.provider[key] = try Compared.theirs(
            "back", .captured, refunds: ["compensation": 1_000], names: "back", at: Compared.start + .minutes(30))
        try world.finish()
        #expect(world.rows[key]?.finding == .inFlight)
        world.books[key] = try Compared.ours(
            "back", .givenBack, refunds: ["compensation": 1_000], state: .canceled, at: Compared.start + .minutes(70))
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .matched && world.discrepancies.isEmpty)
    }

    /// Seed 1638175275: a void of one of two holds under a key was shown, and the other hold was forgotten.
    @Test(arguments: [20, 40] as [Int64])
    func `of two transactions under a key the one that did not change stands`(ended: Int64) throws {
        let key = EffectKey(reported: "two")
        func hold(at minute: Int64) throws -> ListedPosition {
            try Compared.theirs("two", .authorized, names: "two", created: nil, at: Compared.start + .minutes(minute))
        }
        let world = try ComparisonWorld(run: Compared.run())
        world.books[key] = try Compared.ours("two", .held, at: Compared.start + .minutes(45))
        world.provider[key] = try hold(at: ended)
        world.alsoListed = [try hold(at: 60 - ended)]
        try world.finish()
        #expect(world.rows[key]?.finding == .duplicate)
        world.books[key] = try Compared.ours("two", .ended, state: .canceled, at: Compared.start + .minutes(90))
        world.provider[key] = try Compared.theirs(
            "two", .voided, names: "two", created: nil, at: Compared.start + .minutes(90))
        swap(&world.alsoListed, &world.listedEarlier)
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding.isDifference == true)
        #expect(world.rows[key]?.theirs?.lines.contains { $0.status == .authorized } == true)
    }

    /// Seed 3693566213: the pause after which a key is asked for again ended while the provider was asked for others.
    @Test func `what the provider was not asked for is no difference because the time went on`() throws {
        let keys = ["asked", "rested"]
        let world = try ComparisonWorld(run: Compared.run())
        world.settings.askAgainAfter = .minutes(60) + .seconds(30)
        world.silent = Set(keys.map { EffectKey(reported: $0) })
        for key in keys {
            world.books[EffectKey(reported: key)] = try Compared.ours(key, .taken, at: Compared.start + .minutes(30))
            world.provider[EffectKey(reported: key)] = try Compared.theirs(
                key, .authorized, names: key, at: Compared.start + .minutes(20))
        }
        try world.finish()
        #expect(Set(world.rows.values.map(\.row)) == ["provider.silent"])
        world.rows[EffectKey(reported: "asked")]?.comparedAt = Compared.start + .minutes(60)
        for key in keys {
            world.provider[EffectKey(reported: key)] = try Compared.theirs(
                key, .captured, names: key, at: Compared.start + .minutes(30))
        }
        (world.silent, world.asked, world.askingTakes) = ([], [], .minutes(1))
        try world.finish(Compared.run(hour: 1))
        #expect(world.asked.map(\.key) == [EffectKey(reported: "asked")])
        #expect(world.discrepancies.isEmpty)
        #expect(world.rows[EffectKey(reported: "asked")]?.finding == .matched)
    }

    /// Seed 1536128419: a hold that people decide about ran out, and ours went on holding.
    @Test func `what may have become of a hold is looked for where nobody can be asked, too`() throws {
        let key = EffectKey(reported: "ran-out")
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[key] = try Compared.ours(
            "ran-out", .held, work: .people, state: .quarantined, at: Compared.start + .minutes(30))
        world.provider[key] = try Compared.theirs(
            "ran-out", .authorized, names: "ran-out", created: nil, at: Compared.start + .minutes(20))
        try world.finish()
        #expect(world.rows[key]?.finding == .inFlight)
        world.provider[key] = try Compared.theirs(
            "ran-out", .expired, names: "ran-out", created: nil, at: Compared.start + .minutes(90))
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .statusDiffers)
    }

    /// Seed 3693569685: of two holds under a key ours ended; its end was listed after a run had asked for both.
    @Test func `what was asked for after an end did not end by it`() throws {
        let key = EffectKey(reported: "stands")
        func line(_ status: Observation.Status, at minute: Int64) throws -> ListedPosition {
            try Compared.theirs(
                "stands", status, names: "stands", created: nil, at: Compared.start + .minutes(minute))
        }
        let world = try ComparisonWorld(run: Compared.run())
        world.contract.inquiry = .byListing
        world.books[key] = try Compared.ours("stands", .held, at: Compared.start + .minutes(30))
        world.provider[key] = try line(.authorized, at: 40)
        world.alsoListed = [try line(.authorized, at: 20)]
        try world.finish()
        #expect(world.rows[key]?.finding == .duplicate)
        world.books[key] = try Compared.ours("stands", .ended, state: .canceled, at: Compared.start + .minutes(61))
        world.alsoListed = []
        try world.finish(Compared.run(kind: .asked, attempt: 1))
        #expect(world.rows[key]?.finding == .statusDiffers, "the run asked, and the other hold stands")
        world.provider[key] = try line(.voided, at: 61)
        world.listedEarlier = [try line(.authorized, at: 40)]
        try world.finish(Compared.run(hour: 1))
        #expect(world.rows[key]?.finding == .statusDiffers)
        #expect(world.rows[key]?.theirs?.lines.contains { $0.status == .authorized } == true)
    }

    /// Seed 352419033: the store was asked what a later part of the listing should show while the row was being
    /// written, and what the row had moved was moved again.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `what is listed at an earlier place than before is moved once`(seed: UInt64) throws {
        let key = EffectKey(reported: "back")
        let world = try ComparisonWorld(run: Compared.run(), seed: seed)
        world.books[key] = try Compared.ours("back", .taken, at: Compared.start + .minutes(40))
        world.provider[key] = try Compared.theirs("back", .captured, names: "back", at: Compared.start + .minutes(40))
        try world.finish()
        #expect(world.rows[key]?.finding == .matched)
        // Its refund was taken back: it is shown as it was before. The others fill the pages around it.
        for minute in [10, 20, 30, 35, 45] as [Int64] {
            let name = "other-\(minute)"
            let moment = Compared.start + .minutes(minute)
            world.books[EffectKey(reported: name)] = try Compared.ours(name, .taken, at: moment)
            world.provider[EffectKey(reported: name)] = try Compared.theirs(name, .captured, names: name, at: moment)
        }
        world.books[key] = try Compared.ours("back", .taken, refunds: ["r": 300], at: Compared.start + .minutes(40))
        world.provider[key] = try Compared.theirs(
            "back", .captured, refunds: ["r": 300], names: "back", at: Compared.start + .minutes(5))
        try world.finish(Compared.run(kind: .asked, attempt: 1))
        var sums = NetSums()
        for row in world.rows.values { try sums.count(ours: row.ours?.net, theirs: row.theirs?.net) }
        #expect(sums == world.standing)
        #expect(world.run.isProven == true)
    }
}
