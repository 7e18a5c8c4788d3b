import ArgumentParser
import Simulation

/// `reconciled simulate`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Checks the decisions of this build: exhaustively, or over seeds in virtual time.",
        discussion: """
            It needs no configuration, opens no connection and writes no file.

            --exhaustive goes through every state that a payment can come to, with every fault in every place, for \
            every kind of contract. --seeds runs whole systems, each seed twice: several payments, providers, replicas \
            and sites, with a mix of faults that the seed draws. A seed that fails is made small and printed as a \
            timeline, with the command that repeats it.

            Exits 0 if all of it holds, 1 if something was found, 2 if the options make no sense.

            Examples:
              reconciled simulate --seeds 1000
              reconciled simulate --seeds 1 --from 97 --keep-payments 12 --timeline
              reconciled simulate --exhaustive
              reconciled simulate --exhaustive --scenario "two legs" --limit 1000000
              reconciled simulate --exhaustive --plant all
            """)

    @OptionGroup var options: SimulateOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() throws {
        let format = OutputFormat.chosen(output)
        let screen = SimulateScreen(format: format)
        let isGood: Bool
        if options.list {
            try SimulateList(isExhaustive: options.exhaustive).print(on: screen)
            isGood = true
        } else if options.exhaustive {
            isGood = try SimulateExhaustive(options: options, screen: screen).run()
        } else {
            isGood = try SimulateSeeds(options: options, screen: screen).run()
        }
        if !isGood { throw ExitCode(CommandFailure.Code.finding.rawValue) }
    }
}

/// Where the results go: lines for people, or JSON lines for programs.
struct SimulateScreen {
    let isJSON: Bool
    let screen: Screen

    init(format: OutputFormat) {
        isJSON = format == .json
        screen = Screen(isJSON: isJSON)
    }

    /// For people only.
    func say(_ text: String = "") {
        if !isJSON { screen.say(text) }
    }

    /// For programs only.
    func emit(_ value: some Encodable) throws {
        if isJSON { print(String(decoding: try DemoJSON.encode(value), as: UTF8.self)) }
    }

    /// How far it is; on a terminal only.
    func progress(_ text: String) {
        if screen.isTerminal { screen.redraw(screen.faint("  " + text)) }
    }
}

/// The names that `--scenario` and `--plant` take.
struct SimulateList: Encodable {
    let scenarios: [String]
    let plants: [String]

    init(isExhaustive: Bool) {
        scenarios = isExhaustive ? SimulateExhaustive.scenarios.map(\.name) : []
        plants =
            isExhaustive
            ? SearchPlant.planted.map { "\($0.plant.name): \($0.plant.sentence)" } : SimulateSeeds.plants.map(\.name)
    }

    func print(on screen: SimulateScreen) throws {
        try screen.emit(self)
        for (title, names) in [("scenarios", scenarios), ("plants", plants)] where !names.isEmpty {
            screen.say(screen.screen.bold(title))
            for name in names { screen.say("  \(name)") }
        }
    }
}
