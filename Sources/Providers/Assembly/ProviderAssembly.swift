public import HTTPTransport
public import Logging
public import PaymentCore
public import Reconciler

/// Puts the providers together: one middleware stack for each, around one sender for all of them.
public struct ProviderAssembly: Sendable {
    /// Why providers cannot be put together.
    public enum Failure: Error, Sendable, Hashable {
        /// Two have the same name.
        case duplicateName(ProviderName)
        /// One provider alone could take all connections of the sender, and hold the others up by being slow.
        case tooFewConnections(needed: Int, available: Int)
    }

    /// A provider, and what operators want to see of its stack.
    public struct Assembled: Sendable {
        /// The provider.
        public let provider: any AdaptedProvider
        /// Its breaker.
        public let breaker: CircuitBreaking
        /// Its budget.
        public let budget: BudgetLimit
        /// The limit of each of its endpoints, where it has one.
        let endpoints: EndpointLimit?

        /// Promises room in time to one more charge of this caller; `false` if there is none.
        public func promise(to caller: CallerID) -> Bool {
            endpoints?.promise(lane: caller.name) != false && budget.promise(lane: caller.name)
        }
    }

    private let sender: any HTTPSender
    private let connections: Int
    private let store: StoreID?
    private let clock: any WallClock
    private let clocks: ProviderClockWatch
    private let logger: Logger

    /// - Parameters:
    ///   - sender: the wire, shared by all providers.
    ///   - connections: how many requests the sender has on the wire at one time; see
    ///     ``connectionsNeeded(for:)``.
    ///   - store: whose transactions are sent; it goes to the providers in the metadata.
    ///   - clock: the time.
    ///   - clocks: hears from each answer what time it is at the provider.
    ///   - logger: gets a line for each request, with neither header nor path nor body.
    public init(
        sender: any HTTPSender, connections: Int, store: StoreID? = nil, clock: any WallClock,
        clocks: ProviderClockWatch = ProviderClockWatch(), logger: Logger
    ) {
        self.sender = sender
        self.connections = connections
        self.store = store
        self.clock = clock
        self.clocks = clocks
        self.logger = logger
    }

    /// How many connections the shared sender needs so that no provider ever waits for another's.
    public static func connectionsNeeded(for settings: [ProviderSettings]) -> Int {
        settings.reduce(0) { sum, provider in
            let (next, overflow) = sum.addingReportingOverflow(max(1, provider.contract.concurrency))
            return overflow ? .max : next
        }
    }

    /// Puts every provider together, by name.
    ///
    /// - Throws: if two have the same name, or the sender has fewer connections than all of them together may
    ///   use.
    public func assemble(_ settings: [ProviderSettings]) throws(Failure) -> [ProviderName: Assembled] {
        let needed = Self.connectionsNeeded(for: settings)
        guard needed <= connections else { throw .tooFewConnections(needed: needed, available: connections) }
        var assembled: [ProviderName: Assembled] = [:]
        for provider in settings {
            guard assembled[provider.name] == nil else { throw .duplicateName(provider.name) }
            assembled[provider.name] = assemble(provider)
        }
        return assembled
    }

    private func assemble(_ settings: ProviderSettings) -> Assembled {
        let breaker = CircuitBreaking(settings.breaker, isFailure: settings.adapter.isFailure)
        let budget = BudgetLimit(settings.budget)
        var logger = logger
        logger[metadataKey: "provider"] = "\(settings.name.name)"
        // From the outside to the wire. The order carries meaning:
        var layers: [any Middleware] = [
            // Log and metrics see every request, those that the layers below refuse included.
            RequestLog(logger: logger),
            RequestMetrics(provider: settings.name.name),
            TraceHeader(),
            // The deadline before everything that waits, so that waiting counts against it.
            DeadlineLimit(),
            // A double submission is refused before it takes a probe of the breaker or a place of the budget.
            SingleFlight(),
            // The breaker before the budget: what will not be sent must not queue.
            breaker,
        ]
        // Each endpoint's rate before the budget: what waits for one endpoint takes no place from another.
        let endpoints = settings.endpointLimit
        if let endpoints { layers.append(endpoints) }
        layers += [
            budget,
            // Below everything that waits: what is measured is the time on the wire.
            AnswerTime(
                provider: settings.name, skew: settings.contract.clockSkew, clock: clock, watch: clocks,
                logger: logger),
            // The credentials last: only a request that goes out needs them, they are as fresh as can be, the
            // secret is seen by no other layer, and what is signed is what is sent.
            settings.adapter.authorization(settings.tokens, clock),
        ]
        let client = ProviderClient(
            address: settings.address, sender: MiddlewareStack(layers, sender: sender),
            limits: settings.limits)
        let parts = AdapterParts(
            name: settings.name, contract: settings.contract, store: store, conversion: settings.conversion,
            client: client, clock: clock, tokens: settings.tokens)
        return Assembled(provider: settings.adapter.make(parts), breaker: breaker, budget: budget, endpoints: endpoints)
    }
}
