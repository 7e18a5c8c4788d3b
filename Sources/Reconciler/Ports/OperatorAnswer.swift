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
