public import PaymentCore

/// A witness as a value: its identity, and one row that says which site has the right to act, and until when, by the
/// witness's own clock. The rules of ``SiteWitness``; each call says what time it is there.
///
/// It is also the document that ``ConditionalWitness`` keeps. Its names are a format: other versions read it.
public struct WitnessModel: Sendable, Hashable, Codable {
    private struct Right: Sendable, Hashable, Codable {
        var epoch: Int64
        var site: SiteName
        var until: Timestamp
    }

    private var identity: WitnessID?
    private var right: Right?

    /// A witness that nobody has asked yet.
    public init() {}

    /// Gives it an identity if it has none.
    public mutating func found(as identity: WitnessID) { self.identity = self.identity ?? identity }

    /// What is there.
    public func look(skew: Span, at now: Timestamp) -> WitnessContent {
        let right = right.map {
            WitnessContent.Right(epoch: $0.epoch, site: $0.site, left: $0.until + skew - now)
        }
        return WitnessContent(identity: identity, right: right)
    }

    /// Prolongs the right of a site in a term, or takes it if nobody has it; `false` if another site has it. With
    /// `isFenced`, whoever has it. A site's right never ends earlier than it did: another replica may hold it longer.
    ///
    /// - Parameters:
    ///   - now: The earliest that it may be there: a right of another site is over by then or not.
    ///   - latest: The latest that it may be there, where its clock is read coarsely: a lease begins then.
    /// - Throws: ``StoreFailure`` if it is not the witness that the site's row knows.
    public mutating func write(
        _ claim: WitnessClaim, isFenced: Bool = false, at now: Timestamp, atLatest latest: Timestamp? = nil
    ) throws(StoreFailure) -> Bool {
        let content = look(skew: claim.skew, at: now)
        if let doubt = content.refusal(of: claim.site, epoch: claim.epoch, knowing: claim.witness) {
            throw doubt.failure
        }
        var until = (latest ?? now) + claim.lease
        if let right {
            let isOwn = right.site == claim.site && right.epoch <= claim.epoch
            let isFree = right.epoch < claim.epoch && (isFenced || right.until + claim.skew <= now)
            guard isOwn || isFree else { return false }
            if right.site == claim.site { until = max(until, right.until) }
        }
        right = Right(epoch: claim.epoch, site: claim.site, until: until)
        return true
    }

    /// Gives the right back.
    public mutating func release(_ site: SiteName, epoch: Int64) {
        guard right?.site == site, right?.epoch == epoch else { return }
        right?.until = Timestamp(milliseconds: 0)
    }
}
