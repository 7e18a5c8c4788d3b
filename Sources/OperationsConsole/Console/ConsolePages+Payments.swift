internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

extension ConsolePages {
    /// What can be looked for among payments, as the form of the page sends it.
    private struct PaymentSearch {
        static let names = ["q", "state", "waiting_for", "provider", "within", "created_after", "cursor"]
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
                guard let value = parameters[name]?.trimmed, !value.isEmpty else { continue }
                written[name] = value
            }
            if let span = written["within"], !PaymentSearch.spans.contains(where: { $0.name == span }) {
                let allowed = PaymentSearch.spans.map(\.name).joined(separator: ", ")
                throw .malformed(field: "within", "Must be one of \(allowed).")
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
            if let moment = since(now) { parts.append("created_after=\(moment.percentEncoded)") }
            return parts.joined(separator: "&")
        }

        /// Since when payments are looked for. It goes with the pages of one search: a cursor belongs to one moment.
        private func since(_ now: Timestamp) -> String? {
            if written["cursor"] != nil, let moment = written["created_after"] { return moment }
            let span = PaymentSearch.spans.first { $0.name == written["within"] }?.span
            return span.map { (now + (Span.zero - $0)).rfc3339 }
        }

        /// The same search as a query of the console; with a cursor, its next page.
        func again(now: Timestamp, cursor: String? = nil) -> String {
            var parts: [String] = []
            for name in ["q", "state", "waiting_for", "provider", "within"] {
                if let value = written[name] { parts.append("\(name)=\(value.percentEncoded)") }
            }
            if let cursor {
                if let moment = since(now) { parts.append("created_after=\(moment.percentEncoded)") }
                parts.append("cursor=\(cursor.percentEncoded)")
            }
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
        let now = history.moment
        var model: [String: Any] = [
            "written": search.written,
            "states": search.options("state", PaymentSearch.states.map { ($0, $0) }),
            "waits": search.options("waiting_for", [("people", "people"), ("time", "time")]),
            "providers": search.options("provider", history.providers.map { ($0, $0) }),
            "spans": search.options("within", PaymentSearch.spans.map { ($0.name, $0.text) }),
            "table": "/console/payments.csv?\(search.again(now: now))",
        ]
        let answer = await questions.answer(.payments, query: search.query(now: now, limit: 50), guest)
        let page = ViewModel.members(answer.body)
        guard answer.status < 400 else {
            guard answer.status == 400 else { throw Problem(told: answer) }
            model["problem"] = page
            return model
        }
        model["payments"] = page["data"]
        if let cursor = page["next_cursor"] as? String {
            model["more"] = "/console/payments?\(search.again(now: now, cursor: cursor))"
        }
        return model
    }

    /// `GET /console/payments.csv`: what the search finds, newest first, up to ``mostRows``.
    func table(_ guest: ConsoleGuest) async throws(Problem) -> ConsoleAnswer {
        let search = try PaymentSearch(guest.visit.query)
        guard search.written["cursor"] == nil else { throw .malformed(field: "cursor", "A table begins at its begin.") }
        let query = search.query(now: history.moment, limit: 200)
        var lines = [
            "id,state,reason,amount_minor,captured_minor,refunded_minor,currency,capture,reference,created_at,"
                + "updated_at"
        ]
        if let payment = search.payment {
            lines.append(ConsolePages.line(try await questions.ask(.payment, id: payment.text, guest)))
            return ConsolePages.table(lines)
        }
        var cursor: String?
        repeat {
            let page = try await questions.ask(
                .payments, query: cursor.map { "\(query)&cursor=\($0.percentEncoded)" } ?? query, guest)
            for payment in page["data"] as? [[String: Any]] ?? [] { lines.append(ConsolePages.line(payment)) }
            cursor = page["next_cursor"] as? String
        } while cursor != nil && lines.count <= ConsolePages.mostRows
        if cursor != nil { lines.append("# more than \(ConsolePages.mostRows) payments: narrow the search") }
        return ConsolePages.table(lines)
    }

    private static func table(_ lines: [String]) -> ConsoleAnswer {
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
    ///
    /// By scalars: to Swift's characters a quote with a combining mark is no quote.
    static func cell(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        let first = scalars.first { !$0.properties.isWhitespace && $0.value >= 0x20 }
        let isFormula = first.map { "=+-@＝＋－＠".unicodeScalars.contains($0) } ?? false
        var cell = String.UnicodeScalarView()
        if isFormula || scalars.first.map({ $0.value < 0x20 }) == true { cell.append("'") }
        let isQuoted = scalars.contains { $0 == "," || $0 == "\"" || $0 == "\n" || $0 == "\r" }
        for scalar in scalars {
            if scalar == "\"" { cell.append(scalar) }
            cell.append(scalar)
        }
        return isQuoted ? "\"\(String(cell))\"" : String(cell)
    }
}
