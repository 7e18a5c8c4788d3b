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
        let isKept =
            try tables.kept(
                key, now: now, retentionMs: options.keyRetentionMs ?? StripeTables.keyRetentionMs) != nil
        guard isExecuted || !isKept else { return }
        try tables.keep(StripeAnswer(.internalError), of: call, group: request.key, now: now)
    }
}
