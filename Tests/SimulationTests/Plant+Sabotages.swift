import Simulation

extension Plant {
    /// A planted bug for each way to get wrong what surrounds the decisions, in no surroundings of its own.
    static let sabotages: [Plant] = Sabotage.allCases.map { sabotage in
        Plant(name: "\(sabotage)", sentence: "sabotage: \(sabotage)", sabotage: [sabotage])
    }
}
