/// A moment of a clock that never jumps and means nothing outside of the process, in milliseconds.
public struct SteadyMoment: Sendable, Hashable, Comparable {
    /// The number of milliseconds since some moment before.
    public let milliseconds: Int64

    /// A moment.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: SteadyMoment, right: SteadyMoment) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `span` later.
    public static func + (moment: SteadyMoment, span: Span) -> SteadyMoment {
        SteadyMoment(milliseconds: (Timestamp(milliseconds: moment.milliseconds) + span).milliseconds)
    }

    /// The time from `earlier` to `later`.
    public static func - (later: SteadyMoment, earlier: SteadyMoment) -> Span {
        Timestamp(milliseconds: later.milliseconds) - Timestamp(milliseconds: earlier.milliseconds)
    }
}

/// What a process may do for its site, and why not more.
public struct SiteStanding: Sendable, Hashable {
    /// The term under which it may write; `nil` if it may not.
    public var epoch: Int64?
    /// How much the site does.
    public var mode: SiteMode
    /// Whether it begins nothing and only finishes what is on the wire.
    public var isDraining: Bool
    /// Until when it may send; `nil` without a limit. Means something only with a term.
    public var until: SteadyMoment?
    /// Why it may not act; `nil` if it may.
    public var refusal: SiteRefusal?
    /// The site that is active, as far as is known here.
    public var activeSite: SiteName?
    /// Losses of rows whose recovery window is open.
    public var recoveries: [SiteRecovery]

    /// A standing that permits everything without a limit: one site, whose store belongs to nobody else.
    public static let alone = SiteStanding(
        epoch: 0, mode: .full, isDraining: false, until: nil, refusal: nil, activeSite: nil, recoveries: [])

    /// Whether the site is active: callers may be sent here.
    public var isActive: Bool { refusal == nil && !isDraining }

    /// Whether what there is may go on: claimed, inquired, sent.
    public var maySettle: Bool { isActive && mode != .readOnly }

    /// Whether new payments may be taken.
    public var mayCreate: Bool { isActive && mode == .full }

    /// Whether callers may still be told what came of what they asked before. Who lost its right may know of payments
    /// that nobody else has, and that are lost by the time it tells of them (seed 601477241). What a drained site did,
    /// the other one has.
    public var mayTell: Bool { refusal == nil || refusal == .drained }

    /// The same without what passes by itself, to see whether something changed.
    public var essence: SiteStanding {
        var essence = self
        essence.until = nil
        return essence
    }
}

/// Why a process may not act for its site.
public enum SiteRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The store was not read yet.
    case notKnownYet
    /// No daemon ever worked on the store, and this one cannot write.
    case noTerm
    /// Another site is active.
    case otherSite(SiteName, epoch: Int64)
    /// This site is active, and its database takes no writes.
    case databaseIsStandby
    /// The site's right to act ran out and was not renewed.
    case leaseRanOut(String)
    /// The term was led with a lease, and this process is configured to act without.
    case leaseGivenUp
    /// The store refused a write: the term is over, though the row that was read last does not say so.
    case termEnded(epoch: Int64)
    /// The other site was not asked yet which term it knows.
    case peerNotAsked(SiteName)
    /// Nobody follows, the other site does not answer, and this one has stood still for long: it may be an old copy.
    case peerSilent(SiteName, String)
    /// The site was drained.
    case drained
    /// The site was demoted.
    case demoted

    public var description: String {
        switch self {
        case .notKnownYet: "the store was not read yet"
        case .noTerm: "no site was ever active on this store"
        case .otherSite(let site, let epoch): "site \(site) is active, in term \(epoch)"
        case .databaseIsStandby: "the database takes no writes: it is a standby"
        case .leaseRanOut(let reason): "the site's lease ran out and was not renewed: \(reason)"
        case .leaseGivenUp:
            "the term was led with a lease, and site.proof is none; allowed: the proof of before, or a new term "
                + "(`reconciled site promote --fenced-by …`)"
        case .termEnded(let epoch): "term \(epoch) is over"
        case .peerNotAsked(let site): "site \(site) was not asked yet which term it knows"
        case .peerSilent(let site, let reason):
            "nobody follows this site's database, which may be an old copy, and site \(site) does not say which term "
                + "it knows (\(reason)); needed: an answer of that site, its database as a synchronous standby, or a "
                + "new term (`reconciled site promote --fenced-by …`)"
        case .drained: "the site was drained"
        case .demoted: "the site was demoted"
        }
    }
}
