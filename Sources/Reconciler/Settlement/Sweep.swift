public import PaymentCore

/// Decides when to look for due payments and how many to take: a synchronous machine.
///
/// It finds by state, never by events alone: whatever is in doubt, was left between intent and call by a crash, or is
/// past its deadline has a due time in its row. Overdue has no lower bound. A provider that is slow or down fills only
/// its own share of the places, and new payments keep theirs.
public struct Sweep: Sendable {
    /// The bounds.
    public struct Limits: Sendable, Hashable {
        /// At most so many payments taken from the store at a time.
        public var places: Int
        /// At most so many of them whose next leg is at one provider.
        public var placesPerProvider: Int
        /// At most so many claimed by one query.
        public var batch: Int
        /// The longest time between two looks, for what other processes left behind.
        public var longestPause: Span
        /// How long a lease runs unless it is renewed.
        public var lease: Span
        /// What is due at a provider that is not configured here is left for so long to a daemon that has it.
        public var othersAfter: Span

        /// The defaults: 256 places, 64 for a provider, 64 at once, a look each second, leases of 30 seconds, a minute
        /// for daemons that have another configuration.
        public init(
            places: Int = 256, placesPerProvider: Int = 64, batch: Int = 64, longestPause: Span = .seconds(1),
            lease: Span = .seconds(30), othersAfter: Span = .minutes(1)
        ) {
            self.places = places
            self.placesPerProvider = placesPerProvider
            self.batch = batch
            self.longestPause = longestPause
            self.lease = lease
            self.othersAfter = othersAfter
        }
    }

    /// What to do next.
    public enum Step: Sendable, Hashable {
        /// Claim.
        case claim(ClaimRequest)
        /// Ask the store when something is due, then pause.
        case pause(atMost: Span)
    }

    private let limits: Limits
    private let holder: String
    private let providers: [ProviderName]
    private var taken: [PaymentID: ProviderName?] = [:]
    private var used: [ProviderName: Int] = [:]
    private var mayBeMore = true
    /// The providers at which the last claim was cut short by the room there was: more may be due at them.
    private var cut: Set<ProviderName> = []

    /// A sweep for a holder, over the providers of the configuration.
    public init(holder: String, providers: [ProviderName], limits: Limits = Limits()) {
        self.holder = holder
        self.providers = providers.sorted()
        self.limits = limits
    }

    /// Payments that were claimed and are not finished.
    public var takenCount: Int { taken.count }

    /// From where it claims.
    public var scope: DueScope { DueScope(providers: Set(providers), othersAfter: limits.othersAfter) }

    /// What to do next.
    public mutating func next() -> Step {
        let free = limits.places - taken.count
        guard mayBeMore else { return .pause(atMost: limits.longestPause) }
        guard free > 0 else {
            cut = Set(providers)
            return .pause(atMost: limits.longestPause)
        }
        // What ends while the claim is on its way is seen when its answer is here.
        cut = []
        return .claim(
            ClaimRequest(
                holder: holder, limit: min(free, limits.batch), leaseFor: limits.lease,
                limitPerProvider: Dictionary(uniqueKeysWithValues: providers.map { ($0, room(at: $0)) }),
                othersAfter: limits.othersAfter))
    }

    /// What a claim brought.
    public mutating func claimed(_ payments: [(id: PaymentID, provider: ProviderName?)], asked request: ClaimRequest) {
        var brought: [ProviderName: Int] = [:]
        for payment in payments where taken.updateValue(payment.provider, forKey: payment.id) == nil {
            guard let provider = payment.provider else { continue }
            brought[provider, default: 0] += 1
            used[provider, default: 0] += 1
        }
        // Had it been cut short by the number alone, there may be more at every provider.
        cut = Set(
            payments.count >= request.limit
                ? providers : providers.filter { brought[$0, default: 0] >= request.limitPerProvider[$0, default: 0] })
        mayBeMore = isWorthAClaim
    }

    /// How many that wait for a provider may be claimed now, besides what is due; 0 until a quarter of its places is
    /// free.
    public func roomForWaiting(at provider: ProviderName) -> Int {
        guard used[provider, default: 0] * 4 <= limits.placesPerProvider * 3 else { return 0 }
        return min(room(at: provider), limits.places - taken.count, limits.batch)
    }

    /// Payments were claimed that wait for a provider: they have places like any other.
    public mutating func claimedWaiting(_ payments: [PaymentID], at provider: ProviderName) {
        for payment in payments where taken.updateValue(provider, forKey: payment) == nil {
            used[provider, default: 0] += 1
        }
    }

    /// A claim failed: it is made again after the pause.
    public mutating func claimFailed() { mayBeMore = false }

    /// A payment is finished; if it had been claimed, its place is free. `true` if it is worth a claim by now, where
    /// the last one was cut short.
    public mutating func finished(_ id: PaymentID) -> Bool {
        guard let provider = taken.removeValue(forKey: id) else { return false }
        if let provider { used[provider, default: 0] -= 1 }
        guard isWorthAClaim else { return false }
        cut = []
        return true
    }

    /// A quarter of the places is free: a claim for each place alone would cost more than it brings.
    private var isWorthAClaim: Bool {
        taken.count * 4 <= limits.places * 3
            && cut.contains { used[$0, default: 0] * 4 <= limits.placesPerProvider * 3 }
    }

    private func room(at provider: ProviderName) -> Int {
        max(0, limits.placesPerProvider - used[provider, default: 0])
    }

    /// The pause is over, or somebody says that something is due.
    public mutating func woke() { mayBeMore = true }
}
