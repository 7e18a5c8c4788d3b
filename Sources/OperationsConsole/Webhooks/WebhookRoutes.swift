internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// Answers what operators ask of webhooks.
struct WebhookRoutes: Sendable {
    let store: any WebhookStore
    /// How a webhook is shown.
    let document: @Sendable (Webhook) -> JSONValue

    /// `GET /v1/webhooks`
    func list(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            let query = try WebhookQueries.list(query)
            let page = try await ask { () async throws(StoreFailure) in try await store.webhooks(query) }
            return Answer.page(
                page.items.map(document), next: page.next.map { WebhookQueries.text(of: $0, query) })
        }
    }

    /// `GET /v1/webhooks/{id}`
    func read(_ id: String, query: String?) async -> OperatorAnswer {
        await answer(200, id, query) { payment async throws(StoreFailure) in try await store.webhook(of: payment) }
    }

    /// `POST /v1/webhooks/{id}/redeliver`
    func redeliver(_ id: String, query: String?) async -> OperatorAnswer {
        await answer(202, id, query) { payment async throws(StoreFailure) in
            try await store.redeliverWebhook(of: payment)
        }
    }

    /// `POST /v1/webhooks/redeliver`
    func redeliverGivenUp(query: String?, body: [UInt8]) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let caller = try WebhookBodies.caller(body)
            let count = try await ask { () async throws(StoreFailure) in
                try await store.redeliverWebhooks(of: caller)
            }
            return Answer(202, .members(["redelivered": .integer(count)]))
        }
    }

    /// The webhook of a payment, as the store has it or makes it.
    private func answer(
        _ status: Int, _ id: String, _ query: String?,
        _ body: (PaymentID) async throws(StoreFailure) -> Webhook?
    ) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            guard let payment = PaymentID(text: id) else {
                throw .malformed(field: "id", "Must be pay_ and 40 lowercase hexadecimal digits.")
            }
            let found = try await ask { () async throws(StoreFailure) in try await body(payment) }
            guard let found else { throw .neverReported }
            return Answer(status, document(found))
        }
    }

    private func ask<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw Problem(redelivering: error)
        }
    }
}

extension Problem {
    /// The problem of a store that did not do what was asked of webhooks.
    fileprivate init(redelivering failure: StoreFailure) {
        guard failure.code == .inactive else {
            self = .unavailable(failure)
            return
        }
        self.init(
            .stateConflict, 409, "The state does not permit this",
            detail: "This site is not active. Redeliver at the active one; /v1/site names it.")
    }
}
