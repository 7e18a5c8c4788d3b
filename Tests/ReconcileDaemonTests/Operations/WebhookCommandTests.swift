import APIDescription
import ArgumentParser
import Foundation
import MemoryStore
import ProgramEdge
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore
@testable import ReconcileDaemon

/// The commands about webhooks, by the operations API.
@Suite struct WebhookCommandTests {
    private static let payment = "pay_" + String(repeating: "0", count: 40)

    /// Serves a book, with what a command needs to ask it as somebody.
    private func serve(
        _ book: OperationsBook, as person: String = "hana", _ body: @Sendable ([String]) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        try Data("\(RunningOperations.tokens[person] ?? "")\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await RunningOperations.run(book) { api in
            try await body(["--url", "http://127.0.0.1:\(api.port)", "--token-file", file.path])
        }
    }

    @Test func `the filters of a list are what is asked for`() throws {
        for (words, target) in [
            ([], "/v1/webhooks?limit=50"),
            (["--caller", "shop", "--limit", "7"], "/v1/webhooks?limit=7&caller=shop"),
            (["--state", "given_up", "--cursor", "a+b"], "/v1/webhooks?limit=50&state=given_up&cursor=a%2Bb"),
        ] {
            #expect(try ListWebhooks.parse(words + ["--token-file", "x"]).target() == target)
        }
        for words in [["--state", "done"], ["--caller", "The Shop"], ["--limit", "0"], ["--limit", "201"]] {
            let list = try ListWebhooks.parse(words + ["--token-file", "x"])
            let failure = #expect(throws: CommandFailure.self) { try list.target() }
            #expect(failure?.code == .usage && failure?.message.hasPrefix(words[0]) == true, "\(words)")
        }
    }

    @Test func `one is redelivered by its payment, or all of a caller that were given up, and not both`() throws {
        let one = try RedeliverWebhooks.parse([Self.payment, "--token-file", "x"]).request()
        #expect(one.target == "/v1/webhooks/\(Self.payment)/redeliver" && one.body == nil)
        let many = try RedeliverWebhooks.parse(["--given-up", "--caller", "shop", "--token-file", "x"]).request()
        #expect(many.target == "/v1/webhooks/redeliver" && many.body?.count == 1)
        #expect(many.body?["caller"] as? String == "shop")
        for words in [
            [], ["--given-up"], ["--caller", "shop"], [Self.payment, "--given-up", "--caller", "shop"],
            [Self.payment, "--caller", "shop"], [Self.payment, "--given-up"], ["pay_1"],
            ["--given-up", "--caller", "The Shop"],
        ] {
            let command = try RedeliverWebhooks.parse(words + ["--token-file", "x"])
            let failure = #expect(throws: CommandFailure.self, "\(words)") { try command.request() }
            #expect(failure?.code == .usage && failure?.message.contains("allowed: ") == true, "\(words)")
        }
    }

    @Test func `a list is told in lines for people, and names the command that goes on`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await serve(book) { asking in
            let words = ["/usr/bin/reconciled", "webhooks", "list", "--limit", "2"]
            let first = try await ListWebhooks.parse(["--limit", "2"] + asking).lines(.text, after: words)
            #expect(first.count == 3)
            #expect(zip(first.dropLast(), reported.all).allSatisfy { $0.hasPrefix("\($1)  ") }, "\(first)")
            let newest = try #require(first.first)
            #expect(newest.contains("  kiosk  waiting  report 1 of ") && newest.contains(", next attempt "))
            let more = try #require(first.last)
            #expect(more.hasPrefix("there are more: reconciled webhooks list --limit 2 --cursor "), "\(more)")
            let cursor = String(try #require(more.split(separator: " ").last))
            let rest = try await ListWebhooks.parse(["--limit", "2", "--cursor", cursor] + asking)
                .lines(.text, after: words)
            let (givenUp, delivered) = (
                try await told(reported.givenUp, book), try await told(reported.delivered, book)
            )
            #expect(rest == ["\(givenUp), 1 in vain, last failure http_410", "\(delivered), accepted \(now(book))"])
            let none = try await ListWebhooks.parse(["--caller", "unheard"] + asking).lines(.text, after: words)
            #expect(none == ["no webhook is there"])
        }
    }

    /// How a line about a webhook begins.
    private func told(_ payment: PaymentID, _ book: OperationsBook) async throws -> String {
        let webhook = try #require(try await book.store.webhook(of: payment))
        return "\(payment)  \(webhook.caller)  \(webhook.state.rawValue)  report \(webhook.raised) of "
            + webhook.raisedAt.rfc3339
    }

    private func now(_ book: OperationsBook) -> String { book.clock.now().rfc3339 }

    @Test func `one webhook is shown and redelivered, and what was given up of a caller`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await serve(book) { asking in
            let id = reported.delivered.text
            let shown = try await ShowWebhook.parse([id] + asking).line(.text)
            #expect(shown == "\(try await told(reported.delivered, book)), accepted \(now(book))")
            let again = try await RedeliverWebhooks.parse([id] + asking).line(.text)
            #expect(again == "\(try await told(reported.delivered, book)), next attempt \(now(book))")
            #expect(again.contains("  waiting  report 2 of "))
            let all = ["--given-up", "--caller", "shop"] + asking
            #expect(try await RedeliverWebhooks.parse(all).line(.text) == "1 webhook of shop is due now")
            #expect(try await RedeliverWebhooks.parse(all).line(.text) == "no webhook of shop was given up")
        }
    }

    @Test func `JSON is what the operations API answers`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await serve(book) { asking in
            let lines = try await ListWebhooks.parse(["--limit", "1"] + asking).lines(.json, after: [])
            let page = try JSONText(try #require(lines.first))
            #expect(lines.count == 1 && page["next_cursor"]?.string != nil)
            #expect(page["data"]?.items.map { $0["payment_id"]?.string } == [reported.other.text])
            let shown = try await ShowWebhook.parse([reported.givenUp.text] + asking).line(.json)
            #expect(try JSONText(shown)["failure"]?.string == "http_410")
            let again = try await RedeliverWebhooks.parse(["--given-up", "--caller", "shop"] + asking).line(.json)
            #expect(try JSONText(again)["redelivered"]?.integer == 1)
        }
    }

    @Test func `a refusal is a finding, and a daemon that is away is not`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await serve(book, as: "vera") { asking in
            let redeliver = try RedeliverWebhooks.parse([reported.givenUp.text] + asking)
            let refused = await #expect(throws: CommandFailure.self) { try await redeliver.line(.text) }
            #expect(refused?.code == .finding && refused?.message.contains("answered 403") == true)
            let show = try ShowWebhook.parse([Self.payment] + asking)
            let unknown = await #expect(throws: CommandFailure.self) { try await show.line(.text) }
            #expect(unknown?.code == .finding && unknown?.message.contains("ever reported") == true)
            await book.store.failNext(.unavailable, on: .webhook)
            let away = await #expect(throws: CommandFailure.self) { try await show.line(.text) }
            #expect(away?.code == .unavailable && away?.message.contains("answered 503") == true)
        }
    }

    @Test func `what an answer says does nothing to a terminal`() {
        let hostile = "a\u{1B}]0;x\u{7}\r\npay_1  delivered"
        let document = #"""
            {"payment_id":"pay_1","caller":"shop","state":"waiting","raised":3,"raised_at":"T","delivered":0,
             "delivered_at":null,"due_at":null,"attempts":2,"failure":"\#(hostile.jsonEscaped)"}
            """#
        let line = WebhookDocument.line(Data(document.utf8), as: .text)
        #expect(line.hasPrefix("pay_1  shop  waiting  report 3 of T, 2 in vain, last failure a\\u{1B}"), "\(line)")
        #expect(TerminalTextTests.isHarmless(line))
    }
}

extension String {
    /// The text within the quotation marks of a JSON string.
    fileprivate var jsonEscaped: String {
        unicodeScalars.map {
            $0.value < 0x20 ? "\\u00\($0.value < 16 ? "0" : "")\(String($0.value, radix: 16))" : "\($0)"
        }
        .joined()
    }
}
