import GRDB

extension ExecutionStep {
    /// Fills in the transaction's key where a call names only PayPay's own identifier.
    func named(_ request: ProviderRequest, _ call: PayPayCall) throws -> ProviderRequest {
        guard call.merchantPaymentID.isEmpty, let row = PayPayShapes.row(ofPaymentID: call.paymentID) else {
            return request
        }
        let table = TransactionTable(db: db, provider: request.provider)
        // A row of another provider, or one that is forgotten, is nothing here.
        guard let key = try table.find(id: row)?.record.key, try table.id(of: key) == row else { return request }
        var named = request
        named.key = key
        return named
    }
}

/// One call of PayPay's wire. Money moves by the rules of ``ContractRules``.
struct PayPayStep {
    let step: ExecutionStep
    let call: PayPayCall
    let request: ProviderRequest
    let fault: Fault?
    let table: TransactionTable
    private let rules: ContractRules

    init(
        step: ExecutionStep, call: PayPayCall, request: ProviderRequest, fault: Fault?, table: TransactionTable,
        contract: ContractRules
    ) {
        (self.step, self.call, self.request, self.fault, self.table) = (step, call, request, fault, table)
        // What the wire itself gives, whatever is configured.
        var options = contract.options
        options.tombstoning = false
        options.voidReversesSale = true
        options.notAfterEnforced = false
        rules = ContractRules(options: options, now: contract.now, twist: contract.twist, chance: contract.chance)
    }

    func execute() throws -> PayPayAnswer {
        switch try judged() {
        case .success(let answer): answer
        case .failure(let refusal): PayPayAnswer(refusal)
        }
    }

    /// - Returns: a refusal in the place of an answer; what is thrown is the ledger's failure.
    private func judged() throws -> Result<PayPayAnswer, PayPayRefusal> {
        if let refusal = call.refusal { return .failure(refusal) }
        let found = request.key.isEmpty ? nil : try step.settled(request.key, table, rules)
        switch (call.kind, found) {
        case (.sale, _): return try pay(.sale, found)
        case (.hold, _): return try pay(.authorize, found)
        case (_, nil): return .failure(.notFound)
        case (.capture, let found?): return try capture(found)
        case (.cancel, let found?): return try cancel(found)
        case (.refund, let found?): return try refund(found)
        case (.payment, let found?), (.refundDetails, let found?): return try show(found)
        }
    }

    private func shown(_ record: TransactionRecord, _ stored: StoredTransaction?) -> PayPayShapes {
        PayPayShapes(record: record, paymentID: PayPayShapes.paymentID(ofRow: stored?.id))
    }

    private func success(_ status: Int, _ data: JSONTree, code: String = "SUCCESS") -> PayPayAnswer {
        PayPayAnswer(status, code, "Done.", data: data)
    }

    private func show(_ found: StoredTransaction) throws -> Result<PayPayAnswer, PayPayRefusal> {
        guard let record = try step.viewed(found, fault, table, now: rules.now) else { return .failure(.notFound) }
        let shapes = shown(record, found)
        guard call.kind == .refundDetails else { return .success(success(200, shapes.payment)) }
        guard let entry = record.refunds.first(where: { $0.key == call.movementID }) else {
            return .failure(.noSuchRefund)
        }
        return .success(success(200, shapes.refund(entry)))
    }

    // MARK: Changes

    /// What there is under the identifier is shown again, whatever is asked for.
    private func pay(
        _ kind: TransactionKind, _ found: StoredTransaction?
    ) throws -> Result<PayPayAnswer, PayPayRefusal> {
        guard call.behaviour != .unknown else { return .failure(.unknownPayer) }
        guard let amount = call.amount else { return .failure(.invalid("amount")) }
        let order = PaymentOrder(
            kind: found?.record.kind ?? kind, amount: found?.record.amount ?? amount, metadata: call.metadata,
            behaviour: call.behaviour, fingerprint: found?.record.fingerprint ?? call.merchantPaymentID)
        let execution = rules.pay(order, inner(.pay(order)), found?.record)
        guard let record = execution.record else { return .failure(.notFound) }
        let stored = try save(execution, over: found)
        guard record.status != .declined else { return .failure(.noFunds) }
        let status = execution.answer.status == 409 ? 200 : execution.answer.status
        return .success(success(status, shown(record, stored).payment))
    }

    private func capture(_ found: StoredTransaction) throws -> Result<PayPayAnswer, PayPayRefusal> {
        let known = found.record.captures.first { $0.key == call.movementID }
        switch found.record.status {
        case .authorized: break
        case .captured: return .failure(.alreadyCaptured)
        case .expired: return .failure(.expired)
        default: return .failure(.notCapturable)
        }
        guard let asked = call.amount, let held = found.record.amount else { return .failure(.notCapturable) }
        guard !found.record.hasPendingCapture || known != nil else { return .failure(.notCapturable) }
        guard known != nil || asked.value <= held.value else { return .failure(.higherCapture) }
        let execution = rules.execute(inner(.capture(known?.requested ?? asked)), on: found.record)
        guard let record = execution.record else { return .failure(.notFound) }
        let stored = try save(execution, over: found)
        let data = shown(record, stored).payment
        switch record.captures.first(where: { $0.key == call.movementID })?.status {
        case .succeeded: return .success(success(200, data))
        case .pending: return .success(success(202, data, code: "USER_CONFIRMATION_REQUIRED"))
        case .declined: return .failure(.payerGone)
        case nil: return .failure(.notCapturable)
        }
    }

    /// Until 00:14:59 in Japan on the day after the payment.
    private func cancel(_ found: StoredTransaction) throws -> Result<PayPayAnswer, PayPayRefusal> {
        let dayMs: Int64 = 86_400_000
        let japanMs: Int64 = 9 * 3_600_000
        let day = (found.record.createdAt + japanMs) / dayMs
        let end = (day + 1) * dayMs - japanMs + 15 * 60_000
        guard found.record.status == .authorized || rules.now < end else { return .failure(.notReversible) }
        let execution = rules.void(inner(.void), found.record)
        guard execution.record?.status == .voided, found.record.status != .voided else {
            return .failure(.notReversible)
        }
        _ = try save(execution, over: found)
        return .success(success(202, .null, code: "REQUEST_ACCEPTED"))
    }

    private func refund(_ found: StoredTransaction) throws -> Result<PayPayAnswer, PayPayRefusal> {
        let known = found.record.refunds.first { $0.key == call.movementID }
        guard let asked = call.amount else { return .failure(.invalid("amount")) }
        guard found.record.status == .captured, known != nil || !found.record.isDisputed else {
            return .failure(.notRefundable)
        }
        let left = found.record.capturedValue - found.record.refundedValue
        guard known != nil || asked.value <= left else { return .failure(.tooMuch) }
        let execution = rules.execute(inner(.refund(known?.requested ?? asked)), on: found.record)
        guard let record = execution.record,
            let entry = record.refunds.first(where: { $0.key == call.movementID })
        else { return .failure(.notRefundable) }
        let stored = try save(execution, over: found)
        guard entry.status != .declined else { return .failure(.payerGone) }
        return .success(success(entry.status == .pending ? 202 : 200, shown(record, stored).refund(entry)))
    }

    // MARK: The rules

    /// The same request in the words of the rules.
    private func inner(_ command: ProviderRequest.Command) -> ProviderRequest {
        var inner = request
        inner.command = command
        inner.entryKey = call.movementID
        return inner
    }

    private func save(_ execution: Execution, over found: StoredTransaction?) throws -> StoredTransaction? {
        guard let record = execution.record, record != found?.record else { return found }
        return try step.save(record, over: found, execution.movements, fault, table, now: rules.now)
    }
}
