internal import PaymentCore
internal import StrictJSON

/// Payments, refunds and events as the published schemas have them. The same value always gives the same
/// bytes.
enum PaymentRendering {
    /// A payment.
    ///
    /// - Parameter isForCaller: Whether it is shown to its caller, and may hold what nobody else may see.
    static func payment(_ payment: Payment, isForCaller: Bool = true) -> JSONValue {
        var members = [
            JSONMember("id", .string(payment.id.text)), JSONMember("state", .string(payment.state.rawValue)),
            JSONMember("reason", reason(payment.reason)),
        ]
        // Only while rows that were lost matter: whoever reads documents knows no other.
        if let recovery = recovery(payment) { members.append(JSONMember("recovery", recovery)) }
        if isForCaller, let step = payment.payerStep {
            members.append(JSONMember("next_action", nextAction(step.url)))
        }
        members += [
            JSONMember("amount", money(payment.amount)), JSONMember("captured", money(payment.captured)),
            JSONMember("refunded", money(payment.refunded)),
            JSONMember("capture", .string(payment.captureMode.rawValue)),
            JSONMember("reference", .optional(payment.reference)), JSONMember("metadata", texts(payment.metadata)),
            JSONMember("deadline", .string(payment.deadline.rfc3339)),
            JSONMember("created_at", .string(payment.createdAt.rfc3339)),
            JSONMember("updated_at", .string(payment.updatedAt.rfc3339)),
            JSONMember("legs", .array(payment.legs.map { leg($0, of: payment) })),
            JSONMember("refunds", .array(payment.refunds.map { refund($0, of: payment) })),
        ]
        return .object(members)
    }

    /// What the caller shows to the payer.
    private static func nextAction(_ url: WebAddress) -> JSONValue {
        .members(["type": .string("redirect"), "url": .string(url.text)])
    }

    /// What rows that were lost mean for a payment that goes on; `nil` where they mean nothing to it.
    private static func recovery(_ payment: Payment) -> JSONValue? {
        guard let window = payment.recovery, payment.conclusion == nil else { return nil }
        if payment.isBeingConfirmed {
            return .members([
                "step": .string("being_confirmed"), "until": .string(window.readsCountFrom.rfc3339),
            ])
        }
        guard payment.awaitsCaller else { return nil }
        return .members(["step": .string("awaits_request"), "until": .string(payment.deadline.rfc3339)])
    }

    static func refund(_ refund: Refund, of payment: Payment) -> JSONValue {
        .members([
            "id": .string(refund.id(of: payment)),
            "state": .string(refund.state.rawValue),
            "amount": money(total(refund, currency: payment.amount.currency)),
            "legs": .array(
                refund.parts.map { part in
                    .members([
                        "index": .integer(part.leg),
                        "amount": money(part.effect.amount),
                        "state": .string(part.state.rawValue),
                    ])
                }),
            "reason": refundReason(refund),
            "created_at": .string(refund.createdAt.rfc3339),
        ])
    }

    static func event(_ entry: AuditEntry) -> JSONValue {
        var detail: [String: String] = [:]
        for field in entry.fields { detail[field.name] = field.value }
        return .members([
            "sequence": .integer(entry.sequence),
            "at": .string(entry.at.rfc3339),
            "type": .string(entry.type.rawValue),
            "leg": entry.leg.map { .integer($0) } ?? .null,
            "detail": texts(detail),
            "previous_hash": .string(entry.previous.hex),
            "hash": .string(entry.hash.hex),
        ])
    }

    private static func leg(_ leg: Leg, of payment: Payment) -> JSONValue {
        var members = [
            JSONMember("index", .integer(leg.index)), JSONMember("provider", .string(leg.provider.name)),
            JSONMember("instrument", .string(leg.instrument.redacted)), JSONMember("amount", money(leg.amount)),
            JSONMember("phase", .string(leg.isOnePhase ? "one_phase" : "two_phase")),
            JSONMember("state", .string(LegState(leg, of: payment).rawValue)),
            JSONMember("captured", money(leg.capturedAmount)),
            JSONMember("refunded", money(payment.refundedAmount(ofLeg: leg.index))),
            JSONMember("reason", legReason(leg)),
        ]
        // Only where there are any: whoever reads documents knows no other.
        if let disputes = leg.disputes { members.append(JSONMember("disputes", .array(disputes.map(dispute)))) }
        return .object(members)
    }

    private static func dispute(_ dispute: Dispute) -> JSONValue {
        .members([
            "id": .string(dispute.id), "state": .string(dispute.state.rawValue), "amount": money(dispute.amount),
        ])
    }

    /// The leg's own cause: not that another leg was lost.
    private static func legReason(_ leg: Leg) -> JSONValue {
        if let quarantine = leg.quarantine {
            return reason(code: "quarantined", detail: quarantine.cause.rawValue)
        }
        guard let own = leg.loss?.reason else { return .null }
        let prefix = "leg \(leg.index): "
        let detail = own.detail.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
        return reason(code: own.code.rawValue, detail: detail)
    }

    private static func refundReason(_ refund: Refund) -> JSONValue {
        if let part = refund.parts.first(where: { $0.state == .quarantined }) {
            return reason(code: "quarantined", detail: part.reason)
        }
        if let part = refund.parts.first(where: { $0.state == .failed }) {
            if part.reason == Dispute.code { return reason(code: Dispute.code, detail: nil) }
            return reason(code: part.effect.worst == .refused ? "refused" : "declined", detail: part.reason)
        }
        return refund.reason.map { reason(code: "requested_by_caller", detail: $0) } ?? .null
    }

    private static func reason(_ reason: Reason?) -> JSONValue {
        reason.map { self.reason(code: $0.code.rawValue, detail: $0.detail) } ?? .null
    }

    private static func reason(code: String, detail: String?) -> JSONValue {
        let shown = detail.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(500))) }
        return .members(["code": .string(code), "detail": .optional(shown)])
    }

    private static func money(_ amount: Money) -> JSONValue {
        .members(["value": .integer(amount.value), "currency": .string(amount.currency.code)])
    }

    private static func texts(_ texts: [String: String]) -> JSONValue {
        let names = texts.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return .object(names.compactMap { name in texts[name].map { JSONMember(name, .string($0)) } })
    }

    private static func total(_ refund: Refund, currency: Currency) -> Money {
        do {
            return try Money.sum(refund.parts.map(\.effect.amount), in: currency)
        } catch {
            // Reserved amounts never exceed what was captured, so the sum always exists; the first part
            // stands in.
            return refund.parts.first?.effect.amount ?? .zero(currency)
        }
    }
}
