import PaymentCore
import Testing

/// What two people decide about a discrepancy.
@Suite struct DiscrepancyRepairTests {
    private let key = EffectKey(reported: "k")
    private let now = Compared.start + .hours(2)

    /// A charge in the name of a payment that our books do not have.
    private func orphan(store: StoreID? = Compared.store) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        world.provider[key] = try Compared.theirs("k", .captured, names: "lost", store: store)
        try world.finish()
        return world
    }

    private func found(_ world: ComparisonWorld) throws -> Discrepancy {
        try #require(world.discrepancies.values.first { $0.key == key })
    }

    private func request(
        _ action: Repair.Action, of found: Discrepancy, version: Int64? = nil, lasts: Span = .hours(24)
    ) -> RepairRequest {
        RepairRequest(
            payment: nil, target: .discrepancy(found.id), action: action,
            evidence: Repair.Evidence(text: "no shop of ours sold it", reference: "theirs-1"),
            isAgainstProvider: false, version: version ?? found.version, by: "ann", lasts: lasts)
    }

    private func yes(by person: String = "ben", at moment: Timestamp? = nil) -> Repair.Decision {
        Repair.Decision(isApproved: true, by: person, at: moment ?? now, reason: "I looked as well")
    }

    private func refusal(_ body: () throws(RepairRefusal) -> Void) -> RepairRefusal? {
        do throws(RepairRefusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `an orphan that the policy leaves to people is undone once two of them say so`() throws {
        let world = try orphan()
        let before = try found(world)
        #expect(before.suggestion == .tell && world.carriedOut.isEmpty)
        let (proposed, repair) = try before.proposing(request(.undo, of: before), .shipped, at: now)
        #expect(repair.subject == before.id.text && repair.payment == nil && repair.target.leg == nil)
        #expect(proposed.suggestion == .tell && proposed.undoOrder == nil)
        world.discrepancies[before.id] = proposed
        try world.finish(Compared.run(hour: 1))
        #expect(world.carriedOut.isEmpty, "one person alone moves nothing")

        let (ordered, decided) = try found(world).deciding(repair, yes(), .shipped)
        #expect(decided.decision?.by == "ben" && ordered.suggestion == .undo && ordered.state == .open)
        world.discrepancies[before.id] = ordered
        try world.finish(Compared.run(hour: 2))
        #expect(world.carriedOut.map(\.action) == [.undo] && world.carriedOut[0].finding.theirs?.key == key)
        #expect(try found(world).state == .settling)
        let words = try found(world).history.map(\.text).joined(separator: "\n")
        #expect(words.contains("proposes undo by \(repair.id)") && words.contains("approves undo by \(repair.id)"))
        #expect(words.contains("proposed by ann") && words.contains("reference theirs-1"))

        world.provider[key] = try Compared.theirs(
            "k", .captured, refunds: ["r": 1_000], names: "lost", at: Compared.start + .minutes(200))
        try world.finish(Compared.run(hour: 3))
        #expect(try found(world).closeReason == .undone && found(world).undoOrder == nil)
    }

    @Test func `an order is void once something else is seen`() throws {
        let world = try orphan()
        let before = try found(world)
        let (proposed, repair) = try before.proposing(request(.undo, of: before), .shipped, at: now)
        world.discrepancies[before.id] = try proposed.deciding(repair, yes(), .shipped).discrepancy
        world.provider[key] = try Compared.theirs(
            "k", .captured, refunds: ["r": 300], names: "lost", at: Compared.start + .minutes(70))
        try world.finish(Compared.run(hour: 1))
        #expect(world.carriedOut.isEmpty)
        #expect(try found(world).undoOrder == nil && found(world).suggestion == .tell)
    }

    @Test func `a write-off by two closes it for as long as nothing changes`() throws {
        let world = try orphan()
        let before = try found(world)
        let (proposed, repair) = try before.proposing(request(.writeOff, of: before), .shipped, at: now)
        let closed = try proposed.deciding(repair, yes(), .shipped).discrepancy
        #expect(closed.state == .closed && closed.closeReason == .resolvedByPerson)
        #expect(closed.history.last?.by == "ben" && closed.history.last?.text.contains("I looked as well") == true)
        world.discrepancies[before.id] = closed
        try world.finish(Compared.run(hour: 1))
        #expect(try found(world).state == .closed)
        world.provider[key] = try Compared.theirs(
            "k", .captured, amount: 2_000, names: "lost", at: Compared.start + .minutes(130))
        try world.finish(Compared.run(hour: 2))
        #expect(try found(world).state == .open)
    }

    @Test func `it takes another person, in time, on what was read`() throws {
        let before = try found(try orphan())
        let (proposed, repair) = try before.proposing(
            request(.undo, of: before, lasts: .hours(1)), .shipped, at: now)
        let decide = { (decision: Repair.Decision, of: Discrepancy) in
            refusal { () throws(RepairRefusal) in _ = try of.deciding(repair, decision, .shipped) }
        }
        #expect(decide(yes(by: "ann"), proposed) == .ownProposal)
        #expect(decide(yes(at: now + .hours(1)), proposed) == .expired)
        var closed = proposed
        try closed.handle(.closed(reason: "sold after all", by: "cleo"), at: now)
        #expect(decide(yes(), closed) == .notWaiting)
        let again = refusal { () throws(RepairRefusal) in
            _ = try proposed.deciding(repair.decided(yes()), yes(), .shipped)
        }
        #expect(again == .decided)

        // Who proposed it may take it back, and nothing is ordered by that.
        let no = Repair.Decision(isApproved: false, by: "ann", at: now, reason: "a mistake")
        let rejected = try proposed.deciding(repair, no, .shipped)
        #expect(rejected.discrepancy.undoOrder == nil && rejected.repair.state(at: now) == .rejected)
        #expect(rejected.discrepancy.history.last?.text.hasPrefix("rejects undo") == true)
    }

    @Test func `what cannot be done is not proposed`() throws {
        let before = try found(try orphan())
        let propose = { (request: RepairRequest, of: Discrepancy) in
            refusal { () throws(RepairRefusal) in _ = try of.proposing(request, .shipped, at: now) }
        }
        #expect(propose(request(.undo, of: before, version: before.version + 1), before) == .changed)
        for action in Repair.Action.allCases where action != .undo && action != .writeOff {
            #expect(propose(request(action, of: before), before) == .notForDiscrepancies)
        }
        // What names no store may be another's.
        let storeless = try found(try orphan(store: nil))
        #expect(propose(request(.undo, of: storeless), storeless) == .notUndoable)
        #expect(propose(request(.writeOff, of: storeless), storeless) == nil)

        var full = before
        while full.history.count < Discrepancy.mostEntries {
            try full.handle(.commented("looked at it", by: "cleo"), at: now)
        }
        #expect(propose(request(.undo, of: full), full) == .historyFull)
    }

    /// An order as two people left it.
    private func ordered(_ world: ComparisonWorld, at moment: Timestamp? = nil) throws -> Discrepancy {
        let before = try found(world)
        let (proposed, repair) = try before.proposing(request(.undo, of: before), .shipped, at: moment ?? now)
        return try proposed.deciding(repair, yes(at: moment), .shipped).discrepancy
    }

    @Test func `an order that no run begins within a day is void, and the history says so`() throws {
        for (hour, isBegun) in [(Int64(1), true), (30, false)] {
            let world = try orphan()
            let order = try ordered(world, at: Compared.start + .hours(1))
            world.discrepancies[order.id] = order
            world.now = Compared.start + .hours(hour) + .minutes(70)
            try world.finish(Compared.run(hour: hour))
            #expect(world.carriedOut.map(\.action) == (isBegun ? [.undo] : []))
            let isSaid = try found(world).history.contains { $0.text.contains("is void") }
            #expect(isSaid != isBegun)
        }
    }

    @Test func `an order does not outlive a moment in which nothing could be undone`() throws {
        let world = try orphan()
        let order = try ordered(world)
        world.discrepancies[order.id] = order
        // Another hold appears under the key, and is gone an hour later.
        world.alsoListed = [
            try Compared.theirs(
                "k", .captured, names: "lost", created: Compared.start + .minutes(65),
                at: Compared.start + .minutes(65))
        ]
        try world.finish(Compared.run(hour: 1))
        #expect(try found(world).undoOrder == nil && found(world).suggestion == .tell)
        world.alsoListed = []
        try world.finish(Compared.run(hour: 2))
        #expect(world.carriedOut.isEmpty)
    }
}
