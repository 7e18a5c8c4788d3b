internal import Foundation
internal import HTTPTransport
internal import PaymentCore

/// `GET /transactions/{key}`: the status.
struct GetTransaction: ProviderRequest {
    typealias Response = ProviderAnswer
    typealias ReadingFailure = Never
    static let label = "get_transaction"

    let transactionKey: String

    var method: HTTPMethod { .get }
    var path: [String] { ["transactions", transactionKey] }

    func decode(_ response: HTTPResponse) -> ProviderAnswer { ProviderAnswer(response) }
}

/// `GET /transactions`: what changed in a window of time, by (updated_at, key).
struct ListTransactions: PaginatedRequest {
    static let label = "list_transactions"
    /// The most transactions on one page that the contract allows.
    static let largestPage = 1_000

    let updatedAfter: Timestamp?
    let updatedBefore: Timestamp?
    let cursor: String?
    let limit: Int

    /// The window includes its beginning and not its end; the limit is brought within 1 and ``largestPage``.
    init(updatedAfter: Timestamp?, updatedBefore: Timestamp?, cursor: String?, limit: Int) {
        self.updatedAfter = updatedAfter
        self.updatedBefore = updatedBefore
        self.cursor = cursor
        self.limit = min(max(limit, 1), Self.largestPage)
    }

    var method: HTTPMethod { .get }
    var path: [String] { ["transactions"] }
    var maximumResponseBytes: Int { 64 * 1024 + limit * 16 * 1024 }

    var query: [(name: String, value: String)] {
        var query = [(name: "limit", value: String(limit))]
        // A cursor keeps its filters.
        if let cursor { return query + [(name: "cursor", value: cursor)] }
        if let updatedAfter { query.append((name: "updated_after", value: updatedAfter.rfc3339)) }
        if let updatedBefore { query.append((name: "updated_before", value: updatedBefore.rfc3339)) }
        return query
    }

    func continued(from cursor: String) -> ListTransactions {
        ListTransactions(
            updatedAfter: updatedAfter, updatedBefore: updatedBefore, cursor: cursor, limit: limit)
    }

    func decode(_ response: HTTPResponse) throws(AnswerFailure) -> TransactionPage {
        func failure(_ code: String) -> AnswerFailure {
            AnswerFailure(
                code: code, status: response.status,
                retryAfter: response.fields["Retry-After"].flatMap(RetryAfter.init))
        }
        guard response.status == 200 else { throw failure("http_\(response.status)") }
        guard MediaType(response.fields) == .json else { throw failure("wrong_content_type") }
        do {
            return try JSONDecoder().decode(TransactionPage.self, from: Data(response.body))
        } catch {
            throw failure("malformed_body")  // Without the error, which may quote the body.
        }
    }
}

/// One page of transactions.
///
/// One that cannot be read spoils the page: a comparison that skips in silence compares nothing.
struct TransactionPage: ResultPage, Decodable {
    /// A transaction of a listing, which is ordered by when it last changed.
    struct Entry: Decodable, Sendable {
        let transaction: WireTransaction
        let updatedAt: Timestamp

        init(from decoder: any Decoder) throws {
            transaction = try WireTransaction(from: decoder)
            guard let updatedAt = transaction.updatedAt else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no updated_at"))
            }
            self.updatedAt = updatedAt
        }
    }

    let data: [Entry]
    let nextCursor: String?

    var isEmpty: Bool { data.isEmpty }

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        data = try container.decode([Entry].self, forKey: .data)
        nextCursor = try container.decodeIfPresent(String.self, forKey: .nextCursor)
        guard data.count <= ListTransactions.largestPage else {
            throw DecodingError.dataCorruptedError(forKey: .data, in: container, debugDescription: "too many")
        }
        guard nextCursor.map({ (1...512).contains($0.utf8.count) }) ?? true else {
            throw DecodingError.dataCorruptedError(
                forKey: .nextCursor, in: container, debugDescription: "not a cursor")
        }
    }
}
