internal import HTTPTransport
internal import PaymentCore

/// A complete answer, read as far as it can be read.
///
/// What cannot be read is a finding too, never an error.
struct ProviderAnswer: Sendable {
    /// What the body is.
    enum Content: Sendable, Hashable {
        /// The whole transaction.
        case transaction(WireTransaction)
        /// A problem document.
        case problem(ProblemDocument)
        /// Anything else, with a short code that says what.
        case unreadable(String)
    }

    /// The status code.
    let status: Int
    /// The body.
    let content: Content
    /// How long the provider wants to be left alone, where it said so readably.
    let retryAfter: RetryAfter?
    /// Bytes of the request that were written.
    let bytesWritten: Int

    /// Reads an answer.
    ///
    /// Only `application/json` can be a transaction, and only with a status that carries one; a problem
    /// document may come under either of the JSON types.
    init(_ response: HTTPResponse) {
        status = response.status
        bytesWritten = response.bytesWritten
        retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        switch MediaType(response.fields) {
        case .json where Self.carriesTransaction(response.status):
            content =
                Self.read(response.body, WireTransaction.init).map(Content.transaction)
                ?? .unreadable("malformed_body")
        case .json, .problem:
            content =
                Self.read(response.body, ProblemDocument.init).map(Content.problem) ?? .unreadable("malformed_body")
        case .missing:
            content = .unreadable(response.body.isEmpty ? "empty_body" : "wrong_content_type")
        case .other:
            content = .unreadable("wrong_content_type")
        }
    }

    /// Whether the contract answers this status with the whole transaction.
    static func carriesTransaction(_ status: Int) -> Bool {
        (200...299).contains(status) || status == 402 || status == 409
    }

    private static func read<Value>(
        _ body: [UInt8], _ value: (AnswerObject) throws(MalformedAnswer) -> Value
    ) -> Value? {
        do {
            return try value(AnswerObject(body: body))
        } catch {
            return nil  // That it cannot be read is all that there is to know.
        }
    }
}

/// What an answer says that its body is.
enum MediaType: Sendable, Hashable {
    /// `application/json`
    case json
    /// `application/problem+json`
    case problem
    /// Nothing is said.
    case missing
    /// Something else, or two things at once.
    case other

    /// Reads `Content-Type`, without its parameters.
    init(_ fields: HTTPFields) {
        let values = fields.values(of: "Content-Type")
        guard let value = values.first else {
            self = .missing
            return
        }
        guard values.count == 1 else {
            self = .other
            return
        }
        let type = value.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        switch type {
        case "application/json": self = .json
        case "application/problem+json": self = .problem
        default: self = .other
        }
    }
}

/// A problem document (RFC 9457): as much of it as decisions need.
struct ProblemDocument: Sendable, Hashable {
    /// The kind of problem.
    let type: String
    /// The status that the document repeats, if it does.
    let status: Int?
    /// The key that the document is about, if it says so.
    let key: String?

    init(type: String, status: Int?, key: String? = nil) {
        self.type = type
        self.status = status
        self.key = key
    }

    /// Reads a problem document.
    init(_ object: AnswerObject) throws(MalformedAnswer) {
        type = try object.text("type")
        status = try object.optionalWholeNumber("status").map { Int($0) }
        key = try object.optionalText("key")
        guard (1...500).contains(type.utf8.count) else { throw MalformedAnswer() }
    }
}
