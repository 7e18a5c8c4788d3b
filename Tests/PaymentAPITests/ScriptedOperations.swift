import PaymentCore
import Reconciler
import Synchronization

/// Operations that answer as a test tells them, and remember what reached them.
final class ScriptedOperations: PaymentOperations {
    enum Call: Sendable, Hashable {
        case create(CreateRequest, fingerprint: Digest, wait: Span)
        case capture(OperationCommand, amounts: [Int: Money]?)
        case cancel(OperationCommand, reason: String?)
        case refund(OperationCommand, amounts: [Int: Money]?, reason: String?)
        case reconcile(CallerID, PaymentID, wait: Span)
        case take(EffectNews, ProviderName, PaymentID?)
        case keep(StoredAnswer, CallerID, IdempotencyKey)
    }

    struct Script: Sendable {
        var result: Result<OperationResult, OperationFailure> = .failure(.notFound)
        /// What is returned instead of the answer that is kept.
        var keptBefore: StoredAnswer?
        var keepFailure: OperationFailure?
        var readFailure: OperationFailure?
        var payments: [Payment] = []
        var entries: [AuditEntry] = []
        var webhooks: [Webhook] = []
        var webhookFailure: StoreFailure?
        /// Runs before an operation answers.
        var delay: (@Sendable () async -> Void)?
    }

    private struct State {
        var script = Script()
        var calls: [Call] = []
        var queries: [PaymentQuery] = []
    }

    private let state = Mutex(State())

    var calls: [Call] { state.withLock { $0.calls } }
    var queries: [PaymentQuery] { state.withLock { $0.queries } }
    /// What was asked for, without what was kept.
    var asked: [Call] {
        calls.filter { call in
            if case .keep = call { return false }
            return true
        }
    }
    var kept: [StoredAnswer] {
        calls.compactMap { call in
            guard case .keep(let answer, _, _) = call else { return nil }
            return answer
        }
    }

    func set(_ change: @Sendable (inout Script) -> Void) { state.withLock { change(&$0.script) } }

    private func act(_ call: Call) async throws(OperationFailure) -> OperationResult {
        let script = state.withLock { state in
            state.calls.append(call)
            return state.script
        }
        await script.delay?()
        return try script.result.get()
    }

    func create(
        _ request: CreateRequest, fingerprint: Digest, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        try await act(.create(request, fingerprint: fingerprint, wait: wait))
    }

    func capture(
        _ command: OperationCommand, amounts: [Int: Money]?
    ) async throws(OperationFailure) -> OperationResult {
        try await act(.capture(command, amounts: amounts))
    }

    func cancel(
        _ command: OperationCommand, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await act(.cancel(command, reason: reason))
    }

    func refund(
        _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await act(.refund(command, amounts: amounts, reason: reason))
    }

    func reconcile(
        caller: CallerID, payment: PaymentID, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        try await act(.reconcile(caller, payment, wait: wait))
    }

    /// What it finds is a payment of the script that has the effect.
    func take(
        _ news: EffectNews, from provider: ProviderName, of payment: PaymentID?
    ) async throws(OperationFailure) -> Bool {
        _ = try await act(.take(news, provider, payment))
        return state.withLock { $0.script.payments }.contains { $0.leg(of: news.key, at: provider) != nil }
    }

    func payment(caller: CallerID, _ id: PaymentID) async throws(OperationFailure) -> Payment {
        let script = state.withLock { $0.script }
        if let failure = script.readFailure { throw failure }
        guard let found = script.payments.first(where: { $0.id == id && $0.caller == caller }) else {
            throw .notFound
        }
        return found
    }

    /// What the callers' API reads webhooks from.
    @Sendable func webhook(of id: PaymentID) async throws(StoreFailure) -> Webhook? {
        let script = state.withLock { $0.script }
        if let failure = script.webhookFailure { throw failure }
        return script.webhooks.first { $0.payment == id }
    }

    func payments(_ query: PaymentQuery) async throws(OperationFailure) -> Page<Payment> {
        let script = state.withLock { state in
            state.queries.append(query)
            return state.script
        }
        if let failure = script.readFailure { throw failure }
        var found = script.payments.filter { $0.caller == query.caller }
        if let after = query.after, let index = found.firstIndex(where: { $0.id == after.id }) {
            found = Array(found[(index + 1)...])
        }
        let items = Array(found.prefix(query.limit))
        guard found.count > query.limit, let last = items.last else { return Page(items: items, next: nil) }
        return Page(items: items, next: PageCursor(createdAt: last.createdAt, id: last.id))
    }

    func events(
        caller: CallerID, payment: PaymentID, after sequence: Int64, limit: Int
    ) async throws(OperationFailure) -> [AuditEntry] {
        _ = try await self.payment(caller: caller, payment)
        let entries = state.withLock { $0.script.entries }
        return Array(entries.filter { $0.sequence > sequence }.prefix(limit))
    }

    func keep(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(OperationFailure) -> StoredAnswer {
        let script = state.withLock { state in
            state.calls.append(.keep(answer, caller, key))
            return state.script
        }
        if let failure = script.keepFailure { throw failure }
        return script.keptBefore ?? answer
    }
}
