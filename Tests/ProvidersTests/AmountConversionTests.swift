import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// Points and other units, without rounding.
struct AmountConversionTests {
    private let book = OrderBook()

    private func conversion(_ numerator: Int64, _ denominator: Int64) throws -> AmountConversion {
        try AmountConversion(
            numerator: numerator, denominator: denominator, unitCode: "PTS",
            currency: try #require(Currency(code: "JPY")))
    }

    @Test
    func `what converts comes back the same`() throws {
        for (numerator, denominator) in [(1, 1), (2, 1), (1, 2), (3, 7), (100, 1), (1, 100), (6, 4)] as [(Int64, Int64)]
        {
            let conversion = try conversion(numerator, denominator)
            for value in Int64(0)...500 {
                let exact = value * numerator % denominator == 0
                do {
                    let units = try conversion.units(for: try book.money(value))
                    #expect(exact && units == value * numerator / denominator)
                    #expect(try conversion.money(for: units) == book.money(value))
                } catch let error as UnconvertibleAmount {
                    #expect(!exact && error.reason == .notExact)
                }
            }
        }
    }

    @Test
    func `units that stand for a fraction are not read`() throws {
        let conversion = try conversion(2, 1)
        #expect(throws: UnconvertibleAmount(reason: .notExact)) { try conversion.money(for: 3) }
        #expect(throws: UnconvertibleAmount(reason: .notExact)) { try conversion.money(for: -2) }
        let format = AmountFormat.converted(conversion)
        #expect(format.money(WireAmount(value: 3, currency: "PTS")) == nil)
        #expect(format.money(WireAmount(value: 4, currency: "JPY")) == nil)
        #expect(try format.money(WireAmount(value: 4, currency: "PTS")) == book.money(2))
    }

    @Test
    func `another currency and too large amounts are refused`() throws {
        let conversion = try conversion(1000, 1)
        let dollars = try Money(5, try #require(Currency(code: "USD")))
        #expect(throws: UnconvertibleAmount(reason: .currency)) { try conversion.units(for: dollars) }
        #expect(throws: UnconvertibleAmount(reason: .tooLarge)) {
            try conversion.units(for: try book.money(.max))
        }
        #expect(throws: UnconvertibleAmount(reason: .tooLarge)) {
            try self.conversion(1, 1000).money(for: .max)
        }
        #expect(try self.conversion(1, 1).units(for: try book.money(.max)) == .max)
    }

    @Test
    func `a senseless ratio or unit is refused`() throws {
        let yen = try #require(Currency(code: "JPY"))
        for (numerator, denominator) in [(0, 1), (1, 0), (-1, 1), (1, -1)] as [(Int64, Int64)] {
            #expect(throws: AmountConversion.Malformed.ratio) { try conversion(numerator, denominator) }
        }
        for unit in ["", "PT", "pts", "POINT", "P S"] {
            #expect(throws: AmountConversion.Malformed.unitCode) {
                try AmountConversion(numerator: 1, denominator: 1, unitCode: unit, currency: yen)
            }
        }
    }

    @Test
    func `a provider of points says beforehand what it cannot carry`() throws {
        let provider = try scriptedProvider(ScriptedSender(), amounts: .converted(conversion(1, 10)))
        try provider.validate(book.money(1200))
        #expect(throws: UnconvertibleAmount(reason: .notExact)) { try provider.validate(try book.money(1205)) }
        try scriptedProvider(ScriptedSender()).validate(book.money(1205))
    }

    @Test
    func `units that were changed at the provider are a contradiction or another amount`() async throws {
        let key = try book.key(.authorize)
        func observe(_ units: Int64) async throws -> Observation {
            let body = WireBodies.transaction("captured", key: key, value: units, currency: "PTS")
            let sender = ScriptedSender([ScriptedSender.answer(200, fields: .of("application/json"), body: body)])
            return try await scriptedProvider(sender, amounts: .converted(conversion(2, 1))).inquire(
                try book.inquiry())
        }
        let same = try await observe(2400)
        #expect(try same.amount == book.money(1200) && same.contradiction == nil)
        let odd = try await observe(2401)
        #expect(odd.amount == nil && odd.contradiction == "amount_unreadable")
        let other = try await observe(2402)
        #expect(try other.amount == book.money(1201) && other.contradiction == nil)
    }
}
