import GRDB

/// One call of Adyen's wire, inside one database transaction. Money moves by the rules of ``ContractRules``; what is
/// Adyen's own are the keys, and that a modification is answered as received whatever becomes of it.
struct AdyenStep {
    let step: ExecutionStep
    let call: AdyenCall
    let request: ProviderRequest
    let fault: Fault?
    let table: TransactionTable
    private let rules: ContractRules
    private let tables: AdyenTables

    init(
        step: ExecutionStep, call: AdyenCall, request: ProviderRequest, fault: Fault?, table: TransactionTable,
        contract: ContractRules
    ) {
        (self.step, self.call, self.request, self.fault, self.table) = (step, call, request, fault, table)
        // What the wire itself gives, whatever is configured.
        var options = contract.options
        options.tombstoning = false
        options.voidReversesSale = false
        options.notAfterEnforced = false
        options.declinesBound = true
        rules = ContractRules(options: options, now: contract.now, twist: contract.twist, chance: contract.chance)
        tables = AdyenTables(db: step.db, provider: request.provider)
    }

    func execute() throws -> AdyenAnswer {
        if let refusal = call.refusal { return AdyenAnswer(refusal) }
        let retention = rules.options.keyRetentionMs ?? AdyenTables.keyRetentionMs
        if let key = call.idempotencyKey, let kept = try tables.kept(key, now: rules.now, retentionMs: retention) {
            return kept
        }
        switch try judged() {
        case .failure(let refusal): return AdyenAnswer(refusal)
        case .success(let answer):
            // Errors are not kept: what was refused may be sent again.
            if let key = call.idempotencyKey { try tables.keep(answer, under: key, of: request.key, now: rules.now) }
            return answer
        }
    }

    private func judged() throws -> Result<AdyenAnswer, AdyenRefusal> {
        guard call.kind != .payment else { return try pay() }
        guard !request.key.isEmpty, let found = try step.settled(request.key, table, rules), let row = found.id else {
            // By the merchant's own reference a cancel is received, whether there is such a payment or not.
            return call.kind == .technicalCancel
                ? .success(received(payment: nil, amount: nil)) : .failure(.unknownPayment)
        }
        let execution = rules.execute(inner, on: found.record)
        if let record = execution.record, record != found.record {
            _ = try step.save(record, over: found, execution.movements, fault, table, now: rules.now)
        }
        let reason = failure(of: execution, on: found.record)
        if reason != nil || request.operation == .void {
            try tables.add(
                AdyenTables.Outcome(
                    reference: call.reference, event: event, row: row,
                    amount: call.amount ?? found.record.amount ?? Amount(value: 0, currency: "XXX"), reason: reason,
                    at: rules.now))
        }
        return .success(received(payment: AdyenReferences.payment(ofRow: row), amount: call.amount))
    }

    private func pay() throws -> Result<AdyenAnswer, AdyenRefusal> {
        guard call.behaviour != .unknown else { return .failure(.unknownCard) }
        guard let amount = call.amount else { return .failure(.invalid("Required field 'amount' is not provided.")) }
        let found = try step.settled(request.key, table, rules)
        let order = PaymentOrder(
            kind: .authorize, amount: found?.record.amount ?? amount, metadata: call.metadata,
            behaviour: call.behaviour, fingerprint: found?.record.fingerprint ?? call.reference)
        var inner = request
        inner.command = .pay(order)
        let execution = rules.pay(order, inner, found?.record)
        guard let record = execution.record else { return .failure(.invalid("The payment cannot be made.")) }
        var stored = found
        if record != found?.record {
            stored = try step.save(record, over: found, execution.movements, fault, table, now: rules.now)
        }
        let row = try stored?.id ?? table.id(of: request.key) ?? 0
        var members: [(String, JSONTree)] = [
            ("pspReference", .text(AdyenReferences.payment(ofRow: row))), ("resultCode", .text(Self.result(record))),
            ("merchantReference", .text(record.key)), ("amount", Self.amount(record.amount)),
        ]
        if record.status == .declined {
            members += [("refusalReason", .text("Not enough balance")), ("refusalReasonCode", .text("12"))]
        }
        return .success(AdyenAnswer(200, .object(members)))
    }

    private static func result(_ record: TransactionRecord) -> String {
        switch record.status {
        case .pending: "Pending"
        case .declined: "Refused"
        case .authorized, .captured, .voided, .tombstoned, .expired: "Authorised"
        }
    }

    static func amount(_ amount: Amount?) -> JSONTree {
        .object([("value", .int(amount?.value ?? 0)), ("currency", .text(amount?.currency ?? "XXX"))])
    }

    private func received(payment: String?, amount: Amount?) -> AdyenAnswer {
        var members: [(String, JSONTree)] = [
            ("merchantAccount", .text(call.merchant)), ("status", .text("received")),
            ("reference", .text(call.reference)),
            ("pspReference", .text(AdyenReferences.modification(call.reference))),
        ]
        if let payment { members.append(("paymentPspReference", .text(payment))) }
        if call.kind == .technicalCancel { members.append(("paymentReference", .text(call.paymentReference))) }
        if let amount { members.append(("amount", Self.amount(amount))) }
        return AdyenAnswer(201, .object(members))
    }

    /// The request in the words of the rules.
    private var inner: ProviderRequest {
        var inner = request
        inner.entryKey = call.reference
        switch call.kind {
        case .capture: inner.command = call.amount.map { .capture($0) } ?? .inquire
        case .refund: inner.command = call.amount.map { .refund($0) } ?? .inquire
        case .payment, .cancel, .technicalCancel: inner.command = .void
        }
        return inner
    }

    private var event: String {
        switch call.kind {
        case .payment: "AUTHORISATION"
        case .capture: "CAPTURE"
        case .refund: "REFUND"
        case .cancel: "CANCELLATION"
        case .technicalCancel: "TECHNICAL_CANCEL"
        }
    }

    /// Why a modification can never be done; nil where it was, or may be. One that is declined shows in the record.
    private func failure(of execution: Execution, on before: TransactionRecord) -> String? {
        let after = execution.record ?? before
        switch call.kind {
        case .payment: return nil
        case .capture:
            return after.captures.contains { $0.key == call.reference } ? nil : "Transaction hasn't been authorised"
        case .refund:
            return after.refunds.contains { $0.key == call.reference } ? nil : "Insufficient balance on payment"
        case .cancel, .technicalCancel:
            return [.voided, .expired, .declined].contains(after.status) ? nil : "Transaction already captured"
        }
    }
}

extension ExecutionStep {
    /// Fills in the payment's own reference, by which the ledger knows it: a modification names Adyen's.
    func named(_ request: ProviderRequest, _ call: AdyenCall) throws -> ProviderRequest {
        guard request.key.isEmpty, let row = AdyenReferences.row(ofPayment: call.payment) else { return request }
        let table = TransactionTable(db: db, provider: request.provider)
        // A row of another provider, or one that is forgotten, is nothing here.
        guard let key = try table.find(id: row)?.record.key, try table.id(of: key) == row else { return request }
        var named = request
        named.key = key
        return named
    }
}
