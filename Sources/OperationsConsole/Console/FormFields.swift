internal import HTTPEdge
internal import StrictJSON

/// What a form sent: `name=value&…`, each name once and each known.
struct FormFields: Sendable {
    private static let names = [
        "form_token", "token", "next", "leg", "refund", "action", "text", "evidence", "sha256", "reference", "amount",
        "currency", "against_provider", "version", "hours", "reason", "assignee",
    ]

    private let values: QueryParameters

    /// Reads a body. Card numbers are looked for by the API, whose answer comes with what was written.
    init(_ body: [UInt8]) throws(Problem) {
        guard let text = String(validating: body, as: UTF8.self) else {
            throw Problem(.invalidRequest, 400, "Invalid request", detail: "The form is not in UTF-8.")
        }
        values = try QueryParameters(text, allowed: FormFields.names, unsearched: Set(FormFields.names))
    }

    /// What stands in a field, without spaces around it, lines ended as they were written; `nil` where it is empty or
    /// missing. A browser counts a line's end as one character, and sends two.
    subscript(name: String) -> String? {
        guard let text = values[name]?.replacing("\r\n", with: "\n").trimmed else { return nil }
        return text.isEmpty ? nil : text
    }

    /// A field as JSON: its text, or null.
    func text(_ name: String) -> JSONValue { .optional(self[name]) }

    /// A field that is a number as it was written; the API says what is wrong with it.
    func number(_ name: String) -> JSONValue {
        guard let text = self[name] else { return .null }
        return Int64(text).map { .integer($0) } ?? .string(text)
    }

    /// What was written, for the same form once more.
    var written: [String: Any] {
        var known: [String: Any] = [:]
        for name in FormFields.names where name != "form_token" && name != "token" { known[name] = self[name] }
        return known
    }
}

extension String {
    /// The text without spaces around it.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
