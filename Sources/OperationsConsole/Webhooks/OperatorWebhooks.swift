public import HTTPEdge
package import Reconciler
package import StrictJSON

/// What operators may ask of webhooks.
public struct OperatorWebhooks: Sendable {
    /// The operations.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// `GET /v1/webhooks`
        case list
        /// `POST /v1/webhooks/redeliver`
        case redeliverGivenUp
        /// `GET /v1/webhooks/{id}`
        case read
        /// `POST /v1/webhooks/{id}/redeliver`
        case redeliver

        /// Whether a JSON body comes with it.
        public var takesBody: Bool { self == .redeliverGivenUp }
    }

    /// Answers an operation.
    public let answer: @Sendable (Operation, OperatorRequest) async -> OperatorAnswer

    /// What operators may ask.
    public init(answer: @escaping @Sendable (Operation, OperatorRequest) async -> OperatorAnswer) {
        self.answer = answer
    }

    /// Answers from a store.
    ///
    /// - Parameter document: How a webhook is shown.
    package init(store: any WebhookStore, document: @escaping @Sendable (Webhook) -> JSONValue) {
        let routes = WebhookRoutes(store: store, document: document)
        self.init { operation, request in
            switch operation {
            case .list: await routes.list(query: request.query)
            case .redeliverGivenUp: await routes.redeliverGivenUp(query: request.query, body: request.body)
            case .read: await routes.read(request.id, query: request.query)
            case .redeliver: await routes.redeliver(request.id, query: request.query)
            }
        }
    }
}
