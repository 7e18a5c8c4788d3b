import PaymentCore
import SeededChance
import Testing

/// Stories in which people decide about what waits for them, right or wrong: they lie, err, come late, and approve what
/// they should not. Then too nobody is charged twice, nothing is given back that was not taken, and no caller is told
/// both.
@Suite struct PeopleWalkTests {
    static let casts: [RandomWalkTests.Cast] = [
        .init("one two-phase leg", [.reference], hasPeople: true),
        .init("two two-phase legs", [.reference, .reference], hasPeople: true),
        .init("a hold and a sale", [.reference, .referenceSale], hasPeople: true),
        .init("PayPay with the plug", [.payPay], plug: true, hasPeople: true),
        .init("keys that are forgotten", [.forgetful], hasPeople: true),
        .init("rows are lost", [.reference, .reference], losesRows: true, hasPeople: true),
        .init("a region is left", [.reference, .referenceSale], hasPeople: true, movesRegions: true),
    ]

    @Test func `whatever people decide, nobody is charged twice`() throws {
        let fixture = try Fixture()
        var carriedOut: [Repair.Action: Int] = [:]
        var refused: [RepairRefusal: Int] = [:]
        var elsewhere = 0
        for cast in PeopleWalkTests.casts {
            for seed in 0..<RandomWalkTests.seeds / 2 {
                let walk = try Walk(cast, seed: seed, fixture).played()
                #expect(
                    walk.stage.judge.faults.isEmpty,
                    "\(cast.testDescription), seed \(seed): \(walk.stage.judge.faults.prefix(3)), \(walk.repairs)")
                carriedOut.merge(walk.repairs) { $0 + $1 }
                refused.merge(walk.refusals) { $0 + $1 }
                elsewhere += walk.stage.trail.count { entry in
                    entry.type == .resolved && entry.value("facts")?.contains("provider_missing=yes") == true
                }
                for leg in walk.stage.durable.legs {
                    let nets = walk.stage.ledgersEverywhere(leg.provider).map { $0.net(leg.primary.key) }
                    let net = nets.reduce(0, +)
                    #expect(net >= 0 && net <= leg.amount.value, "seed \(seed): \(nets) of \(leg.amount)")
                }
            }
        }
        #expect(elsewhere > 0, "nobody decided about a region that was left")
        for action in Repair.Action.allCases { #expect(carriedOut[action] != nil, "\(action) was never carried out") }
        for refusal in [
            RepairRefusal.ownProposal, .changed, .againstProvider, .evidenceMissing, .otherAmount, .providerMissing,
        ] {
            #expect(refused[refusal] != nil, "\(refusal) never stood in the way")
        }
    }

    /// A bug of the table that carries something out which nobody may.
    struct Plant: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let row: RepairTable.Row

        init(_ name: String, when matches: @escaping @Sendable (RepairFacts) -> Bool) {
            testDescription = name
            row = RepairTable.Row("planted", .carryOut) { facts in
                facts.isWaiting && !facts.isDecided && !facts.isExpired && matches(facts)
            }
        }
    }

    static let plants = [
        Plant("approval by the proposer") { $0.isOwn },
        Plant("approval of what has changed since") { !$0.isUnchanged },
        Plant("a repair without evidence") { [.charged, .undoneOutside].contains($0.action) && !$0.namesReference },
    ]

    @Test(arguments: plants) func `a bug of the table is found`(_ plant: Plant) throws {
        let fixture = try Fixture()
        let table = RepairTable(rows: [plant.row] + RepairTable.shipped.rows)
        let isFound = try PeopleWalkTests.casts.contains { cast in
            try (0..<RandomWalkTests.seeds).contains { seed in
                var walk = try Walk(cast, seed: seed, fixture)
                walk.stage.repairTable = table
                // That the shipped table decides otherwise would be seen of any bug.
                return try walk.played().stage.judge.faults.contains { !$0.contains("is not made again") }
            }
        }
        #expect(isFound)
    }
}

extension Walk {
    /// Somebody proposes whatever, and somebody decides.
    mutating func meddle() {
        let lacking = Set(stage.durable.missingProviders(stage.contracts).map(\.provider))
        func lacks(_ leg: Int) -> Bool { lacking.contains(stage.durable.legs[leg].provider) }
        let legs = stage.durable.legs.filter { $0.quarantine != nil || lacks($0.index) }
            .map { Repair.Target.leg($0.index) }
        let refunds = stage.durable.refunds.enumerated().flatMap { index, refund in
            refund.parts.filter { $0.state == .quarantined || $0.state == .processing && lacks($0.leg) }
                .map { Repair.Target.refund(index, leg: $0.leg) }
        }
        let targets = legs + refunds
        guard !targets.isEmpty else { return }
        let target = targets[chance.below(targets.count)]
        let action = Repair.Action.allCases[chance.below(Repair.Action.allCases.count)]
        var request = stage.request(action, target, against: chance.happens(percent: 50))
        if chance.happens(percent: 5) { request.version -= 1 }
        if chance.happens(percent: 25) { request.evidence.reference = nil }
        if chance.happens(percent: 10) { request.evidence.amount = nil }
        do throws(RepairRefusal) {
            let repair = try stage.propose(request)
            // Something may happen in between.
            for _ in 0..<chance.below(4) { _ = stage.step() }
            let approves = chance.happens(percent: 90)
            try stage.decide(repair, approves: approves, by: chance.happens(percent: 10) ? "ann" : "ben")
            if approves { repairs[action, default: 0] += 1 }
        } catch {
            refusals[error, default: 0] += 1
        }
    }
}
