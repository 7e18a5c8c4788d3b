public import PaymentCore
public import Reconciler

/// Invariant 27. What a caller asks for is not left lying: its first request, or the inquiry before it, leaves within
/// the first delay of the schedule. Later than that, nothing is lost, and nothing else would show it.
///
/// Judged is only what nothing hinders. That everything ends once faults are over is invariant 15.
public struct BegunInTime: Invariant {
    /// Its number in the protocol.
    public static let number = 27
    /// What holds.
    public static let sentence =
        "what a caller asks for, and nothing hinders, is begun within the first delay of the schedule"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// For a look of the store's sweep, clocks that differ, and the way of the request.
    public static let slack = Span.seconds(10)

    /// For how long a fault may hinder what is asked for afterwards: as long as the lease of a holder that is gone.
    public static let aftermath = Span.seconds(40)

    /// What was asked for, and has not begun.
    private struct Wish {
        let payment: PaymentID
        /// The leg that must begin; nil if any leg may.
        let leg: Int?
        let words: String
        let since: Timestamp
        let until: Timestamp
    }

    /// With more than so many payments under way, what is due may find no place at a provider.
    private static let crowd = 7

    private var wishes: [Wish] = []
    /// When a fault struck last.
    private var struckAt: Timestamp?
    /// Requests and inquiries under way.
    private var underWay: Set<Question> = []

    /// The invariant.
    public init() {}

    /// Notes what was asked for with this change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        forgetEnded(commit.after)
        if let struckAt, at - struckAt < BegunInTime.aftermath { return }
        guard commit.isConfirmed, evidence.isCalm, commit.after.recovery == nil,
            underWay.count <= BegunInTime.crowd, !underWay.contains(where: { $0.payment == commit.after.id })
        else { return }
        let first = at + evidence.policy.inquirySchedule.delay(0, jitter: 999) + BegunInTime.slack
        for (leg, words) in BegunInTime.wishes(of: commit, evidence) {
            let hidden = leg.flatMap { commit.after.leg($0) }.map { BegunInTime.hidden($0, evidence) } ?? .zero
            wishes.append(
                Wish(payment: commit.after.id, leg: leg, words: words, since: at, until: first + hidden))
        }
    }

    /// What a change takes on for a caller, and has to begin: a new payment, a capture or a cancel of what rests, a
    /// refund of a leg of which none is under way.
    private static func wishes(of commit: Commit, _ evidence: Evidence) -> [(leg: Int?, words: String)] {
        let after = commit.after
        guard let before = commit.before else {
            return after.isUndoing || after.conclusion != nil ? [] : [(nil, "the payment")]
        }
        if before.conclusion == nil {
            guard before.isResting, after.conclusion == nil, evidence.keepsAcknowledgedRows else { return [] }
            if before.capture == nil, after.capture != nil { return [(nil, "the capture")] }
            if before.cancel == nil, after.cancel != nil { return [(nil, "the cancel")] }
            return []
        }
        var legs: [(leg: Int?, words: String)] = []
        for refund in after.refunds.dropFirst(before.refunds.count) {
            for part in refund.parts where part.state == .processing {
                let isBehind = before.refunds.contains { earlier in
                    earlier.parts.contains { $0.leg == part.leg && $0.state == .processing }
                }
                if !isBehind { legs.append((part.leg, "a refund of leg \(part.leg)")) }
            }
        }
        return legs
    }

    /// Where only sums of refunds are shown, the sum before a new one is read first: once it shows what was before.
    private static func hidden(_ leg: Leg, _ evidence: Evidence) -> Span {
        guard let provider = evidence.provider(leg.provider), provider.contract.refundVisibility == .sumsOnly else {
            return .zero
        }
        let before = evidence.contractsBefore[leg.provider] ?? provider.contract
        return max(provider.contract.proofMargin, before.proofMargin)
    }

    /// What ended without a request has nothing to begin. What people were told of does not lie unseen; whether they
    /// had to be is judged by invariant 15 (seed 18195527027458349).
    private mutating func forgetEnded(_ payment: Payment) {
        guard wishes.contains(where: { $0.payment == payment.id }) else { return }
        wishes.removeAll { wish in
            guard wish.payment == payment.id else { return false }
            guard let leg = wish.leg else { return payment.conclusion != nil || payment.state == .quarantined }
            return !payment.refunds.contains { refund in
                refund.parts.contains { $0.leg == leg && $0.state == .processing }
            }
        }
    }

    /// Judges whether it began in time.
    public mutating func began(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        underWay.insert(Question(payment: payment, leg: leg, replica: replica, token: token))
        guard !wishes.isEmpty else { return }
        for wish in wishes where wish.payment == payment && (wish.leg ?? leg) == leg {
            judge(wish, at)
        }
        wishes.removeAll { $0.payment == payment && ($0.leg ?? leg) == leg }
        if underWay.count > BegunInTime.crowd { hinder(at) }
    }

    /// Notes that what was under way came to an end.
    public mutating func learned(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        underWay.remove(Question(payment: payment, leg: leg, replica: replica, token: token))
    }

    private mutating func judge(_ wish: Wish, _ at: Timestamp) {
        findings.require(
            at <= wish.until, at, wish.payment,
            "\(wish.words) was asked for at \(wish.since.rfc3339), and not begun by \(wish.until.rfc3339)")
    }

    /// From here on something may hinder what has not begun: it is judged by what was before.
    private mutating func hinder(_ at: Timestamp) {
        guard !wishes.isEmpty else { return }
        for wish in wishes { judge(wish, at) }
        wishes.removeAll()
    }

    /// Notes a fault.
    public mutating func fault(_ kind: FaultKind, at: Timestamp) {
        hinder(at)
        struckAt = at
    }

    /// Notes that a replica stops, or begins.
    public mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp) {
        hinder(at)
        struckAt = at
        if case .started = change { underWay = underWay.filter { $0.replica != replica } }
    }

    /// Notes that another copy of the rows counts.
    public mutating func promoted(site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence) {
        hinder(at)
        struckAt = at
        underWay.removeAll()
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) { hinder(evidence.now) }
}
