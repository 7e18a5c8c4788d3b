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

        /// The defaults: 256 places, 64 for a provider, 64 at once, a look each second, leases of 30 seconds.
        public init(
            places: Int = 256, placesPerProvider: Int = 64, batch: Int = 64, longestPause: Span = .seconds(1),
            lease: Span = .seconds(30)
        ) {
            self.places = places
            self.placesPerProvider = placesPerProvider
            self.batch = batch
            self.longestPause = longestPause
            self.lease = lease
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
    private var mayBeMore = true
    private var isShortOfPlaces = false

    /// A sweep for a holder, over the providers of the configuration.
    public init(holder: String, providers: [ProviderName], limits: Limits = Limits()) {
        self.holder = holder
        self.providers = providers.sorted()
        self.limits = limits
    }

    /// Payments that were claimed and are not finished.
    public var takenCount: Int { taken.count }

    /// What to do next.
    public mutating func next() -> Step {
        let free = limits.places - taken.count
        isShortOfPlaces = isShortOfPlaces || free <= 0
        guard mayBeMore, free > 0 else { return .pause(atMost: limits.longestPause) }
        var shares: [ProviderName: Int] = [:]
        for provider in providers {
            let used = taken.values.count { $0 == provider }
            shares[provider] = max(0, limits.placesPerProvider - used)
        }
        return .claim(
            ClaimRequest(
                holder: holder, limit: min(free, limits.batch), leaseFor: limits.lease, limitPerProvider: shares))
    }

    /// What a claim brought.
    public mutating func claimed(_ payments: [(id: PaymentID, provider: ProviderName?)], asked: Int) {
        for payment in payments { taken[payment.id] = .some(payment.provider) }
        // Less than asked for: nothing more is due, or only at providers whose share is used up.
        mayBeMore = payments.count >= asked
        let shares = Dictionary(grouping: taken.values, by: { $0 }).values.map(\.count)
        isShortOfPlaces = mayBeMore || shares.contains { $0 >= limits.placesPerProvider }
    }

    /// A payment is finished; if it had been claimed, its place is free. `true` if something may be waiting for it.
    public mutating func finished(_ id: PaymentID) -> Bool {
        guard taken.removeValue(forKey: id) != nil, isShortOfPlaces else { return false }
        isShortOfPlaces = false
        return true
    }

    /// The pause is over, or somebody says that something is due.
    public mutating func woke() { mayBeMore = true }
}
