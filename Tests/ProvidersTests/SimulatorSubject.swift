import HTTPTransport
import Logging
import PaymentCore
import ProviderSimulator
import Providers
import Reconciler
import Testing

/// An adapter, over real sockets, before the provider simulator.
struct SimulatorSubject: ContractSubject {
    let twoPhase: any PaymentProvider
    let onePhase: any PaymentProvider
    let impatient: any PaymentProvider
    let stranger: any PaymentProvider
    let unreachable: any PaymentProvider
    let withoutTombstones: any PaymentProvider
    var main: any PaymentProvider { twoPhase }
    let wire: SuiteWire
    let traits: Set<SuiteTrait>
    let control: SimulatorControl
    let port: Int
    let sender: CurlSender
    let clock: any WallClock

    private init(
        _ wire: SuiteWire, port: Int, control: SimulatorControl, sender: CurlSender, clock: any WallClock
    ) throws {
        func adapter(
            _ provider: String, token: String? = nil, _ contract: ProviderContract? = nil,
            firstByte: Duration = .seconds(8), port: Int
        ) throws -> any PaymentProvider {
            try wire.provider(
                provider, contract ?? wire.twoPhase, token: token, firstByte: firstByte, clock: clock, port: port,
                sender: sender)
        }
        self.clock = clock
        self.wire = wire
        self.control = control
        self.port = port
        self.sender = sender
        traits = wire.traits
        twoPhase = try adapter("card", port: port)
        onePhase = try adapter("points", wire.onePhase, port: port)
        impatient = try adapter("card", firstByte: .milliseconds(200), port: port)
        stranger = try adapter("card", token: wire.tokens.bad, port: port)
        unreachable = try adapter("card", port: 1)
        withoutTombstones = try adapter("forgetful", port: port)
    }

    /// The adapter of a provider, with both clocks so many seconds later.
    func later(by seconds: Int64, at provider: String) async throws -> any PaymentProvider {
        try control.setClockOffset(seconds * 1_000, at: provider)
        return try wire.provider(
            provider, provider == "points" ? wire.onePhase : wire.twoPhase,
            clock: LaterClock(clock: clock, by: .seconds(seconds)), port: port, sender: sender)
    }

    /// Runs a simulator and the wire for one test.
    static func run<Result: Sendable>(
        _ wire: SuiteWire = .reference, _ body: (SimulatorSubject) async throws -> Result
    ) async throws -> Result {
        let running = RunningClock()
        let clock: any WallClock = wire.clockRuns ? running : StandingClock()
        return try await withSimulator(
            #require(wire.simulated), token: wire.tokens.good, clock: wire.clockRuns ? running.ofSimulator : .system
        ) { port, control, sender in
            try await body(SimulatorSubject(wire, port: port, control: control, sender: sender, clock: clock))
        }
    }

    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) async throws {
        try control.order(FaultOrder(Self.fault(fault), operation: Self.operation(operation)), at: "card")
    }

    func books(of key: EffectKey) async throws -> SuiteBooks {
        guard let known = try await control.ledger("card", key: key.text).transaction(key.text) else {
            return SuiteBooks()
        }
        return SuiteBooks(
            holds: known.holds.count, charges: known.charges.count, net: known.net, held: known.held)
    }

    func instrument(_ behaviour: SuiteInstrument) -> String {
        switch behaviour {
        case .declined: "decline-0001"
        case .unknown: "unknown-0001"
        case .captureDeclined: "capture-decline-0001"
        case .refundDeclined: "refund-decline-0001"
        }
    }

    private static func operation(_ operation: SuiteOperation) -> ProviderSimulator.Operation {
        switch operation {
        case .authorize: .authorize
        case .capture: .capture
        case .void: .void
        case .refund: .refund
        case .inquire: .inquire
        }
    }

    private static func fault(_ fault: SuiteFault) -> Fault {
        switch fault {
        case .requestLost: return Fault(.requestLost)
        case .answerLost: return Fault(.responseLost)
        case .failsBefore: return Fault(.errorBefore)
        case .failsAfter: return Fault(.errorAfter)
        case .page: return Fault(.html)
        case .cutOff: return Fault(.truncated)
        case .statusMissing: return Fault(.missingStatus)
        case .otherAmount: return Fault(.amountChanged)
        case .throttled: return Fault(.throttled)
        case .unavailable: return Fault(.unavailable)
        case .twice: return Fault(.duplicated)
        case .slow: return measured(.slow, \.delayMs, 1_500)
        case .pending: return measured(.pending, \.delayMs, 2_000)
        case .late: return measured(.lateDelivery, \.delayMs, 2_000)
        case .staleReads: return measured(.staleInquiry, \.staleMs, 2_000)
        }
    }

    private static func measured(
        _ kind: FaultKind, _ measure: WritableKeyPath<Fault, Int64?>, _ milliseconds: Int64
    ) -> Fault {
        var fault = Fault(kind)
        fault[keyPath: measure] = milliseconds
        return fault
    }
}

/// Runs a simulator of the providers `card`, `points` and `forgetful`, and a sender, for one test.
func withSimulator<Result: Sendable>(
    _ wire: ProviderConfiguration.Wire = .reference, token: String = "good-token", clock: SimulatorClock = .system,
    _ body: (_ port: Int, SimulatorControl, CurlSender) async throws -> Result
) async throws -> Result {
    var forgetful = ContractOptions()
    forgetful.tombstoning = false
    let server = try ProviderSimulatorServer(
        SimulatorConfiguration(providers: [
            ProviderConfiguration("card", wire: wire, token: token),
            ProviderConfiguration("points", wire: wire, token: token),
            ProviderConfiguration("forgetful", wire: wire, token: token, contract: forgetful),
        ]), clock: clock, logger: .silent)
    let sender = CurlSender(configuration: CurlConfiguration(http2: false, allowPlainHTTP: true))
    let result = try await server.whileRunning { port in
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(port, server.control, sender))
        } catch {
            result = .failure(error)
        }
        await sender.shutdown(grace: .seconds(1))
        return result
    }
    return try result.get()
}

/// A clock that runs from noon on.
private struct RunningClock: WallClock {
    private let start = ContinuousClock.now

    func now() -> Timestamp {
        StandingClock.noon + .milliseconds(Int64((ContinuousClock.now - start) / .milliseconds(1)))
    }
    func sleep(until moment: Timestamp) async throws { throw CancellationError() }

    /// The same for the simulator.
    var ofSimulator: SimulatorClock { SimulatorClock { now().milliseconds } }
}

/// A clock that is ahead of another.
private struct LaterClock: WallClock {
    let clock: any WallClock
    let by: Span

    func now() -> Timestamp { clock.now() + by }
    func sleep(until moment: Timestamp) async throws { throw CancellationError() }
}

extension Logger {
    /// Only what is critical.
    static var silent: Logger {
        var logger = Logger(label: "providers-test")
        logger.logLevel = .critical
        return logger
    }
}
