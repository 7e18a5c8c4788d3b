internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

/// What was looked for in a list, as the form of its page sends it.
struct ConsoleSearch: Sendable {
    private let names: [String]
    /// What was written in each field; empty ones are not there.
    let written: [String: String]

    /// Reads the query of a page.
    ///
    /// - Parameters:
    ///   - names: The fields of the form, in order.
    ///   - hidden: What only links of the page itself carry.
    init(_ query: String?, _ names: [String], hidden: [String] = []) throws(Problem) {
        let parameters = try QueryParameters(query, allowed: names + hidden + ["cursor"])
        var written: [String: String] = [:]
        for name in names + hidden + ["cursor"] {
            if let value = parameters[name]?.trimmed, !value.isEmpty { written[name] = value }
        }
        self.names = names
        self.written = written
    }

    /// The fields as a query.
    ///
    /// - Parameters:
    ///   - only: Of these fields alone.
    ///   - more: What comes after them.
    func text(only: [String]? = nil, and more: [(name: String, value: String?)] = []) -> String {
        let fields = (only ?? names).map { (name: $0, value: written[$0]) } + more
        return fields.compactMap { field in field.value.map { "\(field.name)=\($0.percentEncoded)" } }
            .joined(separator: "&")
    }

    /// The choices of a field.
    func options(_ name: String, _ choices: [(value: String, text: String)]) -> [[String: Any]] {
        choices.map { ["value": $0.value, "text": $0.text, "is_chosen": written[name] == $0.value] }
    }
}

/// What was looked for among payments.
struct PaymentSearch: Sendable {
    private static let spans: [(name: String, text: String, span: Span)] = [
        ("1h", "the last hour", .hours(1)), ("24h", "the last day", .hours(24)),
        ("7d", "the last week", .hours(168)), ("30d", "the last 30 days", .hours(720)),
    ]

    let fields: ConsoleSearch

    /// Reads the query of the page of payments.
    init(_ query: String?) throws(Problem) {
        fields = try ConsoleSearch(
            query, ["q", "key", "state", "waiting_for", "provider", "within"], hidden: ["created_after"])
        if let span = fields.written["within"], !PaymentSearch.spans.contains(where: { $0.name == span }) {
            let allowed = PaymentSearch.spans.map(\.name).joined(separator: ", ")
            throw .malformed(field: "within", "Must be one of \(allowed).")
        }
    }

    /// The payment that it names, if it names one.
    var payment: PaymentID? { fields.written["q"].flatMap { PaymentID(text: $0) } }

    /// The query of the API.
    func query(now: Timestamp, limit: Int) -> String {
        let choices = fields.text(
            only: ["key", "state", "waiting_for", "provider", "cursor"], and: [("created_after", since(now))])
        let reference = fields.written["q"].map { "&reference=\($0.percentEncoded)" } ?? ""
        return "limit=\(limit)\(reference)" + (choices.isEmpty ? "" : "&\(choices)")
    }

    /// Since when payments are looked for. It goes with the pages of one search: a cursor belongs to one moment.
    private func since(_ now: Timestamp) -> String? {
        if fields.written["cursor"] != nil, let moment = fields.written["created_after"] { return moment }
        let span = PaymentSearch.spans.first { $0.name == fields.written["within"] }?.span
        return span.map { (now + (Span.zero - $0)).rfc3339 }
    }

    /// The same search as a query of the console; with a cursor, its next page.
    func again(now: Timestamp, cursor: String? = nil) -> String {
        fields.text(and: cursor.map { [("created_after", since(now)), ("cursor", $0)] } ?? [])
    }

    /// What templates show of it.
    func model(providers: [String]) -> [String: Any] {
        [
            "written": fields.written,
            "states": fields.options("state", PaymentState.allCases.map { ($0.rawValue, $0.rawValue) }),
            "waits": fields.options("waiting_for", WaitsFor.allCases.map { ($0.rawValue, $0.rawValue) }),
            "providers": fields.options("provider", providers.map { ($0, $0) }),
            "spans": fields.options("within", PaymentSearch.spans.map { ($0.name, $0.text) }),
        ]
    }
}
