internal import HTTPTransport
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

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
            body = try TransactionPage.Body(AnswerObject(body: response.body))
        } catch {
            throw failure("malformed_body")
        }
        if let code = oddity(of: body) { throw failure(code) }
        guard let next = body.nextCursor else { return TransactionPage(entries: body.data, next: nil) }
        // Places ascend, so that cursors which go round in a circle are found out of order on their second round.
        guard let last = body.data.last else { throw failure("cursor_does_not_advance") }
        return TransactionPage(entries: body.data, next: ListingCursor(last: last.position, text: next))
    }

    /// Why a page is not the one that was asked for; `nil` if it is.
    private func oddity(of body: TransactionPage.Body) -> String? {
        guard body.data.count <= limit else { return "page_too_large" }
        if let last = cursor?.last, let first = body.data.first, last >= first.position { return "out_of_order" }
        var last: TransactionPage.Entry?
        for entry in body.data {
            guard window.contains(entry.position.instant) else { return "outside_window" }
            // Two transactions under one key may have one place, which the comparison is to see; one line comes once.
            let isBehind = last.map { $0.position > entry.position || $0.transaction == entry.transaction } ?? false
            if isBehind { return "out_of_order" }
            last = entry
        }
        return nil
    }
}

/// One page of transactions.
struct TransactionPage: ResultPage {
    /// A transaction of a listing, which is ordered by when it last changed.
    struct Entry: Sendable {
        let transaction: WireTransaction
        let position: ListingPlace

        /// Reads an entry, which must say when it changed.
        init(_ object: AnswerObject) throws(MalformedAnswer) {
            transaction = try WireTransaction(object)
            guard let position = ListingPlace(updatedAt: try object.text("updated_at"), key: transaction.key) else {
                throw MalformedAnswer()
            }
            self.position = position
        }
    }

    /// A page as it is on the wire. One transaction that cannot be read spoils it.
    fileprivate struct Body {
        let data: [Entry]
        let nextCursor: String?

        init(_ object: AnswerObject) throws(MalformedAnswer) {
            data = try object.list("data", of: Entry.init)
            // Required, though it may be null: a page that lost it would pass for the last.
            switch try object.required("next_cursor") {
            case .null: nextCursor = nil
            case .string(let text) where (1...512).contains(text.utf8.count): nextCursor = text
            default: throw MalformedAnswer()
            }
        }
    }

    let entries: [Entry]
    let next: ListingCursor?
}
