import ArgumentParser
import ProgramEdge

/// `reconciled-lab simulate`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Checks the decisions of this build: exhaustively, or over seeds in virtual time.",
        discussion: """
            It needs no configuration, opens no connection and writes no file.

            --exhaustive goes through every state that a payment can come to, with every fault in every place, for \
            every kind of contract. --seeds runs whole systems, each seed twice or some of them: \
            several payments, providers, replicas and sites, with a mix of faults that the seed draws. A seed that \
            fails is made small and printed as a timeline, with the command that repeats it.

            Exits 0 if all of it holds, 1 if something was found, 2 if the options make no sense.

            Examples:
              reconciled-lab simulate --seeds 1000
              reconciled-lab simulate --seeds 1 --from 97 --keep-payments 12 --timeline
              reconciled-lab simulate --exhaustive
              reconciled-lab simulate --exhaustive --scenario "two legs" --limit 1000000
              reconciled-lab simulate --exhaustive --plant all
            """)

    @OptionGroup var options: SimulateOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() throws {
        let format = OutputFormat.chosen(output)
        let screen = SimulateScreen(format: format)
        let isGood: Bool
        if options.list {
            try screen.show(SimulateList(isExhaustive: options.exhaustive))
            isGood = true
        } else if options.exhaustive {
            isGood = try SimulateExhaustive(options: options, screen: screen).run()
        } else {
            isGood = try SimulateSeeds(options: options, screen: screen).run()
        }
        if !isGood { throw ExitCode(CommandFailure.Code.finding.rawValue) }
    }
}
