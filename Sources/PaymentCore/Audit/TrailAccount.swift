/// What a trail says of its payment: the sums that were asked for, what was decided, and how it ended. A payment that
/// says anything else was changed past its trail.
///
/// What was read at providers, such as the amount that a leg captured, is only in the payment.
public struct TrailAccount: Sendable {
    private var terms: AuditEntry?
    private var latch: String?
    private var conclusion: String?
    private var isCanceled = false
    private var captured: String?
    private var isResolvedByPeople = false
    private var refunds: [String] = []
    private var refundEnds: [String: String] = [:]

    /// The account of an empty trail.
    public init() {}

    /// Takes in the next entry.
    public mutating func take(_ entry: AuditEntry) {
        switch entry.type {
        case .created: terms = entry
        case .latch: latch = entry.value("latch") ?? latch
        case .concluded: conclusion = entry.value("state")
        case .resolved: isResolvedByPeople = true
        case .refund:
            if let refund = entry.value("refund") { refundEnds[refund] = entry.value("state") }
        case .operation:
            switch entry.value("operation") {
            case "cancel": isCanceled = true
            case "capture", "capture found": captured = entry.value("amounts")
            case "refund": refunds.append("\(entry.value("key") ?? "-") \(entry.value("amounts") ?? "-")")
            default: break
            }
        default: break
        }
    }

    /// What a payment says otherwise than its trail, each in a few words; nothing if they agree.
    public func contradictions(to payment: Payment) -> [String] {
        var found: [String] = []
        func compare(_ name: String, _ document: String?, _ trail: String?) {
            guard document != trail else { return }
            found.append("\(name): \(document ?? "none"), by its trail \(trail ?? "none")")
        }
        // A payment that undoes what others charged begins with what was found.
        if let terms, let mode = terms.value("capture") {
            compare("capture", payment.captureMode.rawValue, mode)
            compare("amount", payment.amount.description, terms.value("amount"))
            compare(
                "legs", payment.legs.map { "\($0.provider) \($0.amount)" }.joined(separator: ", "),
                terms.value("legs"))
            compare("latch", payment.latch.rawValue, latch ?? Latch.none.rawValue)
        } else if let latch {
            compare("latch", payment.latch.rawValue, latch)
        }
        compare("conclusion", payment.conclusion?.state.rawValue, conclusion)
        if payment.cancel != nil, !isCanceled { found.append("cancel: asked for, by its trail none") }
        // Two people may say that what was held is charged, and by how much only the payment says.
        if captured != nil || !isResolvedByPeople {
            compare(
                "captured amounts",
                payment.capture.map { $0.amounts.map(\.description).joined(separator: ", ") }, captured)
        }
        compare("refunds", list(asked(payment)), list(refunds))
        for refund in payment.refunds where refund.state.isFinal {
            compare(
                "refund \(refund.id(of: payment))", refund.state.rawValue, refundEnds[refund.id(of: payment)])
        }
        return found
    }

    private func asked(_ payment: Payment) -> [String] {
        payment.refunds.map { refund in
            let amounts = refund.parts.map { "leg \($0.leg): \($0.effect.amount)" }
            return "\(refund.key) \(amounts.joined(separator: ", "))"
        }
    }

    private func list(_ items: [String]) -> String? {
        items.isEmpty ? nil : items.sorted().joined(separator: ", ")
    }
}
