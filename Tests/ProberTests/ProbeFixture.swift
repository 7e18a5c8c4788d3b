import HTTPTransport
import Logging
import PaymentCore
import ProviderSimulator
import Providers

@testable import Prober
@testable import Reconciler

/// A probe at a simulated provider, over real sockets.
struct ProbeFixture {
    let control: SimulatorControl
    let clock: VirtualClock
    let port: Int
    let sender: CurlSender

    /// Runs a simulator of these providers for one test.
    static func run(
        _ providers: [ProviderConfiguration], _ body: @Sendable (ProbeFixture) async throws -> Void
    ) async throws {
        let clock = VirtualClock()
        let server = try ProviderSimulatorServer(
            SimulatorConfiguration(providers: providers), clock: clock.ofSimulator, logger: .quiet)
        let sender = CurlSender(configuration: CurlConfiguration(http2: false, allowPlainHTTP: true))
        try await server.whileRunning { port in
            do {
                try await body(
                    ProbeFixture(control: server.control, clock: clock, port: port, sender: sender))
            } catch {
                await sender.shutdown(grace: .seconds(1))
                throw error
            }
            await sender.shutdown(grace: .seconds(1))
        }
    }

    static func settings(run: String, value: Int64 = 1_000) throws -> ProbeSettings {
        let yen = try Money(value, Currency(code: "JPY") ?? { throw WrongFixture() }())
        var settings = ProbeSettings(run: run, amount: yen, instrument: try Instrument(token: "tok_approves_1"))
        settings.patience = .seconds(10)
        return settings
    }

    func provider(
        _ name: String, _ contract: ProviderContract, adapter: ProviderAdapter = .reference
    ) throws -> any PaymentProvider {
        var contract = contract
        contract.requestsPerSecond = 1_000_000
        let settings = ProviderSettings(
            name: try ProviderName(name), adapter: adapter,
            address: try ProviderAddress("http://127.0.0.1:\(port)/\(name)"), contract: contract,
            tokens: ReplaceableToken(BearerToken("key:secret:merchant")), limits: TimeLimits(firstByte: .seconds(20)))
        let assembly = ProviderAssembly(
            sender: sender, connections: contract.concurrency, clock: clock, logger: .quiet)
        guard let assembled = try assembly.assemble([settings]).values.first else { throw WrongFixture() }
        return assembled.provider
    }

    func prober(
        _ name: String, _ contract: ProviderContract, _ settings: ProbeSettings, offset: Span = .zero,
        adapter: ProviderAdapter = .reference
    ) throws -> Prober {
        let reading = ProviderClocks.Reading(offset: offset, uncertainty: .seconds(1), isInDoubt: false)
        return try Prober(provider: provider(name, contract, adapter: adapter), clock: clock, settings: settings) {
            reading
        }
    }
}

/// The fixture itself is wrong.
struct WrongFixture: Error {}

extension Logger {
    /// Only what is critical.
    static var quiet: Logger {
        var logger = Logger(label: "prober-test")
        logger.logLevel = .critical
        return logger
    }
}
