import Foundation
import PaymentCore
import Testing

@Suite struct MoneyTests {
    let yen: Currency
    let euro: Currency

    init() throws {
        yen = try #require(Currency(code: "JPY"))
        euro = try #require(Currency(code: "EUR"))
    }

    @Test func `amounts add and subtract`() throws {
        let sum = try Money(1_200, yen).adding(Money(300, yen))
        #expect(sum == (try Money(1_500, yen)))
        #expect(try sum.subtracting(Money(1_500, yen)) == .zero(yen))
        #expect(try Money.sum([Money(1, yen), Money(2, yen), Money(3, yen)], in: yen).value == 6)
        #expect(try Money.sum([], in: yen).isZero)
        #expect(try Money(5, yen).isAtMost(Money(5, yen)))
        #expect(try !Money(6, yen).isAtMost(Money(5, yen)))
    }

    @Test(arguments: [Int64.min, -1]) func `nothing is below zero`(_ value: Int64) {
        #expect(throws: Money.Failure.negative) { try Money(value, yen) }
    }

    @Test func `a difference below zero is refused`() throws {
        let one = try Money(1, yen)
        let two = try Money(2, yen)
        #expect(throws: Money.Failure.negative) { try one.subtracting(two) }
    }

    @Test func `a sum that does not fit is refused, not wrapped`() throws {
        let most = try Money(.max, yen)
        let one = try Money(1, yen)
        #expect(throws: Money.Failure.overflow) { try most.adding(one) }
        #expect(throws: Money.Failure.overflow) { try Money.sum([most, one], in: yen) }
        #expect(try most.adding(.zero(yen)) == most)
    }

    @Test func `currencies are not mixed`() throws {
        let one = try Money(1, yen)
        let cent = try Money(1, euro)
        #expect(throws: Money.Failure.currencyMismatch(yen, euro)) { try one.adding(cent) }
        #expect(throws: Money.Failure.currencyMismatch(yen, euro)) { try one.subtracting(cent) }
        #expect(throws: Money.Failure.currencyMismatch(yen, euro)) { try one.isAtMost(cent) }
        #expect(throws: Money.Failure.self) { try Money.sum([one, cent], in: yen) }
        #expect(throws: Money.Failure.self) { try Money.sum([one], in: euro) }
    }

    @Test func `an amount is value and currency in JSON`() throws {
        let read = try JSONDecoder().decode(Money.self, from: Data(#"{"value": 1200, "currency": "JPY"}"#.utf8))
        #expect(read == (try Money(1_200, yen)))
        let written = try JSONDecoder().decode(Money.self, from: JSONEncoder().encode(read))
        #expect(written == read)
    }

    @Test(arguments: [
        #"{"value": -1, "currency": "JPY"}"#, #"{"value": 1.5, "currency": "JPY"}"#,
        #"{"value": 9223372036854775808, "currency": "JPY"}"#, #"{"value": "1", "currency": "JPY"}"#,
        #"{"value": 1, "currency": "jpy"}"#, #"{"value": 1, "currency": "ABC"}"#, #"{"value": 1}"#,
        #"{"currency": "JPY"}"#, "12", "null",
    ])
    func `what is no amount is not decoded`(_ text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Money.self, from: Data(text.utf8)) }
    }

    @Test(arguments: [
        ("JPY", 0), ("KRW", 0), ("CLP", 0), ("VND", 0), ("USD", 2), ("EUR", 2), ("GBP", 2), ("CNY", 2), ("MGA", 2),
        ("KWD", 3), ("BHD", 3), ("TND", 3), ("CLF", 4), ("UYW", 4),
    ])
    func `a currency knows the digits of its minor unit`(_ code: String, _ digits: Int) throws {
        #expect(try #require(Currency(code: code)).minorUnitDigits == digits)
    }

    @Test(arguments: ["", "JP", "JPYY", "jpy", "Jpy", "XXX", "XTS", "XAU", "DEM", "AAA", "ＪＰＹ", "JPY "])
    func `what is no active currency does not exist`(_ code: String) {
        #expect(Currency(code: code) == nil)
    }
}
