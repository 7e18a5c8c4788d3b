import GRDB
import Hummingbird
public import Logging
import NIOCore

/// Several providers of the reference contract in one listener, each under `/{name}/transactions…`, with a
/// common control API under `/_control/`.
public struct ProviderSimulatorServer: Sendable {
    /// Orders faults and reads ledgers, whether the listener runs or not.
    public let control: SimulatorControl
    private let configuration: SimulatorConfiguration
    private let processor: RequestProcessor
    private let logger: Logger

    /// Opens the ledger.
    /// - Throws: `SimulatorError` where the configuration cannot work; the database's error where the file
    ///   cannot be used.
    public init(
        _ configuration: SimulatorConfiguration, clock: SimulatorClock = .system,
        logger: Logger = Logger(label: "provider-simulator")
    ) throws {
        try configuration.validate()
        let named = configuration.providers.map { ($0.name, $0) }
        let providers = Dictionary(uniqueKeysWithValues: named)
        let database = try LedgerDatabase.open(
            path: configuration.database, durability: configuration.durability)
        let desk = FaultDesk(seed: configuration.seed, rates: providers.mapValues(\.rates))
        let contracts = ContractDesk(providers.mapValues(\.contract))
        self.configuration = configuration
        self.logger = logger
        processor = RequestProcessor(database: database, desk: desk, clock: clock, contracts: contracts)
        control = SimulatorControl(
            database: database, desk: desk, contracts: contracts, clock: clock, wires: providers.mapValues(\.wire),
            notifiers: providers.compactMapValues(SimulatorControl.Notifier.init))
    }

    /// Serves until the task is cancelled, then returns.
    ///
    /// Requests that wait are cut off; what was answered is committed.
    /// - Parameter onReady: is told the port, once requests are accepted.
    public func run(onReady: @escaping @Sendable (Int) async -> Void) async throws {
        var listenerLogger = logger
        // A cancelled listener calls its end an error. One that could not start throws, and is not silenced
        // by this.
        listenerLogger.logLevel = .critical
        let application = Application(
            responder: responder, server: .http1(),
            configuration: .init(
                address: .hostname(configuration.host, port: configuration.port), serverName: nil),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onReady(port) }
            }, logger: listenerLogger)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await application.run() }
                group.addTask { try await passTime() }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            // Whatever a cancelled server reports on its way down, it was asked to end.
            guard Task.isCancelled else { throw error }
        }
    }

    /// Serves on behalf of `body`, and ends when it does.
    /// - Parameter body: gets the port.
    public func whileRunning<Result: Sendable>(_ body: (Int) async throws -> Result) async throws -> Result {
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announcement.finish() }
                try await run { announcement.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await group.next()
                throw SimulatorError(.notStarted, "the listener ended before it was ready")
            }
            let result = try await body(port)
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }

    private var responder: SimulatorResponder {
        let readers = configuration.providers.map { provider -> (String, any WireReader) in
            let token = provider.token.map(BearerToken.init)
            switch provider.wire {
            case .reference: return (provider.name, MessageReader(provider: provider.name, token: token))
            case .stripe: return (provider.name, StripeReader(provider: provider.name, token: token))
            case .adyen:
                return (
                    provider.name, AdyenReader(provider: provider.name, keys: provider.token.flatMap { AdyenKeys($0) })
                )
            case .paypay:
                let keys = provider.token.flatMap { PayPayKeys($0) }
                return (provider.name, PayPayReader(provider: provider.name, keys: keys, now: time(of: provider.name)))
            }
        }
        return SimulatorResponder(
            processor: processor, readers: Dictionary(uniqueKeysWithValues: readers),
            control: ControlRoutes(control: control), allowsRemoteControl: configuration.allowRemoteControl)
    }

    /// The provider's own clock.
    private func time(of provider: String) -> @Sendable () -> Int64 {
        let contracts = processor.contracts
        let clock = processor.clock
        return {
            do {
                return clock.now() + (try contracts.options(of: provider)).clockOffsetMs
            } catch {
                return clock.now()
            }
        }
    }

    private func passTime() async throws {
        while true {
            try await Task.sleep(for: .milliseconds(10))
            do {
                try await processor.passTime()
            } catch is CancellationError {
                return
            } catch {
                logger.error("time did not pass for the ledger", metadata: ["error": "\(error)"])
            }
        }
    }
}
