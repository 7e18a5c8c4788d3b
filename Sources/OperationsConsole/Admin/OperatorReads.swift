public import HTTPEdge

/// What operators may read, across all callers. The composition root gives the closures, so that payments are
/// rendered in one place for callers and operators.
public struct OperatorReads: Sendable {
    /// Answers `GET /v1/payments` with a query string.
    public let list: @Sendable (_ query: String?) async -> OperatorAnswer
    /// Answers `GET /v1/payments/{id}` with the text at the place of the identifier.
    public let payment: @Sendable (_ id: String) async -> OperatorAnswer
    /// Answers `GET /v1/payments/{id}/events` with that text and a query string.
    public let events: @Sendable (_ id: String, _ query: String?) async -> OperatorAnswer

    /// What operators may read.
    public init(
        list: @escaping @Sendable (_ query: String?) async -> OperatorAnswer,
        payment: @escaping @Sendable (_ id: String) async -> OperatorAnswer,
        events: @escaping @Sendable (_ id: String, _ query: String?) async -> OperatorAnswer
    ) {
        self.list = list
        self.payment = payment
        self.events = events
    }
}
