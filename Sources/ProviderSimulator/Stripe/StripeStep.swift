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
        if let refusal = StripeParameters(call: call).refusal() { return (refusal, false) }
        switch call.kind {
        case .register: return try register()
        case .charges, .refunds, .disputes: return (try list(), false)
        case .charge: return (try charge(), false)
        case .movements: return (try movements(), false)
        case .refund: return try refund()
        case .intent: return (try one(), false)
        case .confirm: return try onIntent(call.intent) { try confirm($0, $1) }
        case .capture: return try onIntent(call.intent) { try capture($0, $1) }
        case .cancel: return try onIntent(call.intent) { try cancel($0, $1) }
        }
    }

    /// - Parameter parameter: what names the intent.
    func onIntent(
        _ id: String, named parameter: String = "intent",
        _ body: (StripeIntent, StoredTransaction?) throws -> ExecutionStep.Executed
    ) throws -> ExecutionStep.Executed {
        guard let intent = try tables.intent(id) else {
            return (.missing("payment_intent", id, parameter: parameter), false)
        }
        return try body(intent, try stored(intent))
    }

    /// The intent's transaction, with everything that time changed.
    func stored(_ intent: StripeIntent) throws -> StoredTransaction? {
        guard let row = intent.row, let found = try table.find(id: row) else { return nil }
        return try step.settle(found, table, rules)
    }

    private func shown(_ intent: StripeIntent, _ record: TransactionRecord?) -> JSONTree {
        StripeShapes(record: record, intent: intent).intentValue(withCharge: call.expands("latest_charge"))
    }

    /// Refused for where the intent stands. It shows the intent as it is.
    private func unexpected(_ intent: StripeIntent, _ record: TransactionRecord?) -> ExecutionStep.Executed {
        let shapes = StripeShapes(record: record, intent: intent)
        let answer = StripeAnswer.error(
            400, "invalid_request_error", code: "payment_intent_unexpected_state",
            "This PaymentIntent's status is \(intent.status(record)), which does not permit this.",
            more: [("payment_intent", shapes.intentValue(withCharge: false))])
        return (answer, true)
    }

    private func declined(_ intent: StripeIntent, _ record: TransactionRecord) -> ExecutionStep.Executed {
        (StripeShapes(record: record, intent: intent).declineAnswer, true)
    }

    // MARK: Changes

    private func register() throws -> ExecutionStep.Executed {
        for name in ["amount", "currency"] where call.parameters[name] == nil {
            return (.invalid("parameter_missing", "Missing required param: \(name).", parameter: name), false)
        }
        let currency = (call.parameters["currency"] ?? "").uppercased()
        guard let value = call.parameters["amount"].flatMap({ Int64($0) }), Amount.isCode(currency) else {
            return (.invalid(nil, "Invalid currency.", parameter: "currency"), false)
        }
        let behaviour = call.parameters["payment_method"].map { InstrumentBehaviour(instrument: $0) }
        guard behaviour != .unknown else { return (noSuchMethod, false) }
        let intent = StripeIntent(
            id: StripeIntent.newID("pi_"), createdAt: rules.now, amount: Amount(value: value, currency: currency),
            takesLater: call.parameters["capture_method"] == "manual", behaviour: behaviour,
            transferGroup: call.parameters["transfer_group"], metadata: call.texts("metadata"))
        try tables.save(intent)
        var answer = StripeAnswer(200, shown(intent, nil))
        answer.group = intent.key
        return (answer, true)
    }

    private var noSuchMethod: StripeAnswer {
        let words = "No such PaymentMethod: '\(call.parameters["payment_method"] ?? "")'"
        return .invalid("resource_missing", words, parameter: "payment_method")
    }

    private func confirm(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        let given = call.parameters["payment_method"].map { InstrumentBehaviour(instrument: $0) }
        guard given != .unknown else { return (noSuchMethod, false) }
        let status = intent.status(found?.record)
        // A method that is given with the confirm takes the place of one that was declined.
        let mayBegin = status == "requires_confirmation" || status == "requires_payment_method" && given != nil
        guard mayBegin, let behaviour = given ?? intent.behaviour else { return unexpected(intent, found?.record) }
        let order = PaymentOrder(
            kind: intent.takesLater ? .authorize : .sale, amount: intent.amount, metadata: intent.metadata,
            behaviour: behaviour, fingerprint: intent.id,
            // Whoever wants an error instead is not there to act.
            returnURL: call.parameters["error_on_requires_action"] == "true" ? nil : call.parameters["return_url"])
        let execution = rules.pay(order, inner(.pay(order)), nil)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        var changed = intent
        let isDeclined = record.status == .declined
        changed.behaviour = behaviour
        if found?.record.status == .declined { changed.failLastCharge() }
        // Before its payer has acted there is no charge (docs.stripe.com/payments/paymentintents/lifecycle).
        if !record.awaitsPayer {
            changed.addCharge(at: rules.now, failureCode: isDeclined ? StripeShapes.declineCode : nil)
        }
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
        guard value <= held.value else {
            return (.invalid("amount_too_large", "More than can be captured.", parameter: "amount_to_capture"), false)
        }
        let execution = rules.execute(inner(.capture(held.with(value: value))), on: found.record)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        _ = try save(record, over: found, execution.movements)
        guard record.captures.last?.status != .declined else { return declined(intent, record) }
        var changed = intent
        changed.captureMetadata = call.texts("metadata")
        try tables.save(changed)
        return (StripeAnswer(200, shown(changed, record)), true)
    }

    private func cancel(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        let status = intent.status(found?.record)
        let open = ["requires_payment_method", "requires_confirmation", "requires_action", "requires_capture"]
        guard open.contains(status) else {
            return unexpected(intent, found?.record)
        }
        var changed = intent
        changed.cancellationReason = call.parameters["cancellation_reason"]
        changed.isCanceled = true
        var record = found?.record
        if let found, found.record.status == .authorized || found.record.awaitsPayer {
            let execution = rules.void(inner(.void), found.record)
            record = execution.record
            if let voided = record { _ = try save(voided, over: found, execution.movements) }
        } else if found == nil, try table.id(of: intent.key) == nil {
            let tombstone = TransactionRecord(
                key: intent.key, kind: nil, status: .tombstoned, amount: nil, createdAt: rules.now,
                updatedAt: rules.now)
            changed.row = try save(tombstone, over: nil, []).id
        }
        try tables.save(changed)
        return (StripeAnswer(200, shown(changed, record)), true)
    }

    /// The same request in the words of the rules.
    func inner(_ command: ProviderRequest.Command, entryKey: String? = nil) -> ProviderRequest {
        var inner = request
        inner.command = command
        inner.entryKey = entryKey ?? request.entryKey
        return inner
    }

    func save(
        _ record: TransactionRecord, over found: StoredTransaction?, _ movements: [Movement]
    ) throws -> StoredTransaction {
        try step.save(record, over: found, movements, fault, table, now: rules.now)
    }
}

extension StripeIntent {
    private static let tokenLength = 24

    /// An identifier that there was not before.
    static func newID(_ kind: String) -> String {
        kind + UUID().uuidString.replacing("-", with: "").lowercased().prefix(tokenLength)
    }

    /// One more try to charge it.
    mutating func addCharge(at now: Int64, failureCode: String?) {
        charges.append(Charge(id: chargeID, created: now / 1_000, failureCode: failureCode, metadata: metadata))
    }

    /// The identifier of the next charge.
    var chargeID: String { "ch_\(id.dropFirst(3))\(charges.count)" }

    /// The intent of a charge.
    static func id(ofCharge charge: String) -> String { "pi_" + charge.dropFirst(3).prefix(tokenLength) }

    /// The identifier of a refund, by its key in the ledger.
    func refundID(_ key: String) -> String {
        key.hasPrefix("re_") ? key : "re_" + BulkOrder.digest(["refund", id, key]).prefix(Self.tokenLength)
    }

    /// What was pending when it was charged was declined: another charge may follow.
    fileprivate mutating func failLastCharge() {
        guard let last = charges.indices.last, charges[last].failureCode == nil else { return }
        charges[last].failureCode = StripeShapes.declineCode
    }
}
