public import PaymentCore

/// A witness as a value: one row that says which site has the right to act, and until when, by the witness's own clock.
/// The rules of ``SiteWitness``; each call says what time it is there.
public struct WitnessModel: Sendable {
    private struct Right: Sendable {
        var epoch: Int64
        var site: SiteName
        var until: Timestamp
    }

    private var right: Right?

    /// A witness that nobody has asked yet.
    public init() {}

    /// What is there, for a site that wants to be active.
    public func look(for site: SiteName, skew: Span, at now: Timestamp) -> PromotionEvidence.Witness {
        guard let right, right.site != site, right.until + skew > now else { return .free }
        return .held(for: right.until + skew - now)
    }

    /// Prolongs the right of a site in a term, or takes it if nobody has it; `false` if another site has it. With
    /// `isFenced`, whoever has it. A site's right never ends earlier than it did: another replica may hold it longer.
    public mutating func write(
        _ site: SiteName, epoch: Int64, lease: Span, skew: Span, isFenced: Bool = false, at now: Timestamp
    ) -> Bool {
        var until = now + lease
        if let right {
            let isOwn = right.site == site && right.epoch <= epoch
            let isFree = right.epoch < epoch && (isFenced || right.until + skew <= now)
            guard isOwn || isFree else { return false }
            if right.site == site { until = max(until, right.until) }
        }
        right = Right(epoch: epoch, site: site, until: until)
        return true
    }

    /// Gives the right back.
    public mutating func release(_ site: SiteName, epoch: Int64) {
        guard right?.site == site, right?.epoch == epoch else { return }
        right?.until = Timestamp(milliseconds: 0)
    }
}
