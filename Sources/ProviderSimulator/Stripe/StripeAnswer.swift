import Foundation

/// An answer in Stripe's shapes.
struct StripeAnswer: Sendable, Equatable {
    let status: Int
    /// Nil for one that was stored as text.
    private let value: JSONTree?
    private let stored: String
    /// The key that it names.
    var idempotencyKey: String?
    /// Whether it was given before.
    var isReplay = false
    /// The group whose keys it is kept with, where the request names none: the intent that was made.
    var group: String?

    init(_ status: Int, _ value: JSONTree) {
        self.status = status
        self.value = value
        stored = ""
    }

    init(status: Int, stored: String) {
        self.status = status
        value = nil
        self.stored = stored
    }

    /// As JSON, without every member that has this name.
    func text(without name: String? = nil) throws -> String {
        if let value { return value.text(without: name) }
        guard let name else { return stored }
        let known = Self.stripped(try JSONSerialization.jsonObject(with: Data(stored.utf8)), of: name)
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try JSONSerialization.data(withJSONObject: known, options: options), as: UTF8.self)
    }

    private static func stripped(_ value: Any, of name: String) -> Any {
        switch value {
        case let members as [String: Any]: members.filter { $0.key != name }.mapValues { stripped($0, of: name) }
        case let values as [Any]: values.map { stripped($0, of: name) }
        default: value
        }
    }

    /// An error (docs.stripe.com/api/errors).
    static func error(
        _ status: Int, _ type: String, code: String? = nil, parameter: String? = nil, _ message: String,
        more: [(String, JSONTree)] = []
    ) -> StripeAnswer {
        var members: [(String, JSONTree)] = [("type", .text(type)), ("message", .text(message))]
        if let code { members.append(("code", .text(code))) }
        if let parameter { members.append(("param", .text(parameter))) }
        return StripeAnswer(status, .object([("error", .object(members + more))]))
    }

    static func invalid(_ code: String?, _ message: String, parameter: String? = nil) -> StripeAnswer {
        error(400, "invalid_request_error", code: code, parameter: parameter, message)
    }

    /// There is no such object.
    /// - Parameter parameter: what names it; `intent` is the identifier in the path.
    static func missing(_ what: String, _ id: String, parameter: String = "intent") -> StripeAnswer {
        error(
            404, "invalid_request_error", code: "resource_missing", parameter: parameter, "No such \(what): '\(id)'")
    }

    /// What the simulator's own problems are in Stripe's words.
    init(_ problem: Problem) {
        switch problem.status {
        case 401: self = .error(401, "invalid_request_error", "Invalid API Key provided.")
        case 404: self = .error(404, "invalid_request_error", "Unrecognized request URL.")
        case 413: self = .error(413, "invalid_request_error", "The body is too large.")
        case 429: self = .error(429, "invalid_request_error", code: "rate_limit", "Too many requests.")
        case 503: self = .error(503, "api_error", "Not available now.")
        default: self = .error(problem.status, "api_error", "Something is wrong at the provider.")
        }
    }
}
