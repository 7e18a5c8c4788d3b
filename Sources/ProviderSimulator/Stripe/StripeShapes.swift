/// Shows intents, charges and refunds as Stripe does (docs.stripe.com/api).
struct StripeShapes {
    /// The transaction of the intent, as this answer sees it.
    let record: TransactionRecord?
    /// The intent, as this answer sees it.
    let intent: StripeIntent

    init(record: TransactionRecord?, intent: StripeIntent, isBehind: Bool = false) {
        self.record = record
        self.intent = intent.seen(with: record, isBehind: isBehind)
    }

    static let declineCode = "card_declined"
    static let declineWords = "The card issuer declined the charge."
    private static let declineReason = "insufficient_funds"

    private var currency: JSONTree { .text(intent.amount.currency.lowercased()) }
    private var status: String { intent.status(record) }

    func intentValue(withCharge: Bool) -> JSONTree {
        let recorded = record?.amount ?? intent.amount
        let charge: JSONTree =
            withCharge
            ? charges(withIntent: false, withRefunds: false, withMovement: false).first?.value ?? .null
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
            ("last_payment_error", lastPaymentError), ("latest_charge", charge), ("livemode", .bool(false)),
            ("next_action", nextAction),
            ("metadata", .texts(intent.metadata.merging(intent.captureMetadata ?? [:]) { $1 })),
            ("payment_method", isMethodGone ? .null : .text("pm_simulated")),
            ("payment_method_types", .list([.text("card")])), ("status", .text(status)),
            ("transfer_group", .optional(intent.transferGroup)),
        ])
    }

    /// docs.stripe.com/api/payment_intents/object#payment_intent_object-next_action
    private var nextAction: JSONTree {
        guard let record, record.awaitsPayer else { return .null }
        return .object([
            ("type", .text("redirect_to_url")),
            (
                "redirect_to_url",
                .object([("return_url", .text("https://shop.example/back")), ("url", .text(record.payerURL))])
            ),
        ])
    }

    /// A decline takes the payment method away.
    private var isMethodGone: Bool { intent.behaviour == nil || record?.status == .declined }

    private var lastPaymentError: JSONTree {
        guard record?.status == .declined else { return .null }
        return .object([
            ("type", .text("card_error")), ("code", .text(Self.declineCode)),
            ("decline_code", .text(Self.declineReason)), ("message", .text(Self.declineWords)),
            ("charge", .optional(intent.charges.last?.id)),
        ])
    }

    /// Why a card was declined: the answer to a confirm or a capture, with the intent as it is.
    var declineAnswer: StripeAnswer {
        .error(
            402, "card_error", code: Self.declineCode, Self.declineWords,
            more: [
                ("decline_code", .text(Self.declineReason)), ("charge", .optional(intent.charges.last?.id)),
                ("payment_intent", intentValue(withCharge: false)),
            ])
    }

    // MARK: Charges

    /// Newest first.
    func charges(
        withIntent: Bool, withRefunds: Bool, withMovement: Bool
    ) -> [(id: String, value: JSONTree)] {
        intent.charges.indices.reversed().map { index in
            let charge = intent.charges[index]
            let isNewest = index == intent.charges.count - 1
            // What the ledger holds is of the newest; those before it were declined.
            let record = isNewest ? record : nil
            let value = chargeValue(
                charge, of: record, withIntent: withIntent, withRefunds: withRefunds,
                movement: movement(of: charge, record, isWhole: withMovement))
            return (charge.id, value)
        }
    }

    /// The balance transaction that took a charge's money.
    private func movement(
        of charge: StripeIntent.Charge, _ record: TransactionRecord?, isWhole: Bool
    ) -> JSONTree {
        guard let record, record.capturedValue > 0 else { return .null }
        guard isWhole else { return .text(Self.movementID(by: charge.id)) }
        let at = record.captures.last { $0.status == .succeeded }?.createdAt ?? record.createdAt
        return movement(
            Self.movementID(by: charge.id), "charge", record.capturedValue, at: at, source: .text(charge.id))
    }

    /// The identifier of the balance transaction of a charge, a refund or a dispute.
    static func movementID(by source: String) -> String { "txn_\(source)" }

    /// The identifier of the balance transaction by which a refund that failed came back.
    static func failureID(of refund: String) -> String { movementID(by: refund) + "_failure" }

    /// A balance transaction (docs.stripe.com/api/balance_transactions/object).
    /// - Parameter at: milliseconds since 1970.
    func movement(_ id: String, _ type: String, _ amount: Int64, at: Int64, source: JSONTree) -> JSONTree {
        .object([
            ("id", .text(id)), ("object", .text("balance_transaction")), ("amount", .int(amount)),
            ("created", .int(at / 1_000)), ("currency", currency), ("source", source), ("type", .text(type)),
        ])
    }

    private func chargeValue(
        _ charge: StripeIntent.Charge, of record: TransactionRecord?, withIntent: Bool, withRefunds: Bool,
        movement: JSONTree
    ) -> JSONTree {
        let amount = record?.amount?.value ?? intent.amount.value
        let isDeclined = charge.failureCode != nil || record?.status == .declined
        let state = isDeclined ? "failed" : record?.status == .pending ? "pending" : "succeeded"
        let taken = isDeclined ? 0 : record?.capturedValue ?? 0
        let shown = isDeclined ? [] : refunds
        let back = shown.filter { !$0.isFailed }.map(\.amount).sumAsFarAsPossible
        let held = record?.status == .authorized ? record?.authorizedUntil : nil
        var members: [(String, JSONTree)] = [
            ("id", .text(charge.id)), ("object", .text("charge")), ("amount", .int(amount)),
            ("amount_captured", .int(taken)), ("amount_refunded", .int(back)), ("balance_transaction", movement),
            ("captured", .bool(taken > 0)),
            ("created", .int(charge.created)), ("currency", currency),
            ("disputed", .bool(!(record?.disputes ?? []).isEmpty)),
            ("failure_code", isDeclined ? .text(Self.declineCode) : .null),
            ("failure_message", isDeclined ? .text(Self.declineWords) : .null), ("livemode", .bool(false)),
            ("metadata", .texts(charge.metadata)), ("paid", .bool(state == "succeeded")),
            ("payment_intent", withIntent ? intentValue(withCharge: false) : .text(intent.id)),
            ("payment_method_details", Self.card(captureBefore: held)),
            ("refunded", .bool(!isDeclined && back >= amount)), ("status", .text(state)),
            ("transfer_group", .optional(intent.transferGroup)),
        ]
        if withRefunds {
            // Ten are shown with a charge, the newest.
            members.append(("refunds", Self.list(shown.prefix(10).map(\.value), hasMore: shown.count > 10)))
        }
        return .object(members)
    }

    /// - Parameter end: of the hold, milliseconds since 1970.
    private static func card(captureBefore end: Int64?) -> JSONTree {
        let card: [(String, JSONTree)] = [
            ("brand", .text("visa")), ("capture_before", end.map { .int($0 / 1_000) } ?? .null),
        ]
        return .object([("card", .object(card)), ("type", .text("card"))])
    }

    // MARK: Refunds, disputes

    struct RefundShape {
        let id: String
        let amount: Int64
        let isFailed: Bool
        let value: JSONTree
    }

    /// Newest first: what was asked for, and what a cancel or a capture of a part gave free, which Stripe shows as a
    /// refund without our metadata. What a dispute took back is no refund: the dispute alone shows it.
    var refunds: [RefundShape] {
        guard let record, let recorded = record.amount else { return [] }
        let lost = (record.disputes ?? []).map(\.refundKey)
        var shown = record.refunds.reversed().filter { !lost.contains($0.key) }.map { entry in
            refund(
                intent.refundID(entry.key), entry.amount.value, entry.status, at: entry.createdAt,
                metadata: intent.refundMetadata[entry.key] ?? [:], failed: entry.failedAt != nil)
        }
        let free: Int64 =
            switch record.status {
            case .voided, .expired: recorded.value
            case .captured where intent.takesLater: recorded.value - record.capturedValue
            default: 0
            }
        // It came with the capture, and so before every other refund.
        let at = record.captures.last { $0.status == .succeeded }?.createdAt ?? record.updatedAt
        let id = "re_free\(intent.id.dropFirst(3))"
        if free > 0 { shown.append(refund(id, free, .succeeded, at: at, metadata: [:], movesMoney: false)) }
        return shown
    }

    private func refund(
        _ id: String, _ amount: Int64, _ status: EntryStatus, at: Int64, metadata: [String: String],
        movesMoney: Bool = true, failed hadSucceeded: Bool = false
    ) -> RefundShape {
        let hasMoved = hadSucceeded || status == .succeeded && movesMoney
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
                ("balance_transaction", hasMoved ? .text(Self.movementID(by: id)) : .null),
                ("failure_balance_transaction", hadSucceeded ? .text(Self.failureID(of: id)) : .null),
                ("charge", .optional(intent.charges.last?.id)), ("created", .int(at / 1_000)), ("currency", currency),
                ("failure_reason", status == .declined ? .text("declined") : .null), ("metadata", .texts(metadata)),
                ("payment_intent", .text(intent.id)), ("status", .text(state)),
            ]))
    }

    var disputes: [(id: String, value: JSONTree)] {
        (record?.disputes ?? []).reversed().map { dispute in
            let value = JSONTree.object([
                ("id", .text(dispute.id)), ("object", .text("dispute")), ("amount", .int(dispute.amount.value)),
                ("charge", .optional(intent.charges.last?.id)), ("created", .int(dispute.createdAt / 1_000)),
                ("currency", currency), ("is_charge_refundable", .bool(dispute.status == .won)),
                ("payment_intent", .text(intent.id)),
                ("status", .text(dispute.status == .open ? "needs_response" : dispute.status.rawValue)),
            ])
            return (dispute.id, value)
        }
    }

    static func list(_ values: [JSONTree], hasMore: Bool) -> JSONTree {
        .object([
            ("object", .text("list")), ("data", .list(values)), ("has_more", .bool(hasMore)),
            ("url", .text("/v1/objects")),
        ])
    }
}
