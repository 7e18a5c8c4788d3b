public import PaymentCore
public import Reconciler

/// A sentence that holds in every run, at every moment.
///
/// What happens is handed over piece by piece, already unpacked, because most happenings concern one or two
/// of them. An invariant implements only what it needs.
public protocol Invariant: Sendable {
    /// Its number in the protocol, 1 to 27.
    static var number: Int { get }
    /// What holds.
    static var sentence: String { get }
    /// What did not.
    var findings: Findings { get }

    /// A caller asks for an operation.
    mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence)
    /// A caller is answered.
    mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence)
    /// A change became durable.
    mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence)
    /// A request left a replica.
    mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence)
    /// A replica asked for the status of a leg, or sent a request of it, under the token by which it holds the payment.
    mutating func began(_ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp)
    /// What it asked or sent came to an end.
    mutating func learned(_ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp)
    /// A request was executed, declined, replayed or refused.
    mutating func arrived(_ order: SendOrder, _ outcome: OutcomeClass, at: Timestamp, _ evidence: Evidence)
    /// A text was told to people: an alert, or why a change was refused.
    mutating func told(_ words: String, payment: PaymentID, at: Timestamp)
    /// A replica holds a payment under a token.
    mutating func leased(site: Int, payment: PaymentID, token: LeaseToken, at: Timestamp)
    /// A replica began to run, was told to stop, or stopped.
    mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp)
    /// A fault struck.
    mutating func fault(_ kind: FaultKind, at: Timestamp)
    /// A site became the active one.
    mutating func promoted(site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence)
    /// A comparison of both sides went on.
    mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence)
    /// Faults are over.
    mutating func faultsEnded(at: Timestamp, _ evidence: Evidence)
    /// Nothing is due any more, and nothing is on the wire.
    mutating func atRest(_ evidence: Evidence)
}

/// What becomes of a replica.
public enum ReplicaChange: Sendable, Hashable {
    /// It begins to run at this site.
    case started(site: Int)
    /// It is told to shut down in good order.
    case stopping
    /// It did; so many leases it neither finished nor gave back.
    case stopped(leasesKept: [PaymentID])
}

extension Invariant {
    /// Nothing to look at.
    public mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence) {}
    /// Nothing to look at.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {}
    /// Nothing to look at.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {}
    /// Nothing to look at.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {}
    /// Nothing to look at.
    public mutating func began(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {}
    /// Nothing to look at.
    public mutating func learned(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {}
    /// Nothing to look at.
    public mutating func arrived(
        _ order: SendOrder, _ outcome: OutcomeClass, at: Timestamp, _ evidence: Evidence
    ) {}
    /// Nothing to look at.
    public mutating func told(_ words: String, payment: PaymentID, at: Timestamp) {}
    /// Nothing to look at.
    public mutating func leased(site: Int, payment: PaymentID, token: LeaseToken, at: Timestamp) {}
    /// Nothing to look at.
    public mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp) {}
    /// Nothing to look at.
    public mutating func fault(_ kind: FaultKind, at: Timestamp) {}
    /// Nothing to look at.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {}
    /// Nothing to look at.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {}
    /// Nothing to look at.
    public mutating func faultsEnded(at: Timestamp, _ evidence: Evidence) {}
    /// Nothing to look at.
    public mutating func atRest(_ evidence: Evidence) {}

    /// Hands one happening to the piece that it concerns.
    public mutating func observe(_ happening: Happening, _ evidence: Evidence) {
        let at = happening.at
        switch happening.what {
        case .asked(let operation, _): asked(operation, at: at, evidence)
        case .answered(let operation, let answer): answered(operation, answer, at: at, evidence)
        case .committed(let commit): committed(commit, at: at, evidence)
        case .refused(_, let payment, let why): told(why, payment: payment, at: at)
        case .sent(let replica, let token, let order):
            sent(order, replica: replica, at: at, evidence)
            began(order.leg, of: order.payment, replica: replica, token: token, at: at)
        case .inquiring(let replica, let token, let order, let payment):
            began(order.leg, of: payment, replica: replica, token: token, at: at)
        case .learned(let replica, let token, .attempted(let leg, _, _, _), let payment),
            .learned(let replica, let token, .inquired(let leg, _), let payment):
            learned(leg, of: payment, replica: replica, token: token, at: at)
        case .arrived(let order, let outcome, _): arrived(order, outcome, at: at, evidence)
        case .alerted(let alert): told(alert.message, payment: alert.payment, at: at)
        case .leased(let site, _, let payment, let token):
            leased(site: site, payment: payment, token: token, at: at)
        case .started(let number, let site): replica(number, .started(site: site), at: at)
        case .stopping(let number): replica(number, .stopping, at: at)
        case .stopped(let number, let kept): replica(number, .stopped(leasesKept: kept), at: at)
        case .fault(let kind, _, _): fault(kind, at: at)
        case .promoted(let site, let epoch, let lost):
            promoted(site: site, epoch: epoch, rowsLost: lost, at: at, evidence)
        case .compared(let news): compared(news, at: at, evidence)
        case .faultsEnded: faultsEnded(at: at, evidence)
        case .learned: break
        }
    }
}
