import Foundation
import PaymentCore
import SeededChance
import Testing

@Suite struct InstrumentTests {
    /// Test numbers that the card schemes publish; none belongs to anybody.
    static let cards = [
        "4222222222222", "378282246310005", "4111111111111111", "5555555555554444", "6304000000000000000",
        "30569309025904", "6011111111111117", "3566002020360505",
    ]

    @Test(arguments: cards) func `a card number is no instrument`(_ card: String) {
        #expect(throws: Instrument.Failure.cardNumber) { try Instrument(token: card) }
        #expect(throws: Instrument.Failure.cardNumber) { try Instrument(token: "tok_" + card) }
        #expect(throws: Instrument.Failure.cardNumber) { try Instrument(token: card + "/x") }
    }

    @Test(arguments: cards) func `a card number is found in a text, grouped or not`(_ card: String) {
        for separator in [" ", "-"] {
            var grouped = ""
            for (index, digit) in card.enumerated() {
                if index > 0, index % 4 == 0 { grouped += separator }
                grouped.append(digit)
            }
            #expect(CardNumber.appears(in: grouped))
            #expect(CardNumber.appears(in: "card: \(grouped), thanks"))
        }
    }

    @Test(arguments: [
        "43-4111111111111111", "4111111111111111 12", "1 4111 1111 1111 1111", "4111-1111-1111-1111-1",
        "a1 2 4111111111111111 3", "0 378282246310005",
    ])
    func `a card number beside other digits is found`(_ text: String) {
        #expect(CardNumber.appears(in: text))
    }

    @Test(arguments: [
        "4111111111111112", "411111111111", "0000000000000000", "41111111111111111111", "1234567890123",
        "order-12345678",
        "tok_visa", "", "2026-03-01T09:30:00.000Z",
    ])
    func `other digits are no card number`(_ text: String) {
        #expect(!CardNumber.appears(in: text))
    }

    @Test func `identifiers that programs make are no card numbers, whatever their digits add up to`() {
        var chance = SeededChance(seed: 7)
        for _ in 0..<5_000 {
            let words = (0..<4).map { _ in String(format: "%08x", UInt32(truncatingIfNeeded: chance.next())) }
            let digits = Array(words.joined())
            let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            #expect(!CardNumber.appears(in: "order-" + groups.joined(separator: "-")))
        }
        for number in Int64(0)..<1_000 {
            #expect(!CardNumber.appears(in: "order-\(1_790_000_000_000 + number)"))
            #expect(!CardNumber.appears(in: String(1_790_000_000_000_000 + number)))
        }
        #expect(CardNumber.appears(in: "41111111-1111-1111-0000-000000000000"))
        #expect(CardNumber.appears(in: "4111111111111111-b08c-4d1a-9d7e-7f1d1c1b1a19"))
    }

    @Test(arguments: [
        "", " ", "a b", "a\n", "tök", "tok\u{7F}", String(repeating: "a", count: 129), "a\u{0}",
    ])
    func `a malformed token is refused`(_ token: String) {
        #expect(throws: Instrument.Failure.malformed) { try Instrument(token: token) }
    }

    @Test func `a token never shows in words`() throws {
        let secret = "tok_SECRETSECRET1234"
        let instrument = try Instrument(token: secret)
        var dumped = ""
        dump(instrument, to: &dumped)
        var held = ""
        dump([instrument], to: &held)
        let request = try Fixture().request([.reference])
        for words in [
            "\(instrument)", String(describing: instrument), String(reflecting: instrument), dumped, held,
            "\([instrument])", "\(Optional(instrument) as Any)", instrument.debugText,
        ] {
            #expect(!words.contains("SECRET"), "\(words)")
        }
        #expect(!"\(request)".contains("tok_0"))
        #expect(instrument.redacted == "…1234")
        #expect(try Instrument(token: "short").redacted == "…")
    }

    @Test func `a stored token is read whatever it looks like, and a malformed one is not repeated`() throws {
        let card = "4111111111111111"
        #expect(try JSONDecoder().decode([Instrument].self, from: Data(#"["\#(card)"]"#.utf8)).first?.token == card)
        do {
            let read = try JSONDecoder().decode([Instrument].self, from: Data(#"["\#(card) x"]"#.utf8))
            Issue.record("decoded \(read.count)")
        } catch {
            #expect(!"\(error)".contains(card))
            #expect(!String(reflecting: error).contains(card))
        }
    }

    @Test func `a token that looks like a card number is taken where its field accepts them`() throws {
        #expect(try Instrument(token: "4111111111111111", cardNumbers: .accept).token == "4111111111111111")
        #expect(throws: Instrument.Failure.malformed) { try Instrument(token: "4111 1111", cardNumbers: .accept) }
    }

    @Test func `a token is a bare text in JSON`() throws {
        let instrument = try Instrument(token: "tok_0")
        #expect(String(decoding: try JSONEncoder().encode([instrument]), as: UTF8.self) == #"["tok_0"]"#)
        #expect(try JSONDecoder().decode([Instrument].self, from: Data(#"["tok_0"]"#.utf8)) == [instrument])
    }
}

extension Instrument {
    /// What a failed expectation would print.
    fileprivate var debugText: String { "\((self, 1))" }
}
