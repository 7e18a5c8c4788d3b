/// Decides whether a process may act for its site, and until when: a synchronous machine. What it is told comes from
/// the store and from the proof of the lease; moments are of the process's own steady clock.
///
/// A lease counts from before its renewal was sent, so that it ends here before it ends for whoever waits for that by
/// the database's clock. It is never prolonged by the site's own database alone.
public struct SiteMachine: Sendable {
    /// What the configuration says.
    public struct Settings: Sendable, Hashable {
        /// This process's site.
        public var site: SiteName
        /// From where its right to act is renewed.
        public var proof: SiteProofKind
        /// How long a renewal lasts.
        public var lease: Span
        /// How long before its end nothing is begun any more.
        public var margin: Span
        /// The other site, where its daemon can be asked; `nil` where there is none.
        public var peer: SiteName?
        /// How long a site that nobody follows may have stood still, and act again although the other one is silent.
        public var resumesAloneWithin: Span

        /// Settings; the margin is a tenth of the lease.
        public init(
            site: SiteName, proof: SiteProofKind, lease: Span, peer: SiteName? = nil,
            resumesAloneWithin: Span = .minutes(15)
        ) {
            self.site = site
            self.proof = proof
            self.lease = lease
            self.peer = peer
            self.resumesAloneWithin = resumesAloneWithin
            margin = Span(milliseconds: lease.milliseconds / 10)
        }
    }

    /// What it is told.
    public enum Input: Sendable, Hashable {
        /// The row was read by a question that began at a moment, from a database that takes writes or does not, and
        /// whose clock said `now`.
        case read(SiteRow, isWritable: Bool, began: SteadyMoment, now: Timestamp? = nil)
        /// The other site was asked.
        case peer(PeerAnswer)
        /// The right to act in a term was renewed, by a request that began at a moment.
        case proven(epoch: Int64, began: SteadyMoment)
        /// It could not be renewed.
        case unproven(String)
        /// The store refused a write of a term.
        case refused(epoch: Int64)
    }

    private struct Known: Sendable {
        var row: SiteRow
        var isWritable: Bool
        var began: SteadyMoment
    }

    private struct Proof: Sendable {
        var epoch: Int64
        var until: SteadyMoment
    }

    private let settings: Settings
    private var known: Known?
    private var proof: Proof?
    private var failure = "it was not asked for yet"
    private var refusedEpoch: Int64 = 0
    /// What the other site said last.
    private var peer: PeerAnswer?
    /// The newest term that the other site told of, since people last said what keeps it down.
    private var peerTerm: (epoch: Int64, site: SiteName?) = (0, nil)
    /// Whether the other site ever answered.
    private var peerAnswered = false
    /// The newest term that the site may lead without a lease although the other one is silent.
    private var resumedEpoch: Int64 = 0

    /// A machine that knows nothing yet.
    public init(_ settings: Settings) { self.settings = settings }

    /// The row that was read last.
    public var row: SiteRow? { known?.row }

    /// Takes in what became known.
    public mutating func handle(_ input: Input) {
        switch input {
        case .read(let row, let isWritable, let began, let now):
            // Answers may overtake each other; a term never goes back.
            if let known, row.epoch < known.row.epoch || row.epoch == known.row.epoch && began < known.began { return }
            if mayResume(row, at: now) { resumedEpoch = row.epoch }
            // People said what keeps the other site down, so what it told before that says nothing of this term. It is
            // believed again as soon as it tells something.
            if let known, known.row.epoch < row.epoch, row.term?.fencedBy != nil { peerTerm = (0, nil) }
            known = Known(row: row, isWritable: isWritable, began: began)
        case .peer(let answer):
            peer = answer
            guard case .knows(let epoch, let site) = answer else { return }
            peerAnswered = true
            if epoch >= peerTerm.epoch { peerTerm = (epoch, site) }
        case .proven(let epoch, let began):
            let until = began + (settings.lease - settings.margin)
            if let proof, proof.epoch > epoch || proof.epoch == epoch && proof.until > until { return }
            proof = Proof(epoch: epoch, until: until)
        case .unproven(let reason):
            failure = reason
        case .refused(let epoch):
            refusedEpoch = max(refusedEpoch, epoch)
        }
    }

    /// What may be done at a moment.
    public func standing(at now: SteadyMoment) -> SiteStanding {
        var standing = SiteStanding(
            epoch: nil, mode: known?.row.mode ?? .full, isDraining: known?.row.phase == .draining, until: nil,
            refusal: .notKnownYet, activeSite: known?.row.term?.site, recoveries: known?.row.recoveries ?? [])
        guard let known else { return standing }
        standing.refusal = refusal(known)
        // The other site may know better than this one's database.
        if case .otherSite(let site, _) = standing.refusal { standing.activeSite = site }
        guard standing.refusal == nil else { return standing }
        standing.until = leaseEnd(known)
        if let until = standing.until, until <= now {
            standing.refusal = .leaseRanOut(failure)
        } else {
            standing.epoch = known.row.epoch
        }
        return standing
    }

    /// Whatever forbids to act, but for the lease's end.
    private func refusal(_ known: Known) -> SiteRefusal? {
        guard let term = known.row.term else { return .noTerm }
        guard term.site == settings.site else { return .otherSite(term.site, epoch: term.epoch) }
        switch known.row.phase {
        case .drained: return .drained
        case .demoted: return .demoted
        case .active, .draining: break
        }
        guard term.epoch > refusedEpoch else { return .termEnded(epoch: term.epoch) }
        guard known.isWritable else { return .databaseIsStandby }
        guard settings.proof != .none || known.row.leaseUntil == nil else { return .leaseGivenUp }
        return peerRefusal(known, term)
    }

    /// Whether this is no copy of long ago, whatever the other site says: this process saw the term begin, people said
    /// in it what keeps the other one down, or the site acted a short while ago.
    private func mayResume(_ row: SiteRow, at now: Timestamp?) -> Bool {
        guard let term = row.term, term.site == settings.site else { return false }
        if let known, known.row.epoch < row.epoch { return true }
        if term.fencedBy != nil { return true }
        guard let now, let aliveAt = row.aliveAt else { return false }
        return now - aliveAt <= settings.resumesAloneWithin
    }

    /// What the other site has against it. A database that was made from an old copy says what it said then: that this
    /// site is active, and that nobody follows.
    private func peerRefusal(_ known: Known, _ term: SiteTerm) -> SiteRefusal? {
        guard let name = settings.peer else { return nil }
        if peerTerm.epoch > term.epoch { return .otherSite(peerTerm.site ?? name, epoch: peerTerm.epoch) }
        guard let peer else { return .peerNotAsked(name) }
        // Whoever proves its right outside of its database has it.
        if proof?.epoch == term.epoch { return nil }
        if peerTerm.epoch == term.epoch, let site = peerTerm.site, site != settings.site {
            return .otherSite(site, epoch: term.epoch)
        }
        guard settings.proof == .standby, known.row.leaseUntil == nil, !peerAnswered, resumedEpoch != term.epoch,
            case .silent(let reason) = peer
        else { return nil }
        return .peerSilent(name, reason)
    }

    private func leaseEnd(_ known: Known) -> SteadyMoment? {
        guard settings.proof != .none else { return nil }
        let proven = proof.flatMap { $0.epoch == known.row.epoch ? $0.until : nil }
        guard settings.proof == .standby, known.row.leaseUntil == nil else {
            return proven ?? SteadyMoment(milliseconds: .min)
        }
        // No standby has confirmed anything in this term, so none can be promoted without somebody who says that this
        // site is fenced. As soon as one has, the row says so; that is why also this lasts only as long as a lease.
        let alone = known.began + (settings.lease - settings.margin)
        return proven.map { max($0, alone) } ?? alone
    }
}
