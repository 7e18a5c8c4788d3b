import Foundation
import GRDB

/// Executes calls of Stripe's wire against the ledger, inside one database transaction. Money moves by the rules of
/// ``ContractRules``; what is Stripe's own are intents, their states and the keys.
extension ExecutionStep {
    /// What a call came to, and whether its execution began: only then is it kept under its key.
    typealias Executed = (answer: StripeAnswer, hasBegun: Bool)

    /// Fills in the key, the entry's key and the operation: a confirm does not name them, its intent does.
    func named(_ request: ProviderRequest) throws -> ProviderRequest {
        guard case .stripe(let call) = request.command else { return request }
        var named = request
        let intent = try about(call, StripeTables(db: db, provider: request.provider))
        let group = call.parameters["transfer_group"] ?? ""
        named.key = intent?.key ?? (MessageReader.isKey(group) ? group : "")
        named.operation = call.operation(takesLater: intent?.takesLater ?? true)
        let own = call.texts("metadata")[call.kind == .capture ? "reconciled_capture" : "reconciled_key"]
        if call.kind == .capture || call.kind == .refund {
            named.entryKey = [own, call.idempotencyKey].compactMap { $0 }.first(where: MessageReader.isKey) ?? ""
        }
        return named
    }

    private func about(_ call: StripeCall, _ tables: StripeTables) throws -> StripeIntent? {
        var id = call.intent
        if id.isEmpty { id = call.parameters["payment_intent"] ?? "" }
        if id.isEmpty, let charge = call.parameters["charge"] { id = StripeIntent.id(ofCharge: charge) }
        return id.isEmpty ? nil : try tables.intent(id)
    }

    func execute(
        _ call: StripeCall, _ request: ProviderRequest, fault: Fault?, _ table: TransactionTable, _ rules: ContractRules
    ) throws -> StripeAnswer {
        guard call.isAuthorized else { return StripeAnswer(.unauthorized) }
        let tables = StripeTables(db: db, provider: request.provider)
        if fault?.kind == .keyForgotten { try tables.forgetKeys(of: request.key) }
        let retention = rules.options.keyRetentionMs ?? StripeTables.keyRetentionMs
        if let key = call.idempotencyKey, let kept = try tables.kept(key, now: rules.now, retentionMs: retention) {
            guard kept.fingerprint == call.fingerprint else {
                return .error(
                    400, "idempotency_error",
                    "Keys for idempotent requests can only be used with the same parameters they were first used with.")
            }
            var replay = kept.answer
            replay.isReplay = true
            return replay
        }
        let step = StripeStep(step: self, call: call, request: request, fault: fault, table: table, rules: rules)
        let (answer, hasBegun) = try step.execute()
        if hasBegun { try tables.keep(answer, of: call, group: request.key, now: rules.now) }
        return answer
    }

    /// An error that Stripe keeps under the key, whatever was executed. A key that has an answer keeps that.
    func keepError(_ request: ProviderRequest, isExecuted: Bool) throws {
        guard case .stripe(let call) = request.command, let key = call.idempotencyKey else { return }
        let tables = StripeTables(db: db, provider: request.provider)
        let options = try contracts.options(of: request.provider)
        let now = clock.now() + options.clockOffsetMs
        let isKept = try tables.kept(
            key, now: now, retentionMs: options.keyRetentionMs ?? StripeTables.keyRetentionMs) != nil
        guard isExecuted || !isKept else { return }
        try tables.keep(StripeAnswer(.internalError), of: call, group: request.key, now: now)
    }
}

/// One call of Stripe's wire.
struct StripeStep {
    let step: ExecutionStep
    let call: StripeCall
    let request: ProviderRequest
    let fault: Fault?
    let table: TransactionTable
    let rules: ContractRules

    private var tables: StripeTables { StripeTables(db: step.db, provider: request.provider) }

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
    private func stored(_ intent: StripeIntent) throws -> StoredTransaction? {
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

    // MARK: Lists

    private func list() throws -> StripeAnswer {
        let limit = min(max(call.parameters["limit"].flatMap { Int($0) } ?? 10, 1), 100)
        switch call.kind {
        case .charges: return try charges(limit)
        case .refunds:
            guard let shapes = try viewed() else { return .missing("charge") }
            let all = shapes.refunds
            let start = call.parameters["starting_after"].flatMap { id in all.firstIndex { $0.id == id } }
            let rest = all.dropFirst(start.map { $0 + 1 } ?? 0)
            return StripeAnswer(
                200, StripeShapes.list(rest.prefix(limit).map(\.value), hasMore: rest.count > limit))
        default:
            guard let shapes = try viewed() else { return .missing("charge") }
            return StripeAnswer(200, StripeShapes.list(shapes.disputes, hasMore: false))
        }
    }

    private func charges(_ limit: Int) throws -> StripeAnswer {
        var intents: [StripeIntent]
        if let id = call.parameters["payment_intent"] {
            intents = try tables.intent(id).map { [$0] } ?? []
        } else {
            let last = call.parameters["starting_after"].map { StripeIntent.id(ofCharge: $0) }
            intents = try tables.intents(
                group: call.parameters["transfer_group"], before: last, limit: limit == 100 ? 400 : limit + 1)
        }
        var values: [StripeValue] = []
        for intent in intents {
            let shapes = StripeShapes(record: try view(intent), intent: intent)
            values += shapes.chargeValues(
                withIntent: call.expands("data.payment_intent"), withRefunds: call.expands("data.refunds"))
        }
        return StripeAnswer(200, StripeShapes.list(Array(values.prefix(limit)), hasMore: values.count > limit))
    }

    private func viewed() throws -> StripeShapes? {
        let id =
            call.parameters["payment_intent"] ?? call.parameters["charge"].map { StripeIntent.id(ofCharge: $0) } ?? ""
        guard let intent = try tables.intent(id) else { return nil }
        return StripeShapes(record: try view(intent), intent: intent)
    }

    /// The transaction as this read sees it: a stale one shows the state before the last change.
    private func view(_ intent: StripeIntent) throws -> TransactionRecord? {
        guard let found = try stored(intent) else { return nil }
        return try step.viewed(found, fault, table, now: rules.now)
    }
}

extension StripeIntent {
    static let tokenLength = 24

    /// The identifier of the next charge.
    var chargeID: String { "ch_\(id.dropFirst(3))\(charges.count)" }

    /// The intent of a charge.
    static func id(ofCharge charge: String) -> String { "pi_" + charge.dropFirst(3).prefix(tokenLength) }
}
