import PaymentCore
import Testing

/// What people use as keys and references holds no card number, and a card number is found whatever hides it.
@Suite struct CardNumberTests {
    @Test(arguments: UsualKeys.Kind.allCases)
    func `fewer than one in 100,000 of the keys that people use are refused`(_ kind: UsualKeys.Kind) {
        var keys = UsualKeys(seed: 11)
        let refused = (0..<UsualKeys.count).map { _ in keys.next(kind) }.filter { CardNumber.appears(in: $0) }
        #expect(refused.isEmpty, "\(refused.count) of \(UsualKeys.count), such as \(refused.prefix(3))")
    }

    @Test func `every planted number is found, in every disguise`() {
        var planted = PlantedCards(seed: 12)
        for scheme in PlantedCards.schemes {
            for disguise in PlantedCards.Disguise.allCases {
                for _ in 0..<20 {
                    let text = planted.next(of: scheme, in: disguise)
                    #expect(CardNumber.appears(in: text), "\(scheme.name), \(disguise): \(text.debugDescription)")
                }
            }
        }
    }

    @Test func `what no issuer has is no card number, though its check digit is right`() {
        for digits in [
            "9999999999999995", "0000000000000000", "3000000000007", "2100000000000005", "2721000000000004",
            "343434343434343400", "40000000000002", "5000000000005",
        ] {
            #expect(PlantedCards.hasCheckDigit(digits), "\(digits)")
            #expect(!CardNumber.appears(in: digits), "\(digits)")
        }
    }

    @Test func `a number beside another is found, and a part of a longer one is none`() {
        for text in [
            "4111 1111 1111 1111 12/27 123", "4111111111111111,5555555555554444", "２ 4111111111111111",
            "カード番号は4111111111111111です", "PAN4111111111111111", "4111111111111111x", "4111-1111-1111-1111-1111",
        ] {
            #expect(CardNumber.appears(in: text), "\(text)")
        }
        for text in [
            "41111111111111110000", "00004111111111111111", "00004111\u{200B}111111111111",
            "4111 - - 1111 - - 1111 - - 1111", "41 1111 1111 1111 11", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        ] {
            #expect(!CardNumber.appears(in: text), "\(text)")
        }
    }

    @Test func `hexadecimal and UUIDs hold none, a letter before or after a number does not hide it`() {
        for text in [
            "0a4111111111111111b0", "4111111111111111e4111111111111111", "f4111111111111111f",
            "41111111-1111-1111-a111-111111111111", "urn:uuid:41111111-1111-1111-8111-1111a1111111",
        ] {
            #expect(!CardNumber.appears(in: text), "\(text)")
        }
        for text in ["a4111111111111111", "4111111111111111F", "cafe4111111111111111"] {
            #expect(CardNumber.appears(in: text), "\(text)")
        }
    }

    @Test func `thirteen digits with the check digit of a JAN are a JAN`() {
        #expect(PlantedCards.hasCheckDigit("4901234000094"))
        #expect(!CardNumber.appears(in: "4901234000094"))
        #expect(CardNumber.appears(in: "4222222222222"))
    }
}
