import Simulation

/// The names that `--scenario` and `--plant` take.
struct SimulateList: SimulateResult {
    let scenarios: [String]
    let plants: [String]

    init(isExhaustive: Bool) {
        scenarios = isExhaustive ? SimulateExhaustive.scenarios.map(\.name) : []
        plants =
            isExhaustive
            ? SearchPlant.planted.map { "\($0.plant.name): \($0.plant.sentence)" } : SimulateSeeds.plants.map(\.name)
    }

    func draw(on screen: Screen) {
        for (title, names) in [("scenarios", scenarios), ("plants", plants)] where !names.isEmpty {
            screen.say(screen.bold(title))
            for name in names { screen.say("  \(name)") }
        }
    }
}
