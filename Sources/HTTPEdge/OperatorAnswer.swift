/// An answer to an operator: given once, and kept for nobody.
public struct OperatorAnswer: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The media type.
    public var contentType: String
    /// The `Location`, if there is one.
    public var location: String?
    /// The `Retry-After` in whole seconds, if there is one.
    public var retryAfter: Int?
    /// The body.
    public var body: [UInt8]

    /// An answer.
    public init(status: Int, contentType: String, location: String? = nil, retryAfter: Int? = nil, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.location = location
        self.retryAfter = retryAfter
        self.body = body
    }
}

extension OperatorAnswer {
    /// What an operator is told: the answer, or the problem that stood in its way.
    package static func of(_ make: () async throws(Problem) -> Answer) async -> OperatorAnswer {
        do {
            return try await make().told
        } catch {
            return Answer(error).told
        }
    }
}

extension Answer {
    /// What an operator is told.
    package var told: OperatorAnswer {
        OperatorAnswer(
            status: status, contentType: contentType, location: location, retryAfter: retryAfter, body: body)
    }
}
