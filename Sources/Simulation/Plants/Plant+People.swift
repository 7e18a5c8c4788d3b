internal import PaymentCore

extension Plant {
    /// What people could do if the repair table, or the store, did not refuse it.
    static let ofPeople: [PlantedBug] = [
        sabotaged(
            .ownRepairApproved, "whoever proposed a repair approves it", within: 60, breaks: [25],
            in: .visited),
        repair(
            "repair.changed", "a repair is approved although something became known since it was proposed", within: 60),
        repair(
            "repair.charged-without-reference", "a repair says that it was charged, without evidence", within: 60),
    ]

    /// The shipped table without a row.
    private static func repair(_ row: String, _ sentence: String, within seeds: Int) -> PlantedBug {
        var plant = Plant(name: "without \(row)", sentence: sentence, surroundings: .visited)
        plant.repairTable = RepairTable.shipped.without(row)
        return PlantedBug(plant, withinSeeds: seeds, invariants: [25])
    }
}
