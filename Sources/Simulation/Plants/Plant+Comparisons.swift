internal import PaymentCore

/// What may be wrong about comparing both sides.
extension Plant {
    static let ofComparisons: [PlantedBug] = [
        sabotaged(
            .laneIgnored, "two replicas work at one run, and at two runs of one provider", within: 60, breaks: [18],
            in: .compared),
        sabotaged(.windowSkipped, "after each run a window is left out", within: 5, breaks: [17]),
        sabotaged(
            .listingPageSkipped, "now and then a page of a listing is passed over", within: 20, breaks: [20],
            in: .compared),
        sabotaged(
            .flightIgnored, "what changed a moment ago is compared", within: 200, breaks: [21], in: .comparedInDoubt),
        sabotaged(
            .endedPaymentsForgotten, "the legs of payments that ended are not found again", within: 20,
            breaks: [21, 22], in: .compared),
        sabotaged(
            .settlementForgotten, "what the policy wants is written down, and nobody does it", within: 20,
            breaks: [20], in: .compared),
        sabotaged(
            .positionDropped, "a position of each step is not remembered", within: 5, breaks: [19]),
        compared(
            "youngIsJudged", "what may be in flight is judged", within: 200, breaks: [21],
            table: .seeing { $0.isYoung = false }, in: .comparedInDoubt),
        compared(
            "orphanIgnored", "what names a payment that nobody has counts for nothing", within: 20, breaks: [20],
            table: .withRow(.inert) { $0.ours == .unknown && $0.naming == .lostLeg }),
        compared(
            "duplicateTakenForOrphan", "a second transaction of a leg is taken for one of a payment that was lost",
            within: 20, breaks: [20],
            table: .seeing { facts in
                if facts.naming == .otherTransaction { facts.naming = .lostLeg }
            }),
        compared(
            "refundsNotCompared", "refunds are not compared", within: 60, breaks: [19, 20],
            table: .seeing { $0.refunds = .same }),
        sabotaged(
            .storelessTakenForOurs, "what names no store is undone as if it were this one's", within: 60, breaks: [22],
            in: .compared),
        compared(
            "secondChargeNotSeen", "of two transactions under one key one is looked at", within: 20, breaks: [19, 20],
            table: .seeing { $0.isDoubled = false }),
        compared(
            "otherStoreTakenForOrphan", "what another store made counts as lost by this one", within: 20,
            breaks: [21],
            table: .seeing { facts in
                if facts.naming == .otherStore { (facts.naming, facts.isReadable) = (.lostLeg, true) }
            }),
        compared(
            "missingIsMatched", "what the provider does not have counts as matched", within: 120, breaks: [20],
            table: .withRow(.matched) { $0.ours == .taken && $0.theirs == .absent }),
    ]

    private static func compared(
        _ name: String, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>, table: ComparisonTable,
        in surroundings: Surroundings = .compared
    ) -> PlantedBug {
        let plant = Plant(name: name, sentence: sentence, comparisonTable: table, surroundings: surroundings)
        return PlantedBug(plant, withinSeeds: seeds, invariants: invariants)
    }
}
