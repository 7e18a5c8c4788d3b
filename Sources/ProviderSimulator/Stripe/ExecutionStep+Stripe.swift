import Foundation
import GRDB

/// Executes calls of Stripe's wire against the ledger, inside one database transaction. Money moves by the rules of
/// ``ContractRules``; what is Stripe's own are intents, their states and the keys.
extension ExecutionStep {
    /// What a call came to, and whether its execution began: only then is it kept under its key.
    typealias Executed = (answer: StripeAnswer, hasBegun: Bool)

    /// Fills in the key, the entry's key and the operation: a confirm does not name them, its intent does.
    func named(_ request: ProviderRequest) throws -> ProviderRequest {
        if case .paypay(let call) = request.command { return try named(request, call) }
        if case .adyen(let call) = request.command { return try named(request, call) }
        guard case .stripe(let call) = request.command else { return request }
        var named = request
        let intent = try about(call, StripeTables(db: db, provider: request.provider))
        let group = call.parameters["transfer_group"] ?? ""
        named.key = intent?.key ?? (MessageReader.isKey(group) ? group : "")
        named.operation = call.operation(takesLater: intent?.takesLater ?? true)
        let own = call.texts("metadata")[call.kind == .capture ? "reconciled_capture" : "reconciled_key"]
        let object = call.kind == .capture ? intent?.charges.last?.id : StripeIntent.newID("re_")
        if call.kind == .capture || call.kind == .refund {
            let keys = [own, call.idempotencyKey, object].compactMap { $0 }
            named.entryKey = keys.first(where: MessageReader.isKey) ?? ""
        }
        return named
    }

    private func about(_ call: StripeCall, _ tables: StripeTables) throws -> StripeIntent? {
        var id = call.kind == .charge ? StripeIntent.id(ofCharge: call.intent) : call.intent
        if id.isEmpty { id = call.parameters["payment_intent"] ?? "" }
        if id.isEmpty, let charge = call.parameters["charge"] { id = StripeIntent.id(ofCharge: charge) }
        return id.isEmpty ? nil : try tables.intent(id)
    }

    func execute(
        _ call: StripeCall, _ request: ProviderRequest, fault: Fault?, _ table: TransactionTable, _ rules: ContractRules
    ) throws -> StripeAnswer {
        guard call.isAuthorized else { return StripeAnswer(.unauthorized) }
        guard call.isTooLarge != true else { return StripeAnswer(.bodyTooLarge) }
        let tables = StripeTables(db: db, provider: request.provider)
        if fault?.kind == .keyForgotten { try tables.forgetKeys(of: request.key) }
        let retention = rules.options.keyRetentionMs ?? StripeTables.keyRetentionMs
        if let key = call.idempotencyKey, let kept = try tables.kept(key, now: rules.now, retentionMs: retention) {
            guard kept.fingerprint == call.fingerprint else {
                return .error(400, "idempotency_error", "This key was first used with other parameters.")
            }
            var replay = kept.answer
            replay.isReplay = true
            return replay
        }
        let step = StripeStep(step: self, call: call, request: request, fault: fault, table: table, rules: rules)
        let (answer, hasBegun) = try step.execute()
        if hasBegun { try tables.keep(answer, of: call, group: answer.group ?? request.key, now: rules.now) }
        return answer
    }

    /// An error that Stripe keeps under the key, whatever was executed. A key that has an answer keeps that, unless it
    /// is the answer that this error takes the place of.
    func keepError(_ request: ProviderRequest, isExecuted: Bool) throws {
        guard case .stripe(let call) = request.command, call.isAuthorized, let key = call.idempotencyKey else { return }
        let tables = StripeTables(db: db, provider: request.provider)
        let options = try contracts.options(of: request.provider)
        let now = clock.now() + options.clockOffsetMs
        let retention = options.keyRetentionMs ?? StripeTables.keyRetentionMs
        if let kept = try tables.kept(key, now: now, retentionMs: retention) {
            guard isExecuted, kept.fingerprint == call.fingerprint else { return }
        }
        try tables.keep(StripeAnswer(.internalError), of: call, group: request.key, now: now)
    }
}
