/// What can be seen before a site is promoted.
public struct PromotionEvidence: Sendable, Hashable {
    /// The site that is to be active.
    public var site: SiteName
    /// The row as it is here.
    public var row: SiteRow
    /// Now, by the clock of the database here.
    public var now: Timestamp
    /// The most by which the clocks of the sites' databases differ.
    public var skew: Span
    /// What the database here is.
    public var database: Database
    /// What the witness says.
    public var witness: Witness
    /// Providers whose contract is safe only on a store that keeps what it acknowledged, each with the name of its
    /// trap.
    public var contractsAtRisk: [String] = []

    /// What a database is to the one that the active site writes to.
    public enum Database: Sendable, Hashable {
        /// It takes writes: it is the active site's own, or was promoted already.
        case primary
        /// It follows another, or did until that fell silent.
        case standby(isStreaming: Bool, received: LogPosition?, replayed: LogPosition?)
    }

    /// What is known from a third place.
    public enum Witness: Sendable, Hashable {
        /// None is configured here.
        case notAsked
        /// It gave no answer.
        case unreachable(String)
        /// It answered, and its answer proves nothing.
        case unproven(WitnessDoubt)
        /// Another site's right runs there for so long, the skew included, in a term.
        case held(for: Span, epoch: Int64)
        /// Nobody's right runs there; another site had it last, in a term, or nobody, 0.
        case free(epoch: Int64)
        /// This site had the right last, in a term.
        case own(epoch: Int64)

        /// The newest term that it knows; `nil` if it proves nothing.
        public var epoch: Int64? {
            switch self {
            case .notAsked, .unreachable, .unproven: nil
            case .held(_, let epoch), .free(let epoch), .own(let epoch): epoch
            }
        }
    }

    /// Evidence.
    public init(
        site: SiteName, row: SiteRow, now: Timestamp, skew: Span, database: Database, witness: Witness = .notAsked
    ) {
        self.site = site
        self.row = row
        self.now = now
        self.skew = skew
        self.database = database
        self.witness = witness
    }

    /// Whether everything that arrived here can be read.
    var isReplayed: Bool {
        guard case .standby(_, let received, let replayed) = database else { return true }
        // Nothing received since the start: what is there came with the copy, or from an archive, and was replayed.
        guard let received else { return true }
        return replayed.map { $0 >= received } ?? false
    }

    var isStreaming: Bool {
        guard case .standby(let isStreaming, _, _) = database else { return false }
        return isStreaming
    }

    /// How long the old site may still act, by what is known here; `nil` if that is not known.
    var leaseLeft: Span? {
        switch witness {
        case .held(let span, _): return max(span, .milliseconds(1))
        // A lease that was proven elsewhere is not there.
        case .free, .own: return row.proof.isWitness ? .zero : leaseLeftInRow
        case .unreachable, .unproven: return nil
        // The row says until when a witness was asked, but not until when it was asked after that.
        case .notAsked: return row.proof.isWitness ? nil : leaseLeftInRow
        }
    }

    private var leaseLeftInRow: Span? { row.leaseUntil.map { max($0 + skew - now, .zero) } }
}

/// What somebody says who wants a site promoted.
public struct PromotionRequest: Sendable, Hashable {
    /// Who wants it.
    public var by: String
    /// The second person.
    public var approvedBy: String?
    /// Why.
    public var reason: String
    /// Who or what keeps the old site from writing and sending.
    public var fencedBy: String?
    /// Why it is accepted that acknowledged rows may be lost.
    public var acceptDataLoss: String?
    /// Why it is accepted that contracts are used for which lost rows are a trap.
    public var acceptContracts: String?
    /// Whether the database was made from a backup.
    public var isRestored: Bool
    /// Whether the configuration asks for a second person.
    public var needsSecondPerson: Bool

    /// A request without anything that overrides what can be seen.
    public init(
        by: String, approvedBy: String? = nil, reason: String, fencedBy: String? = nil, acceptDataLoss: String? = nil,
        acceptContracts: String? = nil, isRestored: Bool = false, needsSecondPerson: Bool = false
    ) {
        self.by = by
        self.approvedBy = approvedBy
        self.reason = reason
        self.fencedBy = fencedBy
        self.acceptDataLoss = acceptDataLoss
        self.acceptContracts = acceptContracts
        self.isRestored = isRestored
        self.needsSecondPerson = needsSecondPerson
    }
}

/// What stands against a promotion, and what may be done about it.
public enum PromotionObstacle: Sendable, Hashable, CustomStringConvertible {
    /// The configuration asks for a second person, and none is named.
    case secondPersonMissing
    /// The second person is the first.
    case samePerson
    /// No site was ever active on this store.
    case noTerm
    /// The site is active already.
    case alreadyActive(epoch: Int64)
    /// The old site's lease still runs for so long.
    case leaseRuns(SiteName, for: Span)
    /// The old site acts without a lease: nothing says whether it still does.
    case notLeased(SiteName)
    /// The old site's lease is with a witness, and none is configured here.
    case witnessNotConfigured(SiteProofKind)
    /// The witness cannot be asked.
    case witnessUnreachable(String)
    /// The witness answers, and its answer proves nothing.
    case witnessProvesNothing(WitnessDoubt)
    /// The old primary lives: its log arrives.
    case stillStreaming
    /// What arrived was not replayed to its end.
    case notReplayed(received: String, replayed: String)
    /// It is not certain that every acknowledged commit is here.
    case notSynchronous(SiteReplication)
    /// A backup says nothing of the site that it was made of.
    case restoreNotFenced
    /// Acknowledged rows are lost, and these contracts are safe only where none are.
    case contractsAtRisk([String])

    /// A short constant name.
    public var name: String {
        switch self {
        case .secondPersonMissing: "second_person_missing"
        case .samePerson: "same_person"
        case .noTerm: "no_term"
        case .alreadyActive: "already_active"
        case .leaseRuns: "lease_runs"
        case .notLeased: "not_leased"
        case .witnessNotConfigured: "witness_not_configured"
        case .witnessUnreachable: "witness_unreachable"
        case .witnessProvesNothing: "witness_proves_nothing"
        case .stillStreaming: "still_streaming"
        case .notReplayed: "not_replayed"
        case .notSynchronous: "not_synchronous"
        case .restoreNotFenced: "restore_not_fenced"
        case .contractsAtRisk: "contracts_at_risk"
        }
    }

    /// Whether it may be gone a little later without anybody's doing.
    public var passes: Bool {
        switch self {
        case .leaseRuns, .stillStreaming, .notReplayed, .witnessUnreachable: true
        case .secondPersonMissing, .samePerson, .noTerm, .alreadyActive, .notLeased, .witnessNotConfigured,
            .witnessProvesNothing, .notSynchronous, .restoreNotFenced, .contractsAtRisk:
            false
        }
    }

    public var description: String {
        switch self {
        case .secondPersonMissing: "the configuration asks for a second person: --approved-by NAME"
        case .samePerson: "the second person must be another than the first"
        case .noTerm: "no site was ever active on this store: start a daemon at the site that is to be active"
        case .alreadyActive(let epoch):
            "this site is active, in term \(epoch). To begin a new term all the same, because its lease or synchronous "
                + "replication cannot be had any more, say who keeps the other site down: --fenced-by TEXT"
        case .leaseRuns(let site, let left):
            "site \(site) may act for \(left.milliseconds) ms more: wait (--wait), or fence it and say how: "
                + "--fenced-by TEXT"
        case .notLeased(let site):
            "site \(site) acts without a lease, so that nothing shows whether it still does: fence it and say how: "
                + "--fenced-by TEXT"
        case .witnessNotConfigured(let proof):
            "the old site's lease is with a witness (site.proof: \(proof.rawValue)), and none is configured here: "
                + "configure site.witness, or fence the old site and say how: --fenced-by TEXT"
        case .witnessUnreachable(let reason):
            "the witness cannot be asked (\(reason)): wait (--wait), or fence the old site and say how: "
                + "--fenced-by TEXT"
        case .witnessProvesNothing(let doubt):
            "the witness proves nothing: \(doubt). Fence the old site and say how: --fenced-by TEXT; then found the "
                + "witness anew (`reconciled site found-witness`)"
        case .stillStreaming:
            "the old primary lives and its log arrives here: drain it there (`reconciled site drain`), or stop it and "
                + "wait (--wait); or accept that what it commits from now on is lost: --accept-data-loss REASON"
        case .notReplayed(let received, let replayed):
            "the log arrived up to \(received) and was replayed up to \(replayed): wait (--wait), or accept the loss: "
                + "--accept-data-loss REASON"
        case .notSynchronous(let replication):
            "replication was \(replication.rawValue) as far as is known here, so that acknowledged payments may be "
                + "missing: accept that, and every payment is read at its providers first: --accept-data-loss REASON"
        case .restoreNotFenced:
            "a backup does not tell whether the site still works that it was made of: fence it and say how: "
                + "--fenced-by TEXT"
        case .contractsAtRisk(let contracts):
            "with acknowledged rows lost, these may charge again or mislead (docs/configuration.md, refused at the "
                + "start): \(contracts.joined(separator: ", ")). Take them out of the configuration, or accept it and "
                + "say why: --accept-contracts REASON"
        }
    }
}
