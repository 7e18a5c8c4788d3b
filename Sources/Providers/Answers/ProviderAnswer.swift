internal import Foundation
internal import HTTPTransport

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
        let body = Data(response.body)
        switch MediaType(response.fields) {
        case .json where Self.carriesTransaction(response.status):
            content =
                Self.read(WireTransaction.self, body).map(Content.transaction)
                ?? .unreadable("malformed_body")
        case .json, .problem:
            content =
                Self.read(ProblemDocument.self, body).map(Content.problem) ?? .unreadable("malformed_body")
        case .missing:
            content = .unreadable(body.isEmpty ? "empty_body" : "wrong_content_type")
        case .other:
            content = .unreadable("wrong_content_type")
        }
    }

    /// Whether the contract answers this status with the whole transaction.
    static func carriesTransaction(_ status: Int) -> Bool {
        (200...299).contains(status) || status == 402 || status == 409
    }

    private static func read<Value: Decodable>(_ type: Value.Type, _ body: Data) -> Value? {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            // Why it does not parse is of no consequence: whatever the reason, it is evidence of nothing. The
            // error is not kept, because it may quote the body.
            return nil
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
struct ProblemDocument: Decodable, Sendable, Hashable {
    /// The kind of problem.
    let type: String
    /// The status that the document repeats, if it does.
    let status: Int?

    private enum CodingKeys: String, CodingKey { case type, status }

    init(type: String, status: Int?) {
        self.type = type
        self.status = status
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = try container.decode(String.self, forKey: .type)
        status = try container.decodeIfPresent(Int.self, forKey: .status)
        guard !type.isEmpty, type.utf8.count <= 500 else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "1 to 500 bytes")
        }
    }
}
