internal import Foundation
internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// `GET /transactions`: what changed in a window of time, ascending by (updated_at, key).
///
/// An answer that breaks this contract is a failure. A comparison that skips in silence compares nothing.
struct ListTransactions: PaginatedRequest {
    static let label = "list_transactions"

    let window: ComparedWindow
    let cursor: ListingCursor?
    let limit: Int

    var method: HTTPMethod { .get }
    var path: [String] { ["transactions"] }
    var maximumResponseBytes: Int { 64 * 1024 + limit * 16 * 1024 }

    var query: [(name: String, value: String)] {
        let limit = (name: "limit", value: String(limit))
        // A cursor keeps its filters.
        if let cursor { return [limit, (name: "cursor", value: cursor.text)] }
        return [
            limit, (name: "updated_after", value: window.from.rfc3339),
            (name: "updated_before", value: window.to.rfc3339),
        ]
    }

    func continued(from cursor: ListingCursor) -> ListTransactions {
        ListTransactions(window: window, cursor: cursor, limit: limit)
    }

    func decode(_ response: HTTPResponse) throws(AnswerFailure) -> TransactionPage {
        func failure(_ code: String) -> AnswerFailure {
            AnswerFailure(
                code: code, status: response.status,
                retryAfter: response.fields["Retry-After"].flatMap(RetryAfter.init))
        }
        guard response.status == 200 else { throw failure("http_\(response.status)") }
        guard MediaType(response.fields) == .json else { throw failure("wrong_content_type") }
        let body: TransactionPage.Body
        do {
            body = try JSONDecoder().decode(TransactionPage.Body.self, from: Data(response.body))
        } catch {
            throw failure("malformed_body")  // Without the error, which may quote the body.
        }
        if let code = oddity(of: body) { throw failure(code) }
        guard let next = body.nextCursor else { return TransactionPage(entries: body.data, next: nil) }
        // Places ascend, so that cursors which go round in a circle are found out of order on their second round.
        guard let last = body.data.last else { throw failure("cursor_does_not_advance") }
        return TransactionPage(entries: body.data, next: ListingCursor(last: last.place, text: next))
    }

    /// Why a page is not the one that was asked for; `nil` if it is.
    private func oddity(of body: TransactionPage.Body) -> String? {
        guard body.data.count <= limit else { return "page_too_large" }
        var last = cursor?.last
        for entry in body.data {
            guard window.contains(entry.place.instant) else { return "outside_window" }
            if let last, last >= entry.place { return "out_of_order" }
            last = entry.place
        }
        return nil
    }
}

/// One page of transactions.
struct TransactionPage: ResultPage {
    /// A transaction of a listing, which is ordered by when it last changed.
    struct Entry: Decodable, Sendable {
        let transaction: WireTransaction
        let place: ListingPlace

        private enum CodingKeys: String, CodingKey { case updatedAt = "updated_at" }

        init(from decoder: any Decoder) throws {
            transaction = try WireTransaction(from: decoder)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let text = try container.decode(String.self, forKey: .updatedAt)
            guard let place = ListingPlace(updatedAt: text, key: transaction.key) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .updatedAt, in: container, debugDescription: "not an instant")
            }
            self.place = place
        }
    }

    /// A page as it is on the wire. One transaction that cannot be read spoils it.
    fileprivate struct Body: Decodable {
        let data: [Entry]
        let nextCursor: String?

        private enum CodingKeys: String, CodingKey {
            case data
            case nextCursor = "next_cursor"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            data = try container.decode([Entry].self, forKey: .data)
            // Required, though it may be null: a page that lost it would pass for the last.
            nextCursor = try container.decode(String?.self, forKey: .nextCursor)
            guard nextCursor.map({ (1...512).contains($0.utf8.count) }) ?? true else {
                throw DecodingError.dataCorruptedError(
                    forKey: .nextCursor, in: container, debugDescription: "not a cursor")
            }
        }
    }

    let entries: [Entry]
    let next: ListingCursor?
}
