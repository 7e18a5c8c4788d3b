import Foundation
import GRDB

/// One call of Stripe's wire.
struct StripeStep {
    let step: ExecutionStep
    let call: StripeCall
    let request: ProviderRequest
    let fault: Fault?
    let table: TransactionTable
    let rules: ContractRules

    var tables: StripeTables { StripeTables(db: step.db, provider: request.provider) }

    func execute() throws -> ExecutionStep.Executed {
        switch call.kind {
        case .register: return try register()
        case .charges, .refunds, .disputes: return (try list(), false)
        case .refund: return try onIntent(call.parameters["payment_intent"] ?? "") { try refund($0, $1) }
        case .intent: return try onIntent(call.intent) { (StripeAnswer(200, shown($0, $1?.record)), false) }
        case .confirm: return try onIntent(call.intent) { try confirm($0, $1) }
        case .capture: return try onIntent(call.intent) { try capture($0, $1) }
        case .cancel: return try onIntent(call.intent) { try cancel($0, $1) }
        }
    }

    private func onIntent(
        _ id: String, _ body: (StripeIntent, StoredTransaction?) throws -> ExecutionStep.Executed
    ) throws -> ExecutionStep.Executed {
        guard let intent = try tables.intent(id) else { return (.missing("payment_intent"), false) }
        return try body(intent, try stored(intent))
    }

    /// The intent's transaction, with everything that time changed.
    func stored(_ intent: StripeIntent) throws -> StoredTransaction? {
        guard let row = intent.row, let found = try table.find(id: row) else { return nil }
        return try step.settle(found, table, rules)
    }

    private func shown(_ intent: StripeIntent, _ record: TransactionRecord?) -> StripeValue {
        StripeShapes(record: record, intent: intent).intentValue(withCharge: call.expands("latest_charge"))
    }

    /// Refused for where the intent stands. It shows the intent as it is.
    private func unexpected(_ intent: StripeIntent, _ record: TransactionRecord?) -> ExecutionStep.Executed {
        let shapes = StripeShapes(record: record, intent: intent)
        let answer = StripeAnswer.error(
            400, "invalid_request_error", code: "payment_intent_unexpected_state",
            "The PaymentIntent has the status \(intent.status(record)), which does not permit this.",
            more: [("payment_intent", shapes.intentValue(withCharge: false))])
        return (answer, true)
    }

    private func declined(_ intent: StripeIntent, _ record: TransactionRecord) -> ExecutionStep.Executed {
        let shapes = StripeShapes(record: record, intent: intent)
        let answer = StripeAnswer.error(
            402, "card_error", code: "card_declined", "The card was declined.",
            more: [
                ("decline_code", .text("insufficient_funds")), ("charge", .optional(intent.charges.last?.id)),
                ("payment_intent", shapes.intentValue(withCharge: false)),
            ])
        return (answer, true)
    }

    // MARK: Changes

    private func register() throws -> ExecutionStep.Executed {
        guard let value = call.parameters["amount"].flatMap({ Int64($0) }), value > 0 else {
            return (.invalid("parameter_invalid_integer", "Invalid integer.", parameter: "amount"), false)
        }
        let currency = (call.parameters["currency"] ?? "").uppercased()
        guard Amount.isCode(currency) else {
            return (.invalid(nil, "Invalid currency.", parameter: "currency"), false)
        }
        guard call.parameters["confirm"] != "true" else {
            return (.invalid(nil, "Confirming at once is not simulated.", parameter: "confirm"), false)
        }
        let behaviour = call.parameters["payment_method"].map { InstrumentBehaviour(instrument: $0) }
        guard behaviour != .unknown else {
            return (.invalid("resource_missing", "No such PaymentMethod.", parameter: "payment_method"), false)
        }
        let token = UUID().uuidString.replacing("-", with: "").lowercased().prefix(StripeIntent.tokenLength)
        let intent = StripeIntent(
            id: "pi_\(token)", createdAt: rules.now, amount: Amount(value: value, currency: currency),
            takesLater: call.parameters["capture_method"] == "manual", behaviour: behaviour,
            transferGroup: call.parameters["transfer_group"], metadata: call.texts("metadata"))
        try tables.save(intent)
        return (StripeAnswer(200, shown(intent, nil)), true)
    }

    private func confirm(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        guard intent.status(found?.record) == "requires_confirmation", let behaviour = intent.behaviour else {
            return unexpected(intent, found?.record)
        }
        let order = PaymentOrder(
            kind: intent.takesLater ? .authorize : .sale, amount: intent.amount, metadata: intent.metadata,
            behaviour: behaviour, fingerprint: intent.id)
        let execution = rules.pay(order, inner(.pay(order)), nil)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        var changed = intent
        let isDeclined = record.status == .declined
        changed.charges.append(
            StripeIntent.Charge(
                id: intent.chargeID, created: rules.now / 1_000, failureCode: isDeclined ? "card_declined" : nil,
                metadata: intent.metadata))
        // A decline takes the payment method away: nothing charges it later.
        if isDeclined { changed.behaviour = nil }
        // Two intents may be charged under one key of ours: both stay in the ledger.
        if try table.id(of: intent.key) != nil { try table.forget(intent.key) }
        changed.row = try save(record, over: nil, execution.movements).id
        try tables.save(changed)
        return isDeclined ? declined(changed, record) : (StripeAnswer(200, shown(changed, record)), true)
    }

    private func capture(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        guard let found, intent.status(found.record) == "requires_capture", let held = found.record.amount else {
            return unexpected(intent, found?.record)
        }
        let value = call.parameters["amount_to_capture"].flatMap { Int64($0) } ?? held.value
        guard value > 0, value <= held.value else {
            return (.invalid("amount_too_large", "More than can be captured.", parameter: "amount_to_capture"), false)
        }
        let execution = rules.execute(inner(.capture(held.with(value: value))), on: found.record)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        _ = try save(record, over: found, execution.movements)
        guard record.captures.last?.status != .declined else { return declined(intent, record) }
        var changed = intent
        changed.metadata.merge(call.texts("metadata")) { $1 }
        try tables.save(changed)
        return (StripeAnswer(200, shown(changed, record)), true)
    }

    private func cancel(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        let status = intent.status(found?.record)
        guard ["requires_payment_method", "requires_confirmation", "requires_capture"].contains(status) else {
            return unexpected(intent, found?.record)
        }
        var changed = intent
        changed.cancellationReason = call.parameters["cancellation_reason"]
        changed.isCanceled = true
        var record = found?.record
        if let found, found.record.status == .authorized {
            let execution = rules.void(inner(.void), found.record)
            record = execution.record
            if let voided = record { _ = try save(voided, over: found, execution.movements) }
        } else if found == nil, try table.id(of: intent.key) == nil {
            let tombstone = TransactionRecord(
                key: intent.key, kind: nil, status: .tombstoned, amount: nil, createdAt: rules.now,
                updatedAt: rules.now)
            changed.row = try save(tombstone, over: nil, []).id
            record = tombstone
        }
        try tables.save(changed)
        return (StripeAnswer(200, shown(changed, record)), true)
    }

    private func refund(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        guard let found, found.record.status == .captured, let taken = found.record.amount else {
            let words = "This PaymentIntent does not have a successful charge to refund."
            return (.invalid(nil, words, parameter: "payment_intent"), true)
        }
        guard !found.record.isDisputed else { return (.invalid("charge_disputed", "The charge is disputed."), true) }
        let left = found.record.capturedValue - found.record.refundedValue
        let value = call.parameters["amount"].flatMap { Int64($0) } ?? left
        guard left > 0 else {
            return (.invalid("charge_already_refunded", "The charge has already been refunded."), true)
        }
        guard value > 0, value <= left else {
            return (.invalid(nil, "Refund amount is greater than unrefunded amount.", parameter: "amount"), true)
        }
        let execution = rules.execute(inner(.refund(taken.with(value: value))), on: found.record)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        _ = try save(record, over: found, execution.movements)
        var changed = intent
        changed.refundMetadata[request.entryKey] = call.texts("metadata")
        try tables.save(changed)
        let id = StripeShapes.refundID(request.entryKey)
        let shown = StripeShapes(record: record, intent: changed).refunds.first { $0.id == id }
        return (StripeAnswer(200, shown?.value ?? .null), true)
    }

    /// The same request in the words of the rules.
    private func inner(_ command: ProviderRequest.Command) -> ProviderRequest {
        var inner = request
        inner.command = command
        return inner
    }

    private func save(
        _ record: TransactionRecord, over found: StoredTransaction?, _ movements: [Movement]
    ) throws -> StoredTransaction {
        try step.save(record, over: found, movements, fault, table, now: rules.now)
    }
}

extension StripeIntent {
    static let tokenLength = 24

    /// The identifier of the next charge.
    var chargeID: String { "ch_\(id.dropFirst(3))\(charges.count)" }

    /// The intent of a charge.
    static func id(ofCharge charge: String) -> String { "pi_" + charge.dropFirst(3).prefix(tokenLength) }
}
