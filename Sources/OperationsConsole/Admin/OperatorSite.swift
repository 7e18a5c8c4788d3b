public import Reconciler

/// What operators may ask of the site. The composition root gives the closure, so that the documents are made where all
/// others are.
public struct OperatorSite: Sendable {
    /// The operations.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// `GET /v1/site`
        case read
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
