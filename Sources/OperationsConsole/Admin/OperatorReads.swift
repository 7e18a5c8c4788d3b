public import HTTPEdge
public import Reconciler

/// What operators may read, across all callers. The composition root gives the closures, so that payments are
/// rendered in one place for callers and operators.
public struct OperatorReads: Sendable {
    /// Answers `GET /v1/payments` with a query string.
    public let list: @Sendable (_ query: String?) async -> OperatorAnswer
    /// Answers `GET /v1/payments/{id}` with the text at the place of the identifier.
    public let payment: @Sendable (_ id: String) async -> OperatorAnswer
    /// Answers `GET /v1/payments/{id}/events` with that text and a query string.
    public let events: @Sendable (_ id: String, _ query: String?) async -> OperatorAnswer
    /// Answers `GET /v1/payments/{id}/explanation` with that text.
    public let explanation: @Sendable (_ id: String) async -> OperatorAnswer

    /// What operators may read.
    public init(
        list: @escaping @Sendable (_ query: String?) async -> OperatorAnswer,
        payment: @escaping @Sendable (_ id: String) async -> OperatorAnswer,
        events: @escaping @Sendable (_ id: String, _ query: String?) async -> OperatorAnswer,
        explanation: @escaping @Sendable (_ id: String) async -> OperatorAnswer
    ) {
        self.list = list
        self.payment = payment
        self.events = events
        self.explanation = explanation
    }
}

extension OperatorReads {
    /// What operators are told while there is no store that could be read: to come again.
    /// - Parameter failure: Why there is none, at the moment of the question.
    public static func unavailable(_ failure: @escaping @Sendable () -> StoreFailure) -> OperatorReads {
        let answer: @Sendable () -> OperatorAnswer = { Answer(Problem.unavailable(failure())).told }
        return OperatorReads(
            list: { _ in answer() }, payment: { _ in answer() }, events: { _, _ in answer() },
            explanation: { _ in answer() })
    }
}
