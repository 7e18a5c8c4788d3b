import ArgumentParser
import ProgramEdge
import Simulation
import Testing

@testable import Lab

@Suite struct SimulateCommandTests {
    func parse(_ text: String) throws -> SimulateOptions {
        try SimulateCommand.parse(text.split(separator: " ").map(String.init)).options
    }

    /// What a person is told about options that make no sense; nil if they do.
    func refusal(_ text: String) -> String? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            return SimulateCommand.message(for: error)
        }
    }

    @Test func `the command of a timeline is read as what it names`() throws {
        let reduction = Reduction(
            keptPayments: [3, 7], withoutKinds: [.requestLost, .throttled], withoutFaults: [0xA, .max])
        let command = reduction.command(seed: 97, plant: .none)
        let options = try parse(String(command.dropFirst("reconciled-lab simulate ".count)))
        #expect(options.seeds == 1)
        #expect(options.from == 97)
        #expect(options.timeline)
        #expect(try options.reduction() == reduction)
    }

    @Test func `without options nothing is left out, and a failing run is made small`() throws {
        let options = try parse("--seeds 10")
        #expect(try options.reduction() == Reduction())
        #expect(options.shrink)
        #expect(try !parse("--seeds 10 --no-shrink").shrink)
    }

    @Test(
        arguments: [
            ("", "one of --seeds, --exhaustive and --list"),
            ("--seeds 5 --exhaustive", "two different things"),
            ("--seeds 0", "--seeds: '0'; allowed: 1 to 10000000"),
            ("--seeds 1 --keep-payments 3,x", "--keep-payments: 'x'; allowed: places from 0"),
            ("--seeds 1 --keep-payments -1,2", "keep-payments"),
            ("--seeds 1 --keep-payments 3,,4", "--keep-payments: ''"),
            ("--seeds 1 --without request_lost,moonlight", "--without: 'moonlight'; allowed: request_lost, "),
            ("--seeds 1 --without-faults 5f,zz", "--without-faults: 'zz'; allowed: hexadecimal"),
            ("--seeds 2 --timeline", "--timeline: needs --seeds 1"),
            ("--seeds 1 --timeline --lines 5", "--lines: '5'; allowed: 10 to 10000000"),
            ("--seeds 1 --timeline --plant all", "--timeline: needs one --plant"),
            ("--exhaustive --from 3", "--from: has no meaning with --exhaustive"),
            ("--exhaustive --minimum-faults 3", "--minimum-faults: has no meaning with --exhaustive"),
            ("--exhaustive --limit 0", "--limit: '0'"),
            ("--seeds 3 --quick", "--quick: has no meaning with --seeds"),
            ("--seeds 3 --scenario legs", "--scenario: has no meaning with --seeds"),
            ("--seeds many", "many"),
        ])
    func `options that make no sense are refused with what is allowed`(text: String, words: String) throws {
        let told = try #require(refusal(text))
        #expect(told.contains(words), "\(told)")
    }

    @Test(
        arguments: [
            "--seeds 3 --plant nothingLikeIt --output json", "--exhaustive --plant nothingLikeIt --output json",
        ]
    )
    func `an unknown plant is refused with the names of those there are`(text: String) throws {
        let command = try SimulateCommand.parse(text.split(separator: " ").map(String.init))
        let failure = try #require(throws: CommandFailure.self) { try command.run() }
        #expect(failure.code == .usage)
        #expect(failure.message.contains("'nothingLikeIt'; allowed: all, "))
    }

    @Test func `an unknown scenario is refused`() throws {
        let command = try SimulateCommand.parse(["--exhaustive", "--scenario", "moonlight", "--output", "json"])
        let failure = try #require(throws: CommandFailure.self) { try command.run() }
        #expect(failure.code == .usage)
    }

    @Test func `too few faults and situations that never came about are shortcomings when they are asked for`() {
        let quiet = Reduction(keptPayments: [9], withoutKinds: FaultKind.allCases)
        var runner = SeedRunner(from: 1, count: 1, reduction: quiet)
        _ = runner.finish()
        func summary(_ minimum: Int?, _ every: Bool) -> SeedSummary {
            SeedSummary(
                runner.tally, runner.coverage, seconds: .seconds(1), minimumFaults: minimum,
                needsEverySituation: every)
        }
        #expect(summary(nil, false).shortcomings.isEmpty)
        #expect(summary(1, false).shortcomings == ["only 0 faults; 1 were asked for"])
        let missed = runner.coverage.missedSituations.count + runner.coverage.missedRows.count
        #expect(missed > 0 && summary(nil, true).shortcomings.count == missed)
        #expect(!summary(nil, true).isGood)
    }
}
