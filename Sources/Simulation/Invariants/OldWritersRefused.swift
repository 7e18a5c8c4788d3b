public import PaymentCore
public import Reconciler

/// Invariant 11. Whoever lost its lease, read an older version or belongs to an ended term writes nothing,
/// and a site that is not the active one sends nothing.
public struct OldWritersRefused: Invariant {
    /// Its number in the protocol.
    public static let number = 11
    /// What holds.
    public static let sentence =
        "a write with an older token or epoch is refused; epochs only grow, across sites"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct Held {
        var token: LeaseToken?
        var version: Int64?
    }

    private var held: [PaymentID: Held] = [:]
    private var epoch: Int64?
    private var activeSite: Int?
    private var sites: [Int: Int] = [:]

    /// The invariant.
    public init() {}

    /// Judges what becomes of a replica.
    public mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp) {
        if case .started(let site) = change { sites[replica] = site }
    }

    /// Judges a change of the active site.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        if let known = self.epoch {
            findings.require(epoch > known, at, nil, "site \(site) began epoch \(epoch) after epoch \(known)")
        }
        self.epoch = epoch
        activeSite = site
        // The new site's copy has its own newest versions and tokens.
        held.removeAll(keepingCapacity: true)
    }

    /// Judges a claim.
    public mutating func leased(site: Int, payment: PaymentID, token: LeaseToken, at: Timestamp) {
        if let activeSite, site != activeSite { return }
        var known = held[payment] ?? Held()
        if let newest = known.token {
            findings.require(
                token >= newest, at, payment, "token \(token.number) came after \(newest.number)")
        }
        known.token = token
        held[payment] = known
    }

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let id = commit.after.id
        if let epoch {
            findings.require(
                commit.epoch >= epoch, at, id,
                "a write of epoch \(commit.epoch) was taken during epoch \(epoch)")
        }
        if let activeSite {
            findings.require(
                commit.site == activeSite, at, id,
                "site \(commit.site) took a write while site \(activeSite) is active"
            )
        }
        var known = held[id] ?? Held()
        if let token = commit.token, let newest = known.token {
            findings.require(
                token == newest, at, id,
                "a write under token \(token.number) was taken while \(newest.number) is the newest")
        }
        if let before = commit.before {
            findings.require(
                commit.after.version == before.version + 1, at, id,
                "version \(commit.after.version) was written over version \(before.version)")
            if let version = known.version {
                findings.require(
                    before.version == version, at, id,
                    "version \(version) became version \(before.version) unseen")
            }
        }
        known.token = commit.token ?? known.token
        known.version = commit.after.version
        held[id] = known
    }

    /// Judges a request that left.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {
        guard let activeSite, let site = sites[replica] else { return }
        findings.require(
            site == activeSite, at, order.payment, "site \(site) sends while site \(activeSite) is active")
    }
}
