public import PaymentCore
public import Reconciler

/// Invariant 23. Whoever holds a payment asks one thing about a leg at a time. An answer says nothing of what was sent
/// after its question, so two that are under way at once could each be taken for news of the other.
public struct OneQuestionAtATime: Invariant {
    /// Its number in the protocol.
    public static let number = 23
    /// What holds.
    public static let sentence = "a holder has one request or inquiry of a leg under way at a time"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// Since when each is under way. A replica that begins anew holds nothing under its earlier tokens.
    private var open: [Question: Timestamp] = [:]

    /// The invariant.
    public init() {}

    /// Judges a question or a request.
    public mutating func began(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        let question = Question(payment: payment, leg: leg, replica: replica, token: token)
        let earlier = open.updateValue(at, forKey: question)
        findings.require(
            earlier == nil, at, payment,
            "replica \(replica) asks about leg \(leg) under token \(token.number), and was not answered since "
                + (earlier?.rfc3339 ?? "never"))
    }

    /// Notes its end.
    public mutating func learned(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        open[Question(payment: payment, leg: leg, replica: replica, token: token)] = nil
    }

    /// Notes that a replica holds nothing any more.
    public mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp) {
        if case .started = change { open = open.filter { $0.key.replica != replica } }
    }

    /// Notes that another copy of the rows counts, whose tokens are its own.
    public mutating func promoted(site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence) {
        open.removeAll()
    }
}
