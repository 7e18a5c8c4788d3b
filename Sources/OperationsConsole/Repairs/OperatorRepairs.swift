public import HTTPEdge
public import Reconciler

/// What operators may ask of repairs.
public struct OperatorRepairs: Sendable {
    /// The operations.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// `GET /v1/repairs`
        case list
        /// `POST /v1/repairs`
        case propose
        /// `GET /v1/repairs/{id}`
        case read
        /// `POST /v1/repairs/{id}/approve`
        case approve
        /// `POST /v1/repairs/{id}/reject`
        case reject

        /// Whether a JSON body comes with it.
        public var takesBody: Bool { self == .propose || self == .approve || self == .reject }
    }

    /// Answers an operation.
    public let answer: @Sendable (Operation, OperatorRequest) async -> OperatorAnswer

    /// What operators may ask.
    public init(answer: @escaping @Sendable (Operation, OperatorRequest) async -> OperatorAnswer) {
        self.answer = answer
    }

    /// Answers from a desk.
    public init(desk: RepairDesk) {
        let routes = RepairRoutes(desk: desk)
        self.init { operation, request in
            switch operation {
            case .list: await routes.list(query: request.query)
            case .propose: await routes.propose(query: request.query, body: request.body, by: request.person)
            case .read: await routes.read(request.id, query: request.query)
            case .approve: await routes.decide(request, approves: true)
            case .reject: await routes.decide(request, approves: false)
            }
        }
    }
}
