import ProgramEdge
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore
@testable import ReconcileDaemon

/// Nothing that others wrote does anything to a terminal.
@Suite struct TerminalTextTests {
    /// A title, a colour, a line of its own, what the 8-bit controls do, and letters that are read backwards.
    static let hostile =
        "a\u{1B}]0;x\u{7}\u{1B}[2Jb\r\npay_1  captured\u{9B}31m\u{202E}c\u{2066}\u{200B}\u{2028}d\u{7F}"

    static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
            default: true
            }
        }
    }

    @Test func `what acts on a terminal is shown as its code, and everything else as it is`() {
        #expect(
            TerminalText.written(Self.hostile)
                == #"a\u{1B}]0;x\u{7}\u{1B}[2Jb\u{D}\u{A}pay_1  captured\u{9B}31m"#
                + #"\u{202E}c\u{2066}\u{200B}\u{2028}d\u{7F}"#
        )
        for plain in ["", "plain", "返品のため", "ça va — 5 €", "e\u{301}", "👍🏽", "❤\u{FE0F}", #"a\b"#] {
            #expect(TerminalText.written(plain) == plain)
        }
        #expect(TerminalText.written("\u{E000}\u{FFFFF}\u{3164}") == #"\u{E000}\u{FFFFF}\u{3164}"#)
    }

    @Test func `lines of ours stay lines, and what is escaped stays as it is`() {
        #expect(TerminalText.lines("a\nb\u{1B}[0m") == "a\nb\\u{1B}[0m")
        let escaped = TerminalText.written(Self.hostile)
        #expect(TerminalText.lines(escaped) == escaped && TerminalText.written(escaped) == escaped)
    }

    @Test func `a caller's reason and a trail's fields are harmless in text, and as they were in JSON`() async throws {
        let book = try OperationsBook()
        let scenario = Scenario(store: book.store, clock: book.clock)
        var payment = try await scenario.create(.init("order-1")).payment
        payment.stopReason = Reason(.canceledByCaller, detail: Self.hostile)
        let line = PaymentLine.render(payment, as: .text)
        #expect(Self.isHarmless(line) && line.contains(#"\u{1B}]0;x"#), "\(line.debugDescription)")
        let entry = AuditEntry(
            after: .empty(payment.id), payment: payment.id, at: payment.createdAt, type: .operation, leg: nil,
            fields: [AuditField("reason", Self.hostile)])
        let text = PaymentLine.render(entry, as: .text)
        #expect(Self.isHarmless(text) && text.contains(#"reason=a\u{1B}]0;x"#), "\(text.debugDescription)")
        #expect(!PaymentLine.render(entry, as: .json).contains(#"\u{1B}"#))
    }

    @Test func `what people wrote about a discrepancy and a term is harmless`() async throws {
        let book = try OperationsBook()
        let kept = try #require(try await book.keep([try book.finding("a", .orphan)]).first)
        let changed = try await book.desk().change(kept.id, .comment(Self.hostile), by: "hana", version: nil)
        let text = ComparisonLine.complete(changed, now: book.clock.now(), as: .text)
        #expect(text.split(separator: "\n").allSatisfy { Self.isHarmless(String($0)) }, "\(text.debugDescription)")
        #expect(!text.split(separator: "\n").contains { $0.hasPrefix("pay_1") })
    }
}
