import HTTPEdge
import LogCapture
import Logging
import PaymentCore
import Testing

@testable import OperationsConsole

/// Who may see the console, and what reaches the operations API from it.
@Suite struct ConsoleTests {
    private static let problem = #"""
        {"type":"/problems/state-conflict","title":"The repair is not carried out","status":409,
         "detail":"What is known has changed.","field":"version"}
        """#

    @Test func `without a session every page leads to the sign-in, and only what it needs is served`() async throws {
        try await ConsoleStage.run { stage in
            for route in ConsoleRoute.allCases {
                let path = route.rawValue.replacing("{id}", with: "pay_1")
                let method = route.methods[0]
                let reply = try await stage.send(method, path, form: method == "POST" ? "" : nil)
                switch (route.isOpen, method) {
                case (true, _): #expect(reply.status == 200, "\(path)")
                case (false, "GET"):
                    #expect(reply.status == 303, "\(path)")
                    #expect(reply.header("location")?.hasPrefix("/console/sign-in?next=%2Fconsole") == true)
                default: #expect(reply.status == 401, "\(path)")
                }
                #expect(!reply.body.contains("hana"))
            }
            #expect(stage.asked.all.allSatisfy { $0.route == "list" && $0.request.person == "-" })
        }
    }

    @Test func `a cookie is seen by no script and no other page, and every answer has a strict policy`() async throws {
        try await ConsoleStage.run { stage in
            let form = "token=\(ConsoleStage.tokens["hana"] ?? "")&next=%2Fconsole%2Fqueue"
            let plain = try await stage.send("POST", "/console/sign-in", form: form)
            #expect(plain.status == 303 && plain.header("location") == "/console/queue")
            let cookie = plain.header("set-cookie") ?? ""
            #expect(cookie.hasSuffix("; Path=/console; HttpOnly; SameSite=Strict"), "\(cookie)")
            let secure = try await stage.send(
                "POST", "/console/sign-in", form: form, headers: ["X-Forwarded-Proto: https"])
            #expect(secure.header("set-cookie")?.contains("; Secure") == true)
            #expect(plain.session != secure.session)
            let page = try await stage.send("GET", "/console/", session: plain.session)
            #expect(page.status == 200)
            let policy = page.header("content-security-policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"), "\(policy)")
            #expect(page.header("x-frame-options") == "DENY" && page.header("cache-control") == "no-store")
            #expect(page.header("x-content-type-options") == "nosniff")
        }
    }

    @Test func `a wrong token is told so, and begins nothing`() async throws {
        try await ConsoleStage.run { stage in
            for token in ["", "wrong", "hana-token-0001x"] {
                let reply = try await stage.send("POST", "/console/sign-in", form: "token=\(token)&next=")
                #expect(reply.status == 401 && reply.header("set-cookie") == nil)
                #expect(reply.body.contains("Nobody has this token"))
                #expect(reply.header("www-authenticate") == nil)
            }
        }
    }

    @Test func `wrong tokens end their connections, and are told of once`() async throws {
        let lines = LogLines()
        try await ConsoleStage.run(logger: Logger(label: "test") { _ in lines.handler }) { stage in
            for _ in 1...3 {
                let form = "token=wrong&next="
                let refused = try await RawExchange.send(
                    """
                    POST /console/sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                    Content-Length: \(form.utf8.count)\r\n\r\n\(form)
                    """, port: stage.port)
                #expect(refused.hasPrefix("HTTP/1.1 401"), "\(refused)")
                #expect(refused.lowercased().contains("connection: close"), "\(refused)")
                let unread = try await RawExchange.send(
                    "GET /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n\r\n", port: stage.port)
                #expect(unread.hasPrefix("HTTP/1.1 401") && unread.lowercased().contains("connection: close"))
            }
        }
        let told = lines.all.filter { $0.contains("without a valid token") }
        #expect(told.count == 1 && told[0].contains("sign_in 1"), "\(lines.all)")
        #expect(lines.all.allSatisfy { !$0.contains("wrong") })
    }

    @Test func `a form of another session, of another site or of none is refused, and nothing is done`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            let ken = try await stage.signIn("ken")
            let path = "/console/payments/pay_1/repairs"
            func form(_ token: String) -> String { "form_token=\(token)&leg=0&action=resume&text=because+so&version=1" }
            let cases: [(session: String, form: String, headers: [String], status: Int)] = [
                (hana.session, form(ken.formToken), [], 403), (hana.session, form(""), [], 403),
                (hana.session, form(hana.formToken), ["Origin: https://other.example"], 403),
                (hana.session, form(hana.formToken), ["Origin: null"], 403),
                (hana.session, form(hana.formToken), ["Sec-Fetch-Site: cross-site"], 403),
                (hana.session, form(hana.formToken), ["Sec-Fetch-Site: same-site"], 403),
                ("unknown", form(hana.formToken), [], 401),
                (hana.session, form(hana.formToken), ["Content-Type: application/json"], 415),
                (hana.session, "surprise=1&" + form(hana.formToken), [], 400),
                (hana.session, String(repeating: "x", count: 140_000), [], 413),
            ]
            for (session, form, headers, status) in cases {
                let reply = try await stage.send("POST", path, session: session, form: form, headers: headers)
                #expect(reply.status == status, "\(form.prefix(60)) \(headers): \(reply.status)")
            }
            #expect(!stage.asked.all.contains { $0.route == "propose" })
            for headers in [[], ["Origin: http://127.0.0.1:\(stage.port)"], ["Sec-Fetch-Site: same-origin"]] {
                let done = try await stage.send(
                    "POST", path, session: hana.session, form: form(hana.formToken), headers: headers)
                #expect(done.status == 303 && done.header("location") == "/console/repairs/rep_1", "\(done)")
            }
            let proposed = stage.asked.all.filter { $0.route == "propose" }
            #expect(proposed.count == 3 && proposed.allSatisfy { $0.request.person == "hana" })
            let body = String(decoding: proposed.first?.request.body ?? [], as: UTF8.self)
            #expect(
                body.contains(#""payment_id":"pay_1","leg":0,"refund":null,"action":"resume""#)
                    && body.contains(#""text":"because so""#) && body.contains(#""version":1"#), "\(body)")
        }
    }

    @Test func `a form that is refused before its body was read ends the connection`() async throws {
        try await ConsoleStage.run { stage in
            let form = "form_token=1"
            let request = [
                "POST /console/payments/pay_1/repairs HTTP/1.1", "Host: 127.0.0.1:\(stage.port)",
                "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)", "", form,
            ]
            let reply = try await RawExchange.send(request.joined(separator: "\r\n"), port: stage.port).lowercased()
            #expect(reply.hasPrefix("http/1.1 401"), "\(reply)")
            #expect(reply.contains("\r\nconnection: close\r\n"), "\(reply)")
        }
    }

    @Test func `a viewer reads, and is refused what changes something`() async throws {
        try await ConsoleStage.run(
            explanation: #"{"version":3,"legs":[{"index":0,"provider":"card","waits_for":{"what":"people"}}]}"#
        ) { stage in
            let vera = try await stage.signIn("vera")
            let page = try await stage.send("GET", "/console/payments/pay_1", session: vera.session)
            #expect(page.status == 200 && !page.body.contains("Propose a repair"))
            let form = "form_token=\(vera.formToken)&leg=0&action=resume&text=because+so&version=3"
            let refused = try await stage.send(
                "POST", "/console/payments/pay_1/repairs", session: vera.session, form: form)
            #expect(refused.status == 403 && refused.body.contains("Needs the role operator"), "\(refused.body)")
            #expect(!stage.asked.all.contains { $0.route == "propose" })
            let hana = try await stage.signIn("hana")
            let form2 = try await stage.send("GET", "/console/payments/pay_1", session: hana.session)
            #expect(form2.body.contains("Propose a repair") && form2.body.contains(#"name="version" value="3""#))
        }
    }

    @Test func `a repair is proposed of a refund that waits for people, and of no other`() async throws {
        let parts = [("ref_1", "people"), ("ref_2", "provider")].map { id, what in
            #"{"id":"\#(id)","part":{"index":0,"provider":"points","waits_for":{"what":"\#(what)"}}}"#
        }
        try await ConsoleStage.run(
            explanation: #"{"version":3,"legs":[],"refunds":[\#(parts.joined(separator: ","))]}"#
        ) { stage in
            let hana = try await stage.signIn("hana")
            let page = try await stage.send("GET", "/console/payments/pay_1", session: hana.session)
            #expect(page.body.contains(#"<input type="hidden" name="refund" value="ref_1">"#), "\(page.body)")
            #expect(!page.body.contains(#"name="refund" value="ref_2""#))
        }
    }

    @Test func `what the API refuses is shown with what was written, and what would be allowed`() async throws {
        try await ConsoleStage.run(
            explanation: #"{"version":3,"legs":[{"index":0,"provider":"card","waits_for":{"what":"people"}}]}"#,
            repair: ConsoleStage.answer(409, Self.problem)
        ) { stage in
            let hana = try await stage.signIn("hana")
            let form = "form_token=\(hana.formToken)&leg=0&action=undo&text=Their+mail+%3C17%3E&version=2"
            let reply = try await stage.send(
                "POST", "/console/payments/pay_1/repairs", session: hana.session, form: form)
            #expect(reply.status == 409)
            #expect(reply.body.contains("What is known has changed.") && reply.body.contains("<code>version</code>"))
            #expect(reply.body.contains(">Their mail &lt;17&gt;</textarea>"))
            #expect(reply.body.contains(#"<option value="undo" selected>"#))
        }
    }

    @Test func `line ends are counted as the browser counts them, and spaces around a text do not count`() throws {
        let fields = try FormFields(Array("text=+a%0D%0Ab%0Ac+%0D%0A&reason=+&reference=4111111111111111".utf8))
        #expect(fields["text"] == "a\nb\nc" && fields["reason"] == nil)
        // The API refuses it, and its answer comes with what was written.
        #expect(fields["reference"] == "4111111111111111")
    }

    @Test func `what a person wrote about a repair is not lost`() async throws {
        let waiting = ConsoleStage.answer(
            200, #"{"id":"rep_1","payment_id":"pay_1","state":"proposed","proposed_by":"hana"}"#)
        try await ConsoleStage.run(repair: ConsoleStage.answer(409, Self.problem), reading: waiting) { stage in
            let ken = try await stage.signIn("ken")
            let form = "form_token=\(ken.formToken)&reason=I+read+it+too."
            let reply = try await stage.send(
                "POST", "/console/repairs/rep_1/approve", session: ken.session, form: form)
            #expect(reply.status == 409 && reply.body.contains("What is known has changed."), "\(reply.status)")
            #expect(reply.body.contains("required>I read it too.</textarea>"), "\(reply.body)")
        }
    }

    @Test func `signing in again ends the session before it`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            let form = "token=\(ConsoleStage.tokens["ken"] ?? "")&next="
            let again = try await stage.send("POST", "/console/sign-in", session: hana.session, form: form)
            #expect(again.status == 303)
            #expect(try await stage.send("GET", "/console/", session: hana.session).status == 303)
            #expect(try await stage.send("GET", "/console/", session: again.session).status == 200)
        }
    }

    @Test func `signing out ends the session, also for whoever copied its cookie`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            let out = try await stage.send(
                "POST", "/console/sign-out", session: hana.session, form: "form_token=\(hana.formToken)")
            #expect(out.status == 303 && out.header("set-cookie")?.contains("Max-Age=0") == true)
            #expect(try await stage.send("GET", "/console/", session: hana.session).status == 303)
        }
    }

    @Test func `a token that is taken away ends the sessions that it began`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            #expect(try await stage.send("GET", "/console/", session: hana.session).status == 200)
            stage.operators.replace(with: try ConsoleStage.directory(["ken"]))
            #expect(try await stage.send("GET", "/console/", session: hana.session).status == 303)
        }
    }

    @Test func `a link in somebody else's page comes back with the cookie, and not to the sign-in`() async throws {
        try await ConsoleStage.run { stage in
            let reply = try await stage.send(
                "GET", "/console/payments/pay_1", headers: ["Sec-Fetch-Site: cross-site"])
            #expect(reply.status == 200 && reply.body.contains("0; url=/console/payments/pay_1"), "\(reply.body)")
        }
    }

    @Test func `the page after signing in is one of the console, whatever was asked for`() {
        for next in ["/console/", "/console/payments/pay_1", "/console/queue?class=orphan"] {
            #expect(Visit.safe(next) == next)
        }
        let others = [
            nil, "", "/", "//other.example", "https://other.example/console/", "/console//other.example",
            "/console/../v1/payments", "/console/sign-in", "/console/sign-out", "/console\\other", "/consolex",
            "/console/queue?a=\r\nSet-Cookie: x", "/console/repairs/rep_1/approve",
        ]
        for next in others { #expect(Visit.safe(next) == "/console/", "\(next ?? "-")") }
    }

    @Test func `other methods, and paths that are not there, are said to be so`() async throws {
        try await ConsoleStage.run { stage in
            let hana = try await stage.signIn("hana")
            let wrong = try await stage.send("DELETE", "/console/payments", session: hana.session)
            #expect(wrong.status == 405 && wrong.header("allow") == "GET, HEAD")
            for path in ["/console/nothing", "/console/payments/pay_1/more", "/console//"] {
                #expect(try await stage.send("GET", path, session: hana.session).status == 404, "\(path)")
            }
            #expect(try await stage.send("GET", "/consolex", session: hana.session).status == 404)
        }
    }
}
