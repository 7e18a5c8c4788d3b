import Foundation
import PaymentCore
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

    @Test func `a card number in JSON is refused without being repeated`() throws {
        let card = "4111111111111111"
        do {
            let read = try JSONDecoder().decode([Instrument].self, from: Data(#"["\#(card)"]"#.utf8))
            Issue.record("decoded \(read.count)")
        } catch {
            #expect(!"\(error)".contains(card))
            #expect(!String(reflecting: error).contains(card))
        }
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
