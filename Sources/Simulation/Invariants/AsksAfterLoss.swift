public import PaymentCore
public import Reconciler

/// Invariant 24. Before anything is sent again, the provider is asked. A row that is lost may have sent it: after a
/// loss a key that was ever sent leaves again only once its transaction was read since.
public struct AsksAfterLoss: Invariant {
    /// Its number in the protocol.
    public static let number = 24
    /// What holds.
    public static let sentence = "after lost rows nothing is sent again before its status was read"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct Part: Hashable {
        let payment: PaymentID
        let leg: Int
    }

    /// How often rows were lost so far.
    private var losses = 0
    /// After how many losses a key was sent last.
    private var sent: [EffectKey: Int] = [:]
    /// After how many losses each inquiry began that is under way.
    private var asking: [Question: Int] = [:]
    /// After how many losses the newest inquiry began that came to an end.
    private var read: [Part: Int] = [:]
    /// What begins next is the request that was just judged, and no inquiry.
    private var isRequest = false

    /// The invariant.
    public init() {}

    /// Judges a request that left.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {
        isRequest = true
        // Where nothing can be asked, a resend is how to ask; nothing of it is begun before both sides were compared.
        guard evidence.provider(order.provider)?.contract.inquiry != .byResend else { return }
        let before = sent.updateValue(losses, forKey: order.key) ?? losses
        let wasRead = read[Part(payment: order.payment, leg: order.leg)] == losses
        findings.require(
            before == losses || wasRead, at, order.payment,
            "\(order.kind.rawValue) of leg \(order.leg) left again after lost rows, and nobody asked what became of it")
    }

    /// Notes an inquiry.
    public mutating func began(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        let question = Question(payment: payment, leg: leg, replica: replica, token: token)
        asking[question] = isRequest ? nil : losses
        isRequest = false
    }

    /// Notes that it came to its end.
    public mutating func learned(
        _ leg: Int, of payment: PaymentID, replica: Int, token: LeaseToken, at: Timestamp
    ) {
        let part = Part(payment: payment, leg: leg)
        let question = Question(payment: payment, leg: leg, replica: replica, token: token)
        // A holder of before the loss may hear the end of its question last (seed 2740431849).
        if let began = asking.removeValue(forKey: question) { read[part] = max(read[part] ?? began, began) }
    }

    /// Notes that rows were lost.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        if rowsLost > 0 { losses += 1 }
    }
}
