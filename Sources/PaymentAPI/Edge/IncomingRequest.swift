internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

/// A request as the routes see it: authenticated, matched, its body read.
struct IncomingRequest: Sendable {
    var caller: CallerID
    var method: String
    /// The path without the query.
    var path: String
    /// The query without its question mark.
    var query: String?
    /// The text at the place of the identifier in the path.
    var id: String
    var headers: HeaderValues
    var body: [UInt8]

    /// The payment that the path names.
    func payment() throws(Problem) -> PaymentID {
        guard let payment = PaymentID(text: id) else {
            if CardNumber.appears(in: id) { throw .cardNumber(field: "id") }
            throw .malformed(field: "id", "Must be pay_ and 40 lowercase hexadecimal digits.")
        }
        return payment
    }

    /// The key of the operation.
    func idempotencyKey(_ cardNumbers: CardNumberFields) throws(Problem) -> IdempotencyKey {
        let values = headers.all("idempotency-key")
        guard let text = values.first, !text.isEmpty else { throw .keyMissing }
        guard values.count == 1 else {
            throw .malformed(field: "Idempotency-Key", "The header is there more than once.")
        }
        guard cardNumbers[.key] == .accept || !CardNumber.appears(in: text) else {
            throw .cardNumber(field: "Idempotency-Key")
        }
        do {
            return try IdempotencyKey(text)
        } catch {
            throw .malformed(field: "Idempotency-Key", "Must be \(error.allowed).")
        }
    }

    /// The wait that the caller asked for, in seconds and at most `maximum`; `nil` if it asked for none.
    func wait(atMost maximum: Int64) -> Int64? {
        WaitPreference.seconds(in: headers.all("prefer")).map { min($0, maximum) }
    }

    /// The body as JSON, checked for card numbers; an empty object where an empty body is allowed.
    func document(_ limits: APILimits, mayBeAbsent: Bool) throws(Problem) -> JSONValue {
        if body.isEmpty, mayBeAbsent { return .empty }
        guard headers.announceJSON else { throw .unsupportedMediaType }
        let document: JSONValue
        do {
            document = try JSONReader.read(body, maximumDepth: limits.maximumDepth)
        } catch {
            throw .unreadable(error)
        }
        let found = CardNumberScan.find(in: document) { limits.cardNumbers.accepts($0) }
        if let field = found { throw .cardNumber(field: field.text) }
        return document
    }

    /// What makes two requests the same: method, path and canonical JSON.
    func fingerprint(of document: JSONValue) -> Digest {
        Digest(of: [Array(method.utf8), Array(path.utf8), document.canonicalBytes])
    }
}
