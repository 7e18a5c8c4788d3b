/// Shows intents, charges and refunds as Stripe does (docs.stripe.com/api).
struct StripeShapes {
    /// The transaction of the intent, as this answer sees it.
    let record: TransactionRecord?
    let intent: StripeIntent

    private var currency: StripeValue { .text(intent.amount.currency.lowercased()) }
    private var status: String { intent.status(record) }

    func intentValue(withCharge: Bool) -> StripeValue {
        let recorded = record?.amount ?? intent.amount
        let charge: StripeValue =
            withCharge
            ? chargeValues(withIntent: false, withRefunds: false).first ?? .null
            : .optional(intent.charges.last?.id)
        return .object([
            ("id", .text(intent.id)), ("object", .text("payment_intent")), ("amount", .int(recorded.value)),
            ("amount_capturable", .int(status == "requires_capture" ? recorded.value : 0)),
            ("amount_received", .int(record?.capturedValue ?? 0)),
            (
                "cancellation_reason",
                .optional(record?.status == .expired ? "automatic" : intent.cancellationReason)
            ),
            ("capture_method", .text(intent.takesLater ? "manual" : "automatic")),
            ("client_secret", .text(intent.id + "_secret")), ("created", .int(intent.createdAt / 1_000)),
            ("currency", currency),
            (
                "last_payment_error",
                intent.charges.last?.failureCode.map { .object([("code", .text($0)), ("type", .text("card_error"))]) }
                    ?? .null
            ), ("latest_charge", charge), ("livemode", .bool(false)), ("metadata", .texts(intent.metadata)),
            ("payment_method", intent.behaviour == nil ? .null : .text("pm_simulated")),
            ("payment_method_types", .list([.text("card")])), ("status", .text(status)),
            ("transfer_group", .optional(intent.transferGroup)),
        ])
    }

    /// Newest first. What a stale read does not know yet has no charge.
    func chargeValues(withIntent: Bool, withRefunds: Bool) -> [StripeValue] {
        guard record != nil else { return [] }
        return intent.charges.reversed().map { chargeValue($0, withIntent: withIntent, withRefunds: withRefunds) }
    }

    private func chargeValue(
        _ charge: StripeIntent.Charge, withIntent: Bool, withRefunds: Bool
    ) -> StripeValue {
        let recorded = record?.amount ?? intent.amount
        let isDeclined = charge.failureCode != nil || record?.status == .declined
        let state = isDeclined ? "failed" : record?.status == .pending ? "pending" : "succeeded"
        let taken = isDeclined ? 0 : record?.capturedValue ?? 0
        let back = refunds.reduce(Int64(0)) { $1.isFailed ? $0 : $0 + $1.amount }
        let isHeld = record?.status == .authorized
        var members: [(String, StripeValue)] = [
            ("id", .text(charge.id)), ("object", .text("charge")), ("amount", .int(recorded.value)),
            ("amount_captured", .int(taken)), ("amount_refunded", .int(isDeclined ? 0 : back)),
            ("captured", .bool(taken > 0)), ("created", .int(charge.created)), ("currency", currency),
            ("disputed", .bool(!(record?.disputes ?? []).isEmpty)),
            ("failure_code", isDeclined ? .text(charge.failureCode ?? "card_declined") : .null),
            ("livemode", .bool(false)), ("metadata", .texts(charge.metadata)), ("paid", .bool(state == "succeeded")),
            ("payment_intent", withIntent ? intentValue(withCharge: false) : .text(intent.id)),
            (
                "payment_method_details",
                .object([
                    ("type", .text("card")),
                    (
                        "card",
                        .object([
                            ("brand", .text("visa")),
                            ("capture_before", isHeld ? .int((record?.authorizedUntil ?? 0) / 1_000) : .null),
                        ])
                    ),
                ])
            ), ("refunded", .bool(!isDeclined && back >= recorded.value)), ("status", .text(state)),
            ("transfer_group", .optional(intent.transferGroup)),
        ]
        if withRefunds {
            let all = isDeclined ? [] : refunds
            // Ten are shown with a charge, the newest.
            members.append(("refunds", StripeShapes.list(all.prefix(10).map(\.value), hasMore: all.count > 10)))
        }
        return .object(members)
    }

    struct RefundShape {
        let id: String
        let amount: Int64
        let isFailed: Bool
        let value: StripeValue
    }

    /// Newest first: what was asked for, and what a cancel or a capture of a part gave free, which Stripe shows as a
    /// refund without our metadata.
    var refunds: [RefundShape] {
        guard let record, let recorded = record.amount else { return [] }
        var shown = record.refunds.reversed().map { entry in
            refund(
                StripeShapes.refundID(entry.key), entry.amount.value, entry.status, entry.reason,
                metadata: intent.refundMetadata[entry.key] ?? [:])
        }
        let free: Int64 =
            switch record.status {
            case .voided, .expired: recorded.value
            case .captured where intent.takesLater: recorded.value - record.capturedValue
            default: 0
            }
        if free > 0 { shown.append(refund("re_free\(intent.id.dropFirst(3))", free, .succeeded, nil, metadata: [:])) }
        return Array(shown)
    }

    static func refundID(_ key: String) -> String { "re_" + key.filter { $0 != "_" && $0 != "-" } }

    private func refund(
        _ id: String, _ amount: Int64, _ status: EntryStatus, _ reason: String?, metadata: [String: String]
    ) -> RefundShape {
        let state =
            switch status {
            case .pending: "pending"
            case .succeeded: "succeeded"
            case .declined: "failed"
            }
        return RefundShape(
            id: id, amount: amount, isFailed: status == .declined,
            value: .object([
                ("id", .text(id)), ("object", .text("refund")), ("amount", .int(amount)),
                ("charge", .optional(intent.charges.last?.id)), ("currency", currency),
                ("failure_reason", status == .declined ? .text("declined") : .null), ("metadata", .texts(metadata)),
                ("payment_intent", .text(intent.id)), ("status", .text(state)),
            ]))
    }

    var disputes: [StripeValue] {
        (record?.disputes ?? []).map { dispute in
            .object([
                ("id", .text(dispute.id)), ("object", .text("dispute")), ("amount", .int(dispute.amount.value)),
                ("charge", .optional(intent.charges.last?.id)), ("currency", currency),
                ("payment_intent", .text(intent.id)),
                ("status", .text(dispute.status == .open ? "needs_response" : dispute.status.rawValue)),
            ])
        }
    }

    static func list(_ values: [StripeValue], hasMore: Bool) -> StripeValue {
        .object([
            ("object", .text("list")), ("data", .list(values)), ("has_more", .bool(hasMore)),
            ("url", .text("/v1/objects")),
        ])
    }
}
