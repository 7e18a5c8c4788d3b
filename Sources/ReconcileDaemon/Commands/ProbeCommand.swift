import ArgumentParser
import Foundation
import HTTPTransport
import Logging
import PaymentCore
import Prober
import ProgramEdge
import Providers
import Reconciler

struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Measures what a provider really does, on its sandbox.",
        discussion: """
            Sends payments of its own through the provider's adapter, reads what became of each, and gives back what it
            took. Says of every property of the contract what was seen, with the evidence, and whether the configured
            contract claims more. What could not be measured is said, and stays as it is configured.

            A run that was stopped is undone by its name: reconciled probe --undo NAME, with the same configuration.

            Examples:
              reconciled probe --config reconciled.yaml --provider card --sandbox \\
                --amount 100 --currency JPY --instrument tok_visa --declined-instrument tok_declined
              reconciled probe --config reconciled.yaml --provider card --sandbox --only keys --only cancels \\
                --amount 100 --currency JPY --instrument tok_visa --wait 10m --write contract.yaml

            Exit codes: 0 the configured contract claims no more than was seen, 1 it does, or the adapter took an answer
            for proof that nothing was executed and it was wrong, or something was left behind, 2 usage, 3 the provider
            cannot be probed.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The provider; may be left out where one is configured.") var provider: String?
    @Flag(help: "Says that no real money moves at the configured address. Nothing is sent without it.")
    var sandbox = false
    @Option(help: "The most that one transaction may take, in minor units of the currency; at least 4.")
    var amount: Int64
    @Option(help: "An ISO 4217 code.") var currency: String
    @Option(help: "What approves, as the sandbox names it.") var instrument: String
    @Option(help: "What declines; without it declines are not looked at.") var declinedInstrument: String?
    @Option(help: "What the provider does not know; without it no request is sent with such an instrument.")
    var unknownInstrument: String?
    @Option(help: "Only this, and it may be said several times: \(ProbeCommand.allowedParts).") var only: [String] = []
    @Option(help: "How long something may take to show.") var patience = "20s"
    @Option(help: "How long to wait before keys, statuses and cancels are tried again.") var wait = "0s"
    @Option(help: "The highest rate to try, in requests per second, 1 to 1000.") var highestRate = 20
    @Option(help: "The run's name, 1 to 32 of a-z, 0-9 and -; drawn by chance if it is left out.") var run: String?
    @Option(help: "Only gives back what the run of this name took.") var undo: String?
    @Option(help: "Writes the contract with its evidence to this file.") var write: String?
    @Option(help: "text or json.") var output: OutputFormat?

    static let allowedParts = ProbePart.allCases.map(\.rawValue).joined(separator: ", ")

    func run() async throws {
        let settings = try settings()
        let configured = try chosen(try options.load())
        guard configured.contract.inquiry != .byResend else {
            throw CommandFailure(
                .unavailable,
                "\(configured.name) cannot be asked (inquiry: by_resend), and the probe asks what became of a payment; "
                    + "allowed: a provider whose status can be read")
        }
        let format = OutputFormat.chosen(output)
        let watch = ProviderClockWatch()
        var probed = configured
        // Neither our own limits nor our breaker must answer in the provider's place.
        probed.contract.requestsPerSecond = max(10 * settings.highestRate, configured.contract.requestsPerSecond)
        probed.contract.endpointRequestsPerSecond = configured.contract.endpointRequestsPerSecond.map {
            max(10 * settings.highestRate, $0)
        }
        probed.contract.concurrency = max(settings.highestRate, configured.contract.concurrency)
        probed.breakerFailurePercent = 100
        let sender = probed.sender
        let prober = try Self.prober(probed, sender, watch, settings)
        warn("probe: run \(settings.run) at \(configured.name), \(configured.url)")
        guard undo == nil else {
            let left = try await Self.told { () async throws(ProbeFailure) in try await prober.undo() }
            await sender.shutdown(grace: .seconds(1))
            return try Self.undone(left, format)
        }
        let report = await prober.run { warn("probe: \($0)") }
        await sender.shutdown(grace: .seconds(1))
        let result = ProbeResult(report: report, contract: configured.contract, run: settings.run)
        for line in result.lines(as: format) { say(line, as: format) }
        if let write { try result.write(to: write, provider: configured.name) }
        if report.failure != nil, report.leftBehind.isEmpty {
            _ = try await Self.told { () async throws(ProbeFailure) in if let failure = report.failure { throw failure }
            }
        }
        try result.judge()
    }

    private static func undone(_ left: [Prober.Remainder], _ format: OutputFormat) throws {
        for line in ProbeResult.lines(of: left, as: format) { say(line, as: format) }
        guard left.isEmpty else {
            throw CommandFailure(.finding, "\(left.count) transactions may still hold money")
        }
    }

    private static func prober(
        _ provider: Configuration.Provider, _ sender: CurlSender, _ watch: ProviderClockWatch, _ settings: ProbeSettings
    ) throws -> Prober {
        let clock = SystemClock()
        let assembly = ProviderAssembly(
            sender: sender, connections: provider.contract.concurrency, clock: clock, clocks: watch,
            logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
        guard let assembled = try assembly.assemble([try provider.settings()])[provider.name] else {
            throw CommandFailure(.unavailable, "\(provider.name) cannot be put together")
        }
        do throws(UnconvertibleAmount) {
            try assembled.provider.validate(settings.amount)
        } catch {
            throw CommandFailure(
                .usage, "--amount: \(settings.amount) cannot be charged at \(provider.name) (\(error.reason.rawValue))")
        }
        do {
            return try Prober(provider: assembled.provider, clock: clock, settings: settings) {
                watch.reading(of: provider.name)
            }
        } catch {
            throw CommandFailure(.usage, "--run: '\(settings.run)'; allowed: 1 to 32 of a-z, 0-9 and -")
        }
    }

    private static func told<Value: Sendable>(
        _ body: () async throws(ProbeFailure) -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            switch error {
            case .run: throw CommandFailure(.usage, "--run: allowed: 1 to 32 of a-z, 0-9 and -")
            case .credentials(let code):
                throw CommandFailure(.unavailable, "the provider does not take the credentials (\(code))")
            case .stopped: throw CommandFailure(.unavailable, "the probe was stopped")
            }
        }
    }

    // MARK: Options

    /// The provider that is to be probed.
    private func chosen(_ configuration: Configuration) throws -> Configuration.Provider {
        let names = configuration.providers.map(\.name.name)
        guard let wanted = provider ?? (names.count == 1 ? names[0] : nil),
            let found = configuration.providers.first(where: { $0.name.name == wanted })
        else {
            throw CommandFailure(
                .usage, "--provider: '\(provider ?? "")'; allowed: \(names.joined(separator: ", "))")
        }
        return found
    }

    /// What the options say.
    func settings() throws -> ProbeSettings {
        guard sandbox else {
            throw CommandFailure(
                .usage, "--sandbox is missing: a probe moves money, and must not be sent where that money is real")
        }
        guard let code = Currency(code: currency) else {
            throw CommandFailure(.usage, "--currency: '\(currency)'; allowed: an ISO 4217 code")
        }
        guard (4...1_000_000_000_000).contains(amount) else {
            throw CommandFailure(.usage, "--amount: '\(amount)'; allowed: 4 to 1000000000000 minor units")
        }
        guard (1...1_000).contains(highestRate) else {
            throw CommandFailure(.usage, "--highest-rate: '\(highestRate)'; allowed: 1 to 1000")
        }
        var settings = ProbeSettings(
            run: try runName(), amount: try Money(amount, code), instrument: try Self.instrument(instrument))
        settings.declinedInstrument = try declinedInstrument.map(Self.instrument)
        settings.unknownInstrument = try unknownInstrument.map(Self.instrument)
        settings.patience = try Self.span(patience, "--patience")
        settings.wait = try Self.span(wait, "--wait")
        settings.highestRate = highestRate
        if !only.isEmpty {
            settings.parts = Set(
                try only.map { text in
                    guard let part = ProbePart(rawValue: text) else {
                        throw CommandFailure(.usage, "--only: '\(text)'; allowed: \(Self.allowedParts)")
                    }
                    return part
                })
        }
        return settings
    }

    private func runName() throws -> String {
        let name = undo ?? run ?? String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let isName = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        guard isName, (1...32).contains(name.utf8.count), run == nil || undo == nil else {
            throw CommandFailure(.usage, "--run or --undo, one of them: allowed: 1 to 32 of a-z, 0-9 and -")
        }
        return name
    }

    private static func instrument(_ text: String) throws -> Instrument {
        do {
            return try Instrument(token: text)
        } catch {
            // It may be a card number: it is not repeated.
            throw CommandFailure(
                .usage,
                "--instrument, --declined-instrument, --unknown-instrument: allowed: 1 to 128 visible ASCII, and no "
                    + "card number")
        }
    }

    private static func span(_ text: String, _ option: String) throws -> Span {
        guard let span = DurationText.parse(text) else {
            throw CommandFailure(.usage, "\(option): '\(text)'; allowed: \(DurationText.allowed)")
        }
        return span
    }
}
