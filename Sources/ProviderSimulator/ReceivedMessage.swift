import Foundation

/// An HTTP request without its connection: all that the meaning of a request depends on.
struct ReceivedMessage: Sendable {
    let method: String
    /// Without the provider's prefix, split at the slashes: `["transactions", key, …]`.
    let path: [String]
    let query: [String: String]
    let authorization: String?
    let contentType: String?
    let notAfter: String?
    var idempotencyKey: String?
    /// The whole path as it was sent, with the provider's prefix and without a query.
    var sentPath = ""
    /// `X-ASSUME-MERCHANT`.
    var merchant: String?
    /// `X-API-Key`.
    var apiKey: String?
    /// Nil when it was larger than allowed.
    let body: Data?

    /// Adds a parameter. One whose name ends in `[]` is the next of a list: `expand[]` becomes `expand[0]`.
    static func add(_ name: String, _ value: String, to parameters: inout [String: String]) {
        guard name.hasSuffix("[]") else {
            parameters[name] = value
            return
        }
        let list = name.dropLast(2)
        var index = 0
        while parameters["\(list)[\(index)]"] != nil { index += 1 }
        parameters["\(list)[\(index)]"] = value
    }
}

/// Turns messages of a wire into requests.
protocol WireReader: Sendable {
    /// Nil when there is no such route.
    func read(_ message: ReceivedMessage) -> ProviderRequest?
    /// What is said of a route that there is not.
    func unknownRoute(_ message: ReceivedMessage) -> Answer
}

/// Turns messages of the reference contract into requests.
///
/// Anything it cannot read becomes a request that is refused, so that faults, counters and the journal see it
/// as well.
struct MessageReader: WireReader {
    let provider: String
    /// Nil: any bearer token is good.
    let token: BearerToken?

    /// Nil when there is no such route.
    func read(_ message: ReceivedMessage) -> ProviderRequest? {
        guard message.path.first == "transactions" else { return nil }
        let rest = Array(message.path.dropFirst())
        switch (message.method, rest.count) {
        case ("GET", 0):
            return request(message, .list, "", "") { () throws(Problem) in
                .list(try listQuery(message.query))
            }
        case ("GET", 1):
            return request(message, .inquire, rest[0], "") { .inquire }
        case ("PUT", 1):
            return payment(message, key: rest[0])
        case ("POST", 2) where rest[1] == "void":
            return request(message, .void, rest[0], "") { .void }
        case ("PUT", 3) where rest[1] == "captures":
            return request(message, .capture, rest[0], rest[2]) { () throws(Problem) in
                .capture(try body(AmountBody.self, of: message).amount)
            }
        case ("GET", 3) where rest[1] == "captures":
            return request(message, .inquireCapture, rest[0], rest[2]) { .inquire }
        case ("PUT", 3) where rest[1] == "refunds":
            return request(message, .refund, rest[0], rest[2]) { () throws(Problem) in
                .refund(try body(AmountBody.self, of: message).amount)
            }
        case ("GET", 3) where rest[1] == "refunds":
            return request(message, .inquireRefund, rest[0], rest[2]) { .inquire }
        default:
            return nil
        }
    }

    func unknownRoute(_ message: ReceivedMessage) -> Answer { .problem(.notFound) }

    private func payment(_ message: ReceivedMessage, key: String) -> ProviderRequest {
        // The operation depends on the body, so the body is read before it is known whether it may be.
        var operation = Operation.authorize
        let order: Result<PaymentOrder, Problem>
        do throws(Problem) {
            let read = try body(TransactionBody.self, of: message)
            operation = read.kind == .sale ? .sale : .authorize
            order = .success(read.order)
        } catch {
            order = .failure(error)
        }
        return request(message, operation, key, "") { () throws(Problem) in
            let order = try order.get()
            guard order.behaviour != .unknown else { throw .unknownInstrument }
            return .pay(order)
        }
    }

    private func request(
        _ message: ReceivedMessage, _ operation: Operation, _ key: String, _ entryKey: String,
        command: () throws(Problem) -> ProviderRequest.Command
    ) -> ProviderRequest {
        var notAfter: Int64?
        var read: ProviderRequest.Command
        do throws(Problem) {
            guard accepts(message.authorization) else { throw .unauthorized }
            guard operation == .list || Self.isKey(key) else { throw Self.malformed("key") }
            guard entryKey.isEmpty || Self.isKey(entryKey) else {
                throw Self.malformed(
                    operation == .capture || operation == .inquireCapture ? "captureKey" : "refundKey")
            }
            read = try command()
            if operation.writes, operation != .void, let text = message.notAfter {
                guard let instant = InstantText.parse(text) else {
                    throw .invalidRequest("Not-After is not an RFC 3339 instant in UTC", field: "Not-After")
                }
                notAfter = instant
            }
        } catch {
            read = .refused(error)
        }
        return ProviderRequest(
            provider: provider, operation: operation, key: Self.isKey(key) ? key : "",
            entryKey: Self.isKey(entryKey) ? entryKey : "", notAfter: notAfter, command: read)
    }

    /// 16 to 64 of `A-Z a-z 0-9 _ -`.
    static func isKey(_ text: String) -> Bool {
        (16...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func malformed(_ parameter: String) -> Problem {
        .invalidRequest("A key is 16 to 64 characters of A-Z a-z 0-9 _ -", field: parameter)
    }

    private func accepts(_ authorization: String?) -> Bool { Self.accepts(authorization, token) }

    /// Whether a header holds a bearer token that is good.
    static func accepts(_ authorization: String?, _ token: BearerToken?) -> Bool {
        guard let authorization, authorization.lowercased().hasPrefix("bearer ") else { return false }
        let presented = authorization.dropFirst("bearer ".count)
        guard !presented.isEmpty else { return false }
        return token.map { $0.matches(String(presented)) } ?? true
    }

    private func body<Body: Decodable>(_ type: Body.Type, of message: ReceivedMessage) throws(Problem) -> Body {
        guard let body = message.body else { throw .bodyTooLarge }
        let mediaType = message.contentType?.split(separator: ";").first?.lowercased()
        guard mediaType?.trimmingCharacters(in: .whitespaces) == "application/json" else {
            throw .unsupportedMediaType
        }
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch let error as DecodingError {
            throw .invalidRequest(error.explanation, field: error.member)
        } catch {
            throw .invalidRequest("The body is not JSON")
        }
    }

    private func listQuery(_ query: [String: String]) throws(Problem) -> ListQuery {
        var read = ListQuery()
        if let text = query["limit"] {
            guard let limit = Int(text), (1...1000).contains(limit) else {
                throw .invalidRequest("limit is 1 to 1000", field: "limit")
            }
            read.limit = limit
        }
        if let text = query["cursor"] {
            guard let cursor = ListCursor(text) else {
                throw .invalidRequest("Not a cursor", field: "cursor")
            }
            read.position = cursor.position
            read.updatedBefore = cursor.updatedBefore
            return read
        }
        read.updatedAfter = try instant("updated_after", in: query)
        read.updatedBefore = try instant("updated_before", in: query)
        return read
    }

    private func instant(_ name: String, in query: [String: String]) throws(Problem) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let instant = InstantText.parse(text) else {
            throw .invalidRequest("\(name) is not an RFC 3339 instant in UTC", field: name)
        }
        return instant
    }
}
