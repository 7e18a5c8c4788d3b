import PaymentCore
import Reconciler

extension RepairContractCase.Repairing {
    /// A discrepancy that is stored.
    fileprivate func discrepancy(_ key: String = "k1") async throws -> Discrepancy {
        let comparing = Comparing(store: store, clock: clock)
        let found = try Comparing.discrepancy(key)
        var work = try await comparing.work(Comparing.run(at: "cards"))
        try await comparing.keep([found], &work)
        return found.stored(version: 1)
    }

    /// One person proposes to write it off; it is not stored yet.
    fileprivate func proposal(
        of discrepancy: Discrepancy, by person: String = "ann"
    ) throws -> (discrepancy: Discrepancy, repair: Repair) {
        let request = RepairRequest(
            payment: nil, target: .discrepancy(discrepancy.id), action: .writeOff,
            evidence: Repair.Evidence(text: "their letter"), isAgainstProvider: false, version: discrepancy.version,
            by: person, lasts: .hours(1))
        return try discrepancy.proposing(request, .shipped, at: clock.now())
    }

    fileprivate func propose(_ discrepancy: Discrepancy) async throws -> (discrepancy: Discrepancy, repair: Repair) {
        let (changed, repair) = try proposal(of: discrepancy)
        return (try require(try await store.change(changed, with: repair), "the proposal"), repair)
    }

    fileprivate func stored(_ id: DiscrepancyID) async throws -> Discrepancy {
        try require(try await store.discrepancies([id]).first, "the discrepancy")
    }

    /// How the store refuses a change that the rules are not asked about.
    fileprivate func refusal(_ discrepancy: Discrepancy, _ repair: Repair) async throws -> StoreFailure? {
        do throws(StoreFailure) {
            _ = try await store.change(discrepancy, with: repair)
            return nil
        } catch {
            return error
        }
    }
}

extension RepairContractCase {
    static let discrepancies: [RepairContractCase] = [
        RepairContractCase("what is proposed and decided about a discrepancy reads back as it was written") { it in
            let (proposed, repair) = try await it.propose(try await it.discrepancy())
            try require(proposed.version, is: 2, "the version that the proposal made")
            try require(try await it.stored(proposed.id), is: proposed, "the discrepancy, proposed")
            try require(try await it.store.repair(repair.id), is: repair, "the proposal")
            let (closed, decided) = try proposed.deciding(repair, it.decision(true, by: "ben"), .shipped)
            let stored = try require(try await it.store.change(closed, with: decided), "the decision")
            try require(try await it.stored(proposed.id), is: stored, "the discrepancy, decided")
            try require(stored.state == .closed && stored.version == 3, is: true, "that it is closed")
            try require(try await it.store.repair(repair.id), is: decided, "the decision")
            var query = RepairQuery()
            query.discrepancy = proposed.id
            try require(try await it.listed(query), is: [repair.id], "repairs of the discrepancy")
            query.payment = try PaymentID(caller: CallerID("shop"), key: IdempotencyKey("another"))
            try require(try await it.listed(query), is: [], "repairs of a payment")
        },
        RepairContractCase("a repair of an older version of a discrepancy, or of none, writes nothing") { it in
            let first = try await it.discrepancy()
            let (late, lateRepair) = try it.proposal(of: first.stored(version: 1), by: "cleo")
            let (proposed, repair) = try await it.propose(first)
            try require(try await it.store.change(late, with: lateRepair), is: nil, "the second proposal")
            try require(try await it.store.repair(repair.id)?.proposedBy, is: "ann", "whose proposal is kept")
            let unknown = try Comparing.discrepancy("k2").stored(version: 1)
            let (nothing, nobody) = try it.proposal(of: unknown)
            try require(try await it.store.change(nothing, with: nobody), is: nil, "a proposal about nothing")
            try require(try await it.store.repair(nobody.id), is: nil, "its repair")
            try require(try await it.stored(first.id), is: proposed, "the discrepancy")
        },
        RepairContractCase("the store keeps the order and the two people of a discrepancy's repair") { it in
            let first = try await it.discrepancy()
            let unknown = try it.proposal(of: first).repair.decided(it.decision(true, by: "ben"))
            let early = try await it.refusal(first, unknown)
            try require(early, is: .repairOutOfOrder, "a decision about nothing")
            let (proposed, repair) = try await it.propose(first)
            let again = try await it.refusal(proposed, repair)
            try require(again, is: .repairOutOfOrder, "a second proposal")
            let own = try await it.refusal(proposed, repair.decided(it.decision(true, by: "ann")))
            try require(own?.code, is: .other, "an approval by the one who proposed")
            try require(try await it.stored(first.id), is: proposed, "the discrepancy")
            try require(try await it.store.repair(repair.id), is: repair, "the repair waits")
            let decided = repair.decided(it.decision(false, by: "ann"))
            let stored = try require(try await it.store.change(proposed, with: decided), "a rejection")
            let late = try await it.refusal(stored, repair.decided(it.decision(true, by: "ben")))
            try require(late, is: .repairOutOfOrder, "a second decision")
            try require(try await it.stored(first.id), is: stored, "the discrepancy then")
        },
    ]
}
