import Foundation
import HTTPEdge
import PaymentCore
import StrictJSON
import Testing

@testable import OperationsConsole

/// What pages are made of.
@Suite struct ConsolePagesTests {
    @Test func `every template can be read, and none puts a text in as it is`() {
        let templates = ConsoleTemplates()
        for (name, text) in ConsoleTemplates.all {
            // Traps where the template cannot be read.
            _ = templates.render(name, [:])
            #expect(!text.contains("{{{") && !text.contains("{{&") && !text.contains("{{%"), "\(name) does not escape")
            #expect(!text.contains(" style=") && !text.contains(/\ on[a-z]+=/), "\(name) needs what the policy forbids")
            let partials = text.matches(of: /\{\{[><]\s*([a-z]+)/).map { String($0.output.1) }
            for partial in partials {
                #expect(ConsoleTemplates.all.contains { $0.name == partial }, "\(name) names \(partial)")
            }
        }
    }

    @Test func `what people and providers wrote is text, wherever it is shown`() async throws {
        let evil = #"</td><script>alert(1)</script>\"'&"#
        let payment = #"""
            {"id":"pay_1","state":"quarantined","reason":{"code":"\#(evil)","detail":"\#(evil)"},
             "amount":{"value":1,"currency":"JPY"},"reference":"\#(evil)","metadata":{"a":"\#(evil)"},
             "legs":[{"index":0,"provider":"card","state":"quarantined","instrument":"\#(evil)",
                      "disputes":[{"id":"\#(evil)","state":"open"}],"reason":{"code":"x","detail":"\#(evil)"}}]}
            """#
        let explanation = #"""
            {"version":1,"sentences":["\#(evil)"],"remedies":[{"name":"decide","sentence":"\#(evil)"}],
             "legs":[{"index":0,"provider":"\#(evil)","sentences":["\#(evil)"],"waits_for":{"what":"people"}}]}
            """#
        let repair = #"{"id":"rep_1","state":"proposed","evidence":{"text":"\#(evil)","reference":"\#(evil)"}}"#
        try await ConsoleStage.run(
            payment: payment, explanation: explanation, repair: ConsoleStage.answer(200, repair)
        ) { stage in
            let ken = try await stage.signIn("ken")
            let quoted = evil.replacing(#"\""#, with: "\"").percentEncoded
            let pages = [
                "", "payments", "payments?q=\(quoted)", "payments/pay_1", "queue", "repairs/rep_1",
                "sign-in?next=\(quoted)",
            ]
            for page in pages {
                let reply = try await stage.send("GET", "/console/\(page)", session: ken.session)
                #expect(reply.status == 200, "\(page): \(reply.status)")
                #expect(!reply.body.contains("<script>alert") && !reply.body.contains("</td><script"), "\(page)")
            }
            let shown = try await stage.send("GET", "/console/payments/pay_1", session: ken.session).body
            #expect(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"))
        }
    }

    @Test func `a payment shows what its caller wrote about it, name by name`() async throws {
        let payment = #"{"id":"pay_1","state":"succeeded","metadata":{"shelf":"B 7","basket":"4711"},"legs":[]}"#
        try await ConsoleStage.run(payment: payment) { stage in
            let ken = try await stage.signIn("ken")
            let shown = try await stage.send("GET", "/console/payments/pay_1", session: ken.session).body
            #expect(shown.contains("<dt>basket</dt><dd>4711</dd>") && shown.contains("<dt>shelf</dt><dd>B 7</dd>"))
            #expect(!shown.contains("<dt></dt>"))
        }
    }

    @Test func `a leg shows the disputes of its charge`() async throws {
        let payment = #"""
            {"id":"pay_1","state":"succeeded","amount":{"value":900,"currency":"JPY"},
             "legs":[{"index":0,"provider":"card","state":"captured","disputes":[
              {"id":"dp_1","state":"won","amount":{"value":900,"currency":"JPY"}},
              {"id":"dp_2","state":"open","amount":{"value":1200,"currency":"JPY"}}]},
              {"index":1,"provider":"points","state":"captured"}]}
            """#
        try await ConsoleStage.run(payment: payment) { stage in
            let vera = try await stage.signIn("vera")
            let page = try await stage.send("GET", "/console/payments/pay_1", session: vera.session).body
            let shown = page.matches(of: /<p class="dispute-([a-z]+)">Dispute <code>([^<]+)<\/code>(.*?)<\/p>/)
            #expect(shown.map { "\($0.output.2) \($0.output.1)" } == ["dp_1 won", "dp_2 open"], "\(page)")
            #expect(shown.last?.output.3.contains("1,200") == true)
        }
    }

    @Test func `a search asks the API for what was chosen, and an identifier leads to its payment`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            let id = "pay_" + String(repeating: "a", count: 40)
            let found = try await stage.send("GET", "/console/payments?q=\(id)&state=", session: hana.session)
            #expect(found.status == 303 && found.header("location") == "/console/payments/\(id)")
            let query = "q=order+1%2F2&key=k%2F1&state=failed&waiting_for=&provider=card&within=1h"
            let page = try await stage.send("GET", "/console/payments?\(query)", session: hana.session)
            #expect(page.status == 200 && page.body.contains(#"<option value="failed" selected>"#))
            let asked = stage.asked.all.last?.request.query ?? ""
            #expect(
                asked == "limit=50&reference=order%201%2F2&key=k%2F1&state=failed&provider=card"
                    + "&created_after=2027-01-15T07%3A00%3A00.000Z", "\(asked)")
            let wrong = try await stage.send("GET", "/console/payments?surprise=1", session: hana.session)
            #expect(wrong.status == 400 && wrong.body.contains("allowed:"))
        }
    }

    @Test func `the next page of a search looks from the same moment`() async throws {
        let page = ConsoleStage.answer(200, #"{"data":[],"next_cursor":"next"}"#)
        try await ConsoleStage.run(list: page) { stage in
            let hana = try await stage.signIn("hana")
            let first = try await stage.send("GET", "/console/payments?within=24h&q=a", session: hana.session)
            let link = "q=a&amp;within=24h&amp;created_after=2027-01-14T08%3A00%3A00.000Z&amp;cursor=next"
            #expect(first.body.contains(link), "\(first.body)")
            let query = "q=a&within=24h&created_after=2027-01-01T08%3A00%3A00.000Z&cursor=next"
            _ = try await stage.send("GET", "/console/payments?\(query)", session: hana.session)
            let asked = stage.asked.all.last?.request.query ?? ""
            #expect(
                asked == "limit=50&reference=a&cursor=next&created_after=2027-01-01T08%3A00%3A00.000Z", "\(asked)")
            let wrong = try await stage.send("GET", "/console/payments?within=9y", session: hana.session)
            #expect(wrong.status == 400 && wrong.body.contains("1h, 24h, 7d, 30d"))
        }
    }

    @Test func `what cannot be read does not look as if there were nothing`() async throws {
        let failure = ConsoleStage.answer(500, #"{"type":"/problems/internal","title":"Internal error"}"#)
        try await ConsoleStage.run(repair: failure, list: failure) { stage in
            let hana = try await stage.signIn("hana")
            let now = try await stage.send("GET", "/console/", session: hana.session)
            #expect(now.status == 200 && !now.body.contains("No payment waits"))
            #expect(!now.body.contains("No proposal waits") && !now.body.contains("No difference is open"))
            #expect(now.body.matches(of: /This cannot be read here now/).count == 3)
            let queue = try await stage.send("GET", "/console/queue", session: hana.session)
            #expect(queue.status == 500 && !queue.body.contains("No payment waits"))
        }
    }

    @Test func `a list that is cut says so, and leads to the rest`() async throws {
        let page = ConsoleStage.answer(200, #"{"data":[{"id":"pay_1"}],"next_cursor":"next"}"#)
        try await ConsoleStage.run(list: page) { stage in
            let hana = try await stage.signIn("hana")
            for path in ["/console/", "/console/queue"] {
                let body = try await stage.send("GET", path, session: hana.session).body
                #expect(body.contains(#"<a href="/console/payments?waiting_for=people">All of them</a>"#), "\(path)")
            }
        }
    }

    @Test func `a strip draws what is proven over what was given up, and says where it did not look`() {
        let end = Timestamp(milliseconds: 1_800_000_000_000)
        func run(_ state: String, _ isProven: Bool?, _ hours: (Int64, Int64), isDry: Bool = false) -> [String: Any] {
            var run: [String: Any] = ["state": state, "id": "cmp_1", "dry_run": isDry]
            run["proven"] = isProven
            run["window"] = ["from": (end + .hours(-hours.0)).rfc3339, "to": (end + .hours(-hours.1)).rfc3339]
            return run
        }
        let runs = [
            run("abandoned", nil, (42, 0)), run("completed", true, (42, 21)), run("completed", false, (21, 0)),
            run("completed", true, (84, 0), isDry: true),
        ]
        func drawn(_ isCut: Bool) -> [String] {
            ComparisonStrip(until: end).rectangles(runs, isCut: isCut)
                .map { "\($0["kind"] ?? "") \($0["x"] ?? "") \($0["width"] ?? "")" }
        }
        #expect(drawn(false) == ["abandoned 540 180", "unproven 630 90", "proven 540 90"])
        #expect(drawn(true).first == "unknown 0 540")
    }

    @Test func `reports of drills are shown, also those that cannot be read`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        let texts = [
            "torn": #"{"name":"to"#,
            "whole": #"{"name":"restore","passed":true,"objectives":[{"name":"rto","measured_ms":812,"met":true}]}"#,
        ]
        for (name, text) in texts {
            let folder = root.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appendingPathComponent("report.json"))
        }
        try FileManager.default.createDirectory(
            at: root.appendingPathComponent("killed"), withIntermediateDirectories: true)
        let reports = try #require(DrillReports(directory: root.path).model["reports"] as? [[String: Any]])
        #expect(reports.count == 3)
        for (folder, reason) in [("torn", "it is no report in JSON"), ("killed", "no report: ")] {
            let broken = try #require(reports.first { $0["folder"] as? String == folder })
            #expect(broken["passed"] as? Bool == false)
            #expect((broken["broken_off"] as? String)?.contains(reason) == true, "\(broken)")
        }
        let whole = try #require(reports.first { $0["name"] as? String == "restore" })
        #expect((whole["objectives"] as? [[String: Any]])?.first?["measured"] as? String == "812 ms")
    }

    @Test func `without a directory there are no reports, and one that cannot be read is said`() {
        #expect(DrillReports(directory: nil).model.isEmpty)
        let unreadable = DrillReports(directory: "/nowhere").model
        #expect(unreadable["reports"] == nil)
        #expect((unreadable["unreadable"] as? String)?.hasPrefix("/nowhere: ") == true, "\(unreadable)")
    }

    @Test func `a table is CSV, and no cell of it is a formula`() async throws {
        #expect(ConsolePages.cell("order 1") == "order 1")
        #expect(ConsolePages.cell("a,\"b\"\nc") == "\"a,\"\"b\"\"\nc\"")
        for formula in ["=1+1", "+1", "-1", "@a", " =1", "＝1", "\t=1"] {
            #expect(ConsolePages.cell(formula) == "'\(formula)")
        }
        // To Swift's characters, a quote or a comma with a combining mark is neither.
        #expect(ConsolePages.cell("q\"\u{301},=1") == "\"q\"\"\u{301},=1\"")
        #expect(ConsolePages.cell("c,\u{301}d") == "\"c,\u{301}d\"")
        let payment = #"""
            {"id":"pay_1","state":"failed","reason":{"code":"declined","detail":null},"reference":"=cmd,1",
             "amount":{"value":1234,"currency":"EUR"},"captured":{"value":0,"currency":"EUR"},
             "refunded":{"value":0,"currency":"EUR"},"capture":"manual","created_at":"c","updated_at":"u"}
            """#
        try await ConsoleStage.run(payment: payment) { stage in
            let hana = try await stage.signIn("hana")
            let table = try await stage.send("GET", "/console/payments.csv?state=failed", session: hana.session)
            #expect(table.header("content-type") == "text/csv; charset=utf-8")
            #expect(table.header("content-disposition") == "attachment; filename=\"payments.csv\"")
            #expect(table.body.contains("\r\npay_1,failed,declined,1234,0,0,EUR,manual,\"'=cmd,1\",c,u\r\n"))
        }
    }

    @Test(arguments: [
        (0, "JPY", "0 JPY"), (1_234_567, "JPY", "1,234,567 JPY"), (5, "EUR", "0.05 EUR"),
        (-123_456, "EUR", "−1,234.56 EUR"),
        (100_000, "EUR", "1,000.00 EUR"), (1, "BHD", "0.001 BHD"), (Int64.min, "JPY", "−9,223,372,036,854,775,808 JPY"),
    ])
    func `amounts are shown in major units of their currency`(value: Int64, code: String, text: String) throws {
        #expect(ViewModel.amount(value, try #require(Currency(code: code))) == text)
    }

    @Test func `documents become what templates read, and null is not there`() {
        let model = ViewModel.members(
            Array(#"{"a":null,"b":{"value":150,"currency":"EUR"},"c":[1,null],"d":false}"#.utf8))
        #expect(model["a"] == nil && (model["b"] as? [String: Any])?["text"] as? String == "1.50 EUR")
        #expect(model["c"] as? [String] == ["1"] && model["d"] as? Bool == false)
        #expect(ViewModel.members(Array("no".utf8)).isEmpty)
    }

    @Test func `a repair of a difference is proposed on its page, and shown beside it`() async throws {
        let id = "dis_" + String(repeating: "1", count: 40)
        let found = """
            {"id":"\(id)","class":"orphan","provider":"card","state":"open","version":3,"suggested_action":"tell",\
            "history":[],"evidence":{}}
            """
        let repair = """
            {"id":"rep_1","payment_id":null,"leg":null,"refund":null,"discrepancy_id":"\(id)","action":"undo",\
            "state":"proposed","evidence":{"text":"nobody sold it"},"proposed_by":"hana","decision":null}
            """
        try await ConsoleStage.run(
            reading: ConsoleStage.answer(200, repair), discrepancy: found
        ) { stage in
            let path = "/console/discrepancies/\(id)"
            let vera = try await stage.signIn("vera")
            let read = try await stage.send("GET", path, session: vera.session)
            #expect(read.status == 200 && !read.body.contains("Propose a repair"))
            let hana = try await stage.signIn("hana")
            let page = try await stage.send("GET", path, session: hana.session)
            #expect(page.body.contains("Propose a repair") && page.body.contains(#"action="\#(path)/repairs""#))
            let form = "form_token=\(hana.formToken)&version=3&action=undo&evidence=nobody+sold+it&reference=CH-1"
            let done = try await stage.send("POST", "\(path)/repairs", session: hana.session, form: form)
            #expect(done.status == 303 && done.header("location") == "/console/repairs/rep_1", "\(done)")
            let body = stage.asked.all.last { $0.route == "propose" }?.request.body ?? []
            let sent = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            let evidence = sent?["evidence"] as? [String: Any]
            #expect(sent?["discrepancy_id"] as? String == id && sent?["action"] as? String == "undo")
            #expect(sent?["version"] as? Int == 3 && sent?["payment_id"] == nil)
            #expect(evidence?["text"] as? String == "nobody sold it" && evidence?["reference"] as? String == "CH-1")
            let shown = try await stage.send("GET", "/console/repairs/rep_1", session: hana.session)
            #expect(shown.body.contains(#"href="\#(path)""#) && shown.body.contains("orphan at card, open"))
            #expect(!shown.body.contains("/console/payments/\""), "\(shown.body)")
        }
    }

    @Test func `what is wrong with a proposal about a difference is shown with what was written`() async throws {
        let id = "dis_" + String(repeating: "1", count: 40)
        let problem = #"{"title":"No","detail":"What is known has changed.","field":"version"}"#
        try await ConsoleStage.run(
            repair: ConsoleStage.answer(409, problem),
            discrepancy: #"{"id":"\#(id)","class":"orphan","provider":"card","state":"open","version":4}"#
        ) { stage in
            let hana = try await stage.signIn("hana")
            let form = "form_token=\(hana.formToken)&version=3&action=write_off&evidence=nobody+sold+it"
            let reply = try await stage.send(
                "POST", "/console/discrepancies/\(id)/repairs", session: hana.session, form: form)
            #expect(reply.status == 409 && reply.body.contains("What is known has changed."))
            #expect(reply.body.contains(">nobody sold it</textarea>"))
            #expect(reply.body.contains(#"<option value="write_off" selected>"#))
        }
    }
}
