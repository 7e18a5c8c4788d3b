public import PaymentCore
public import Reconciler

/// A witness in memory, for tests: ``WitnessModel`` behind an actor and a clock.
public actor MemoryWitness: SiteWitness {
    private var model = WitnessModel()
    private let clock: @Sendable () -> Timestamp

    /// A witness that nobody has asked yet.
    public init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// What is there.
    public func look(for site: SiteName, skew: Span) async throws(StoreFailure) -> PromotionEvidence.Witness {
        model.look(for: site, skew: skew, at: clock())
    }

    /// Prolongs the right of a site in a term; takes it if nobody has it.
    public func renew(
        _ site: SiteName, epoch: Int64, lease: Span, skew: Span
    ) async throws(StoreFailure) -> Bool {
        model.write(site, epoch: epoch, lease: lease, skew: skew, at: clock())
    }

    /// Takes the right for a new term.
    public func take(
        _ site: SiteName, epoch: Int64, lease: Span, skew: Span, isFenced: Bool
    ) async throws(StoreFailure) -> Bool {
        model.write(site, epoch: epoch, lease: lease, skew: skew, isFenced: isFenced, at: clock())
    }

    /// Gives the right back.
    public func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure) {
        model.release(site, epoch: epoch)
    }
}
