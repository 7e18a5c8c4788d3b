/// A term: from one change of the active site to the next. Its number is the epoch, which only grows, at all sites.
public struct SiteTerm: Sendable, Hashable, Codable {
    /// How a term began.
    public enum Beginning: String, Sendable, Hashable, Codable, CaseIterable {
        /// A daemon opened the store for the first time.
        case first
        /// The old site was drained or demoted, and everything that it wrote is here.
        case switchover
        /// The old site was lost, or may have written what is not here.
        case promotion
        /// A backup was restored.
        case restore
        /// The active site began anew, because its lease or its promise of synchronous replication could not be kept.
        case renewal
    }

    /// Its number, from 1.
    public var epoch: Int64
    /// The site that is active in it.
    public var site: SiteName
    /// When it began, by the database's clock.
    public var since: Timestamp
    /// How it began.
    public var beginning: Beginning
    /// Who began it.
    public var by: String
    /// The second person, where one was asked for.
    public var approvedBy: String?
    /// Why, in words.
    public var reason: String
    /// Who or what kept the old site from writing, where that was not known from its lease.
    public var fencedBy: String?
    /// Why the loss of acknowledged rows was accepted, where it was.
    public var dataLossAccepted: String?
    /// Why contracts were accepted for which lost rows are a trap, where they were.
    public var contractsAccepted: String?

    /// A term.
    public init(
        epoch: Int64, site: SiteName, since: Timestamp, beginning: Beginning, by: String, approvedBy: String? = nil,
        reason: String, fencedBy: String? = nil, dataLossAccepted: String? = nil,
        contractsAccepted: String? = nil
    ) {
        self.epoch = epoch
        self.site = site
        self.since = since
        self.beginning = beginning
        self.by = by
        self.approvedBy = approvedBy
        self.reason = reason
        self.fencedBy = fencedBy
        self.dataLossAccepted = dataLossAccepted
        self.contractsAccepted = contractsAccepted
    }

    /// The most bytes of a person's name or a reason.
    public static let longestText = 500
}

/// How much a site does: the recovery level that was agreed on.
public enum SiteMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Everything.
    case full
    /// No new payment is taken; what there is goes on, and callers may cancel, capture and refund it.
    case settleOnly = "settle-only"
    /// Nothing is sent and nothing is written; what is stored can be read.
    case readOnly = "read-only"
}

/// Where a term stands.
public enum SitePhase: String, Sendable, Hashable, Codable, CaseIterable {
    /// The site works.
    case active
    /// It begins nothing and finishes what is on the wire.
    case draining
    /// It has finished, and nothing was written since.
    case drained
    /// It was told to stop at once; nothing was written since.
    case demoted

    /// Whether nothing can be written in this term any more: who sees the phase sees all that the term wrote.
    public var isOver: Bool { self == .drained || self == .demoted }
}

/// How a database passes on what it commits.
public enum SiteReplication: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nobody has looked yet.
    case unknown
    /// Nobody follows.
    case none
    /// Commits are acknowledged before anybody else has them.
    case asynchronous
    /// A commit is acknowledged when a standby has it on disk.
    case synchronous
}

/// From where a site's right to act is renewed. Its own database is no proof: a partitioned one still says what it
/// said before.
public enum SiteProofKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is not renewed: there is one site, or other sites begin only after somebody said who fenced this one.
    case none
    /// The synchronous standby confirmed that it has the lease on disk.
    case standby
    /// A row in another PostgreSQL, in a third place, was prolonged.
    case postgres
    /// A Lease of a Kubernetes cluster in a third place was prolonged.
    case kubernetes
    /// An item of a DynamoDB table in a third region was prolonged.
    case dynamodb

    /// Whether it is asked outside of both sites' databases.
    public var isWitness: Bool {
        switch self {
        case .none, .standby: false
        case .postgres, .kubernetes, .dynamodb: true
        }
    }
}
