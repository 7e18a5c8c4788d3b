import Foundation
import Testing

@testable import ProviderSimulator

/// What is written by hand is what the standard library would read and write.
@Suite struct TransactionTextTests {
    private static func full() -> TransactionRecord {
        let (amount, part) = (Amount(value: 1200, currency: "JPY"), Amount(value: 7, currency: "JPY"))
        var record = TransactionRecord(
            key: "transaction-key-1", kind: .authorize, status: .captured, amount: amount,
            createdAt: 1_800_000_000_000, updatedAt: 1_800_000_000_123)
        record.authorizedUntil = 1_800_600_000_000
        record.metadata = ["payment": "pay_1", "b": "\"quoted\\\" / \u{1}\n\t é 円 😀", "": ""]
        record.reason = "why \"not\""
        record.fingerprint = "00ff"
        record.behaviour = .declinesRefund
        record.declineIsBound = false
        record.unboundDeclines = 3
        record.resolution = Resolution(at: -5, succeeds: true)
        record.captures = [Entry(succeeded: "capture-key-0001", amount, at: 1_800_000_000_100)]
        var refund = Entry(succeeded: "refund-key-00001", part, at: 1_800_000_000_110)
        (refund.amount, refund.status, refund.reason) = (Amount(value: 8, currency: "JPY"), .declined, "closed")
        refund.declineIsBound = false
        var pending = Entry(succeeded: "refund-key-00002", part, at: 1_800_000_000_111)
        (pending.status, pending.resolution) = (.pending, Resolution(at: Int64.max, succeeds: false))
        record.refunds = [refund, pending]
        record.disputes = [
            DisputeRecord(id: "dp_1", amount: part, status: .won, createdAt: 1_800_000_000_120),
            DisputeRecord(id: "dp_2", amount: part, status: .open, createdAt: 1_800_000_000_123),
        ]
        return record
    }

    private static let records: [TransactionRecord] = {
        let tombstone = TransactionRecord(
            key: "tombstone-key-001", status: .tombstoned, createdAt: Int64.min, updatedAt: Int64.max)
        var plain = full()
        plain.metadata = ["payment": "pay_1"]
        plain.reason = nil
        return [full(), tombstone, plain]
    }()

    @Test(arguments: records)
    func `a state is read as it was written, by hand and by the standard library`(record: TransactionRecord) throws {
        let written = TransactionState.write(record)
        #expect(try TransactionState.read(written) == record)
        #expect(try JSONDecoder().decode(TransactionRecord.self, from: Data(written.utf8)) == record)
        let theirs = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
        #expect(try TransactionState.read(theirs) == record, "a ledger of an earlier version")
    }

    @Test func `a state without escapes is read by hand`() {
        for record in Self.records.dropFirst() {
            var written = TransactionState.write(record)
            let read = written.withUTF8 { utf8 in
                var reader = StateReader(utf8)
                return reader.record()
            }
            #expect(read == record)
        }
    }

    @Test func `a state that is cut off or spoilt is not read`() throws {
        let written = TransactionState.write(Self.records[2])
        for end in stride(from: 0, to: written.utf8.count, by: 7) {
            let cut = String(decoding: written.utf8.prefix(end), as: UTF8.self)
            #expect(throws: DecodingError.self) { try TransactionState.read(cut) }
        }
        for (part, other) in [
            (#""value":1200"#, #""value":12000000000000000000"#), (#""value":1200"#, #""value":-"#),
            (#""status":"captured""#, #""status":"settled""#), (#""declineIsBound":false"#, #""declineIsBound":0"#),
        ] {
            try #require(written.contains(part))
            #expect(throws: DecodingError.self) { try TransactionState.read(written.replacing(part, with: other)) }
        }
    }

    @Test func `a transaction is shown with every member, in order`() throws {
        var json = JSONText()
        TransactionView().write(Self.records[2], to: &json)
        #expect(
            json.text == """
                {"amount":{"currency":"JPY","value":1200},"authorized_until":"2027-01-22T06:40:00.000Z",\
                "captures":[{"amount":{"currency":"JPY","value":1200},"created_at":"2027-01-15T08:00:00.100Z",\
                "key":"capture-key-0001","reason":null,"status":"succeeded"}],"created_at":"2027-01-15T08:00:00.000Z",\
                "disputes":[{"amount":{"currency":"JPY","value":7},"created_at":"2027-01-15T08:00:00.120Z",\
                "id":"dp_1","status":"won"},{"amount":{"currency":"JPY","value":7},\
                "created_at":"2027-01-15T08:00:00.123Z","id":"dp_2","status":"open"}],\
                "key":"transaction-key-1","kind":"authorize","metadata":{"payment":"pay_1"},"reason":null,\
                "refunds":[{"amount":{"currency":"JPY","value":8},"created_at":"2027-01-15T08:00:00.110Z",\
                "key":"refund-key-00001","reason":"closed","status":"declined"},\
                {"amount":{"currency":"JPY","value":7},"created_at":"2027-01-15T08:00:00.111Z",\
                "key":"refund-key-00002","reason":null,"status":"pending"}],"status":"captured",\
                "updated_at":"2027-01-15T08:00:00.123Z"}
                """)
        var without = JSONText()
        TransactionView(omitsStatus: true).write(Self.records[2], to: &without)
        #expect(without.text == json.text.replacing(#""status":"captured","#, with: ""))
    }

    @Test func `any text survives`() throws {
        var texts = (0...0x7f).compactMap { Unicode.Scalar($0).map { "a" + String($0) + "b" } }
        texts += ["", "é", "\u{2028}", "😀", "\u{0}", "a/b", "\\u0041"]
        var json = JSONText()
        json.list(texts) { $1.string($0) }
        #expect(try JSONDecoder().decode([String].self, from: Data(json.bytes)) == texts)
    }
}
