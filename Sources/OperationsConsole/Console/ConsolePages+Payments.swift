internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

extension ConsolePages {
    /// What can be looked for among payments, as the form of the page sends it.
    private struct PaymentSearch {
        static let names = ["q", "state", "waiting_for", "provider", "within", "cursor"]
        static let states = [
            "processing", "authorized", "succeeded", "canceling", "canceled", "failed", "quarantined",
        ]
        static let spans: [(name: String, text: String, span: Span)] = [
            ("1h", "the last hour", .hours(1)), ("24h", "the last day", .hours(24)),
            ("7d", "the last week", .hours(168)), ("30d", "the last 30 days", .hours(720)),
        ]

        let written: [String: String]

        init(_ query: String?) throws(Problem) {
            let parameters = try QueryParameters(query, allowed: PaymentSearch.names)
            var written: [String: String] = [:]
            for name in PaymentSearch.names {
                guard let value = parameters[name], !value.isEmpty else { continue }
                written[name] = value
            }
            self.written = written
        }

        /// The payment that it names, if it names one.
        var payment: PaymentID? { written["q"].flatMap { PaymentID(text: $0) } }

        /// The query of the API.
        func query(now: Timestamp, limit: Int) -> String {
            var parts = ["limit=\(limit)"]
            if let reference = written["q"] { parts.append("reference=\(reference.percentEncoded)") }
            for name in ["state", "waiting_for", "provider", "cursor"] {
                if let value = written[name] { parts.append("\(name)=\(value.percentEncoded)") }
            }
            if let span = PaymentSearch.spans.first(where: { $0.name == written["within"] })?.span {
                parts.append("created_after=\((now + (Span.zero - span)).rfc3339.percentEncoded)")
            }
            return parts.joined(separator: "&")
        }

        /// The same search as a query of the console.
        func again(cursor: String?) -> String {
            var parts: [String] = []
            for name in PaymentSearch.names where name != "cursor" {
                if let value = written[name] { parts.append("\(name)=\(value.percentEncoded)") }
            }
            if let cursor { parts.append("cursor=\(cursor.percentEncoded)") }
            return parts.joined(separator: "&")
        }

        func options(_ name: String, _ choices: [(value: String, text: String)]) -> [[String: Any]] {
            choices.map { ["value": $0.value, "text": $0.text, "is_chosen": written[name] == $0.value] }
        }
    }

    /// `GET /console/payments`
    func payments(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let search = try PaymentSearch(guest.visit.query)
        if let payment = search.payment { return ["see": "/console/payments/\(payment.text)"] }
        var model: [String: Any] = [
            "written": search.written,
            "states": search.options("state", PaymentSearch.states.map { ($0, $0) }),
            "waits": search.options("waiting_for", [("people", "people"), ("time", "time")]),
            "providers": search.options("provider", history.providers.map { ($0, $0) }),
            "spans": search.options("within", PaymentSearch.spans.map { ($0.name, $0.text) }),
            "table": "/console/payments.csv?\(search.again(cursor: nil))",
        ]
        let answer = await questions.answer(.payments, query: search.query(now: history.moment, limit: 50), guest)
        let page = ViewModel.members(answer.body)
        guard answer.status < 400 else {
            guard answer.status == 400 else { throw Problem(told: answer) }
            model["problem"] = page
            return model
        }
        model["payments"] = page["data"]
        if let cursor = page["next_cursor"] as? String {
            model["more"] = "/console/payments?\(search.again(cursor: cursor))"
        }
        return model
    }

    /// `GET /console/payments.csv`: what the search finds, newest first, up to ``mostRows``.
    func table(_ guest: ConsoleGuest) async throws(Problem) -> ConsoleAnswer {
        let search = try PaymentSearch(guest.visit.query)
        let query = search.query(now: history.moment, limit: 200)
        var lines = [
            "id,state,reason,amount_minor,captured_minor,refunded_minor,currency,capture,reference,created_at,"
                + "updated_at"
        ]
        var cursor: String?
        repeat {
            let page = try await questions.ask(
                .payments, query: cursor.map { "\(query)&cursor=\($0.percentEncoded)" } ?? query, guest)
            for payment in page["data"] as? [[String: Any]] ?? [] { lines.append(ConsolePages.line(payment)) }
            cursor = page["next_cursor"] as? String
        } while cursor != nil && lines.count <= ConsolePages.mostRows
        if cursor != nil { lines.append("# more than \(ConsolePages.mostRows) payments: narrow the search") }
        var answer = ConsoleAnswer(page: Array((lines.joined(separator: "\r\n") + "\r\n").utf8), status: 200)
        answer.contentType = "text/csv; charset=utf-8"
        answer.fileName = "payments.csv"
        return answer
    }

    /// So many payments are in one table, at the most.
    private static let mostRows = 10_000

    private static func line(_ payment: [String: Any]) -> String {
        func minor(_ name: String) -> String { (payment[name] as? [String: Any])?["value"] as? String ?? "" }
        func text(_ name: String) -> String { cell(payment[name] as? String ?? "") }
        let reason = (payment["reason"] as? [String: Any])?["code"] as? String ?? ""
        let currency = (payment["amount"] as? [String: Any])?["currency"] as? String ?? ""
        return [
            text("id"), text("state"), cell(reason), minor("amount"), minor("captured"), minor("refunded"), currency,
            text("capture"), text("reference"), text("created_at"), text("updated_at"),
        ].joined(separator: ",")
    }

    /// A cell of RFC 4180. A spreadsheet would take what begins like a formula for one; an apostrophe keeps it a text.
    static func cell(_ text: String) -> String {
        var text = text
        if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) { text = "'" + text }
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
