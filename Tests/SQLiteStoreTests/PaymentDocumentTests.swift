internal import Foundation
internal import PaymentCore
internal import StoreRows
internal import Testing

@Suite struct PaymentDocumentTests {
    @Test(arguments: [
        [], [AuditField("a", "b")], [AuditField("a", ""), AuditField("", "\"\\/")],
        [AuditField("control", "\u{0}\u{1}\n\r\t\u{1F}\u{7F}")], [AuditField("ü", "日本 \u{1F4B4} \u{2028}")],
    ])
    func `audit fields are JSON that reads back equal`(_ fields: [AuditField]) throws {
        let text = PaymentDocument.encode(fields)
        #expect(try PaymentDocument.decodeFields(text) == fields)
        let foreign = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String]]
        #expect(foreign == fields.map { [$0.name, $0.value] })
    }

    @Test(arguments: ["", "{}", "[[\"a\"]]", "[[\"a\",\"b\",\"c\"]]", "[[1,2]]"])
    func `what is no list of pairs is no list of fields`(_ text: String) {
        #expect(throws: (any Error).self) { try PaymentDocument.decodeFields(text) }
    }
}
