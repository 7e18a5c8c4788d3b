internal import HTTPEdge
internal import PaymentCore

extension ConsolePages {
    /// `GET /console/payments`
    func payments(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let search = try PaymentSearch(guest.visit.query)
        let now = history.moment
        var model = search.model(providers: history.providers)
        model["table"] = "/console/payments.csv?\(search.again(now: now))"
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
        guard search.fields.written["cursor"] == nil else {
            throw .malformed(field: "cursor", "A table has all pages; leave the cursor out.")
        }
        let query = search.query(now: history.moment, limit: 200)
        var lines = [
            "id,state,reason,amount_minor,captured_minor,refunded_minor,currency,capture,reference,created_at,"
                + "updated_at"
        ]
        if let payment = search.payment {
            lines.append(ConsolePages.line(try await questions.ask(.payment, id: payment.text, guest)))
            return ConsolePages.table(lines)
        }
        let found = try await questions.entries(
            .payments, query: query, atLeast: ConsolePages.mostRows, guest, ConsolePages.line)
        lines += found.entries
        if found.isCut { lines.append("# more than \(ConsolePages.mostRows) payments: narrow the search") }
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
