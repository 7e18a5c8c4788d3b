public import HTTPTransport
public import PaymentCore

/// Everything that is configured of one provider.
public struct ProviderSettings: Sendable {
    /// Its name in the configuration.
    public var name: ProviderName
    /// How it is spoken to.
    public var adapter: ProviderAdapter
    /// Where it is.
    public var address: ProviderAddress
    /// What it can do.
    ///
    /// Its rate and concurrency become the budget.
    public var contract: ProviderContract
    /// Where its tokens come from.
    public var tokens: any TokenSource
    /// How long each part of a request may take.
    public var limits: TimeLimits
    /// How many requests may wait for a place; more are refused at once.
    public var queue: Int
    /// How long a request waits for a place at most.
    public var longestWait: Duration
    /// When it is no longer called because it keeps failing.
    public var breaker: Breaker.Settings
    /// How it counts amounts, if not in minor units of the currency.
    public var conversion: AmountConversion?

    /// Settings with the defaults of a provider on the internet.
    public init(
        name: ProviderName, adapter: ProviderAdapter = .reference, address: ProviderAddress,
        contract: ProviderContract, tokens: any TokenSource, limits: TimeLimits = TimeLimits(), queue: Int = 256,
        longestWait: Duration = .seconds(5), breaker: Breaker.Settings = Breaker.Settings(),
        conversion: AmountConversion? = nil
    ) {
        self.name = name
        self.adapter = adapter
        self.address = address
        self.contract = contract
        self.tokens = tokens
        self.limits = limits
        self.queue = queue
        self.longestWait = longestWait
        self.breaker = breaker
        self.conversion = conversion
    }

    /// The budget that the contract allows.
    ///
    /// A tenth of a second's requests may start at once after a pause.
    var budget: RequestBudget.Settings {
        RequestBudget.Settings(
            perSecond: Double(contract.requestsPerSecond), burst: max(1, contract.requestsPerSecond / 10),
            concurrent: contract.concurrency, queue: queue, longestWait: longestWait)
    }

    /// The limit of each endpoint; `nil` where the contract has only one over all.
    var endpointLimit: EndpointLimit? {
        contract.endpointRequestsPerSecond.map { rate in
            EndpointLimit(perSecond: Double(rate), burst: max(1, rate / 10), longestWait: longestWait)
        }
    }
}
