public import HTTPEdge
public import PaymentCore
public import Reconciler

/// What operators may ask of the site.
public struct OperatorSite: Sendable {
    /// The operations.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// `GET /v1/site`
        case read
        /// `GET /v1/site/obstacles`
        case readObstacles
        /// `POST /v1/site/promote`
        case promote
        /// `POST /v1/site/drain`
        case drain
        /// `POST /v1/site/demote`
        case demote
        /// `POST /v1/site/mode`
        case setMode

        /// Whether a JSON body comes with it.
        public var takesBody: Bool { self == .promote || self == .setMode }
    }

    /// Answers an operation.
    public let answer: @Sendable (Operation, OperatorRequest) async -> OperatorAnswer

    /// What operators may ask.
    public init(answer: @escaping @Sendable (Operation, OperatorRequest) async -> OperatorAnswer) {
        self.answer = answer
    }
}

extension OperatorSite {
    /// Answers from a desk.
    public init(desk: SiteDesk, drainLimit: Span = .seconds(10)) {
        let routes = SiteRoutes(desk: desk, drainLimit: drainLimit)
        self.init { operation, request in
            switch operation {
            case .read: await routes.site(query: request.query)
            case .readObstacles: await routes.obstacles(query: request.query, for: request.person)
            case .promote:
                await routes.promote(
                    query: request.query, body: request.body, by: request.person, approver: request.approver)
            case .drain: await routes.drain(query: request.query)
            case .demote: await routes.demote(query: request.query)
            case .setMode: await routes.mode(query: request.query, body: request.body)
            }
        }
    }
}
