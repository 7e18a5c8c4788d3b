import ArgumentParser
import ProgramEdge

/// What checks the daemon from outside of it: nothing of this is in the program that is deployed.
@main
struct LabCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconciled-lab",
        abstract: "Checks the decisions of reconciled, and shows the daemon settling payments that went wrong.",
        discussion: """
            Examples:
              reconciled-lab demo
              reconciled-lab simulate --seeds 1000

            Exit codes: 0 done, 1 a finding, 2 usage, 3 unavailable.
            """,
        version: BuildVersion.text, subcommands: [DemoCommand.self, SimulateCommand.self])

    static func main() async {
        await runToTheEnd()
    }
}
