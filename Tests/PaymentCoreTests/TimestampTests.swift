import Foundation
import PaymentCore
import Testing

@Suite struct TimestampTests {
    /// Computed with Python's `datetime`.
    static let known: [(String, Int64)] = [
        ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1),
        ("2000-02-29T23:59:59.999Z", 951_868_799_999), ("2024-02-29T00:00:00.000Z", 1_709_164_800_000),
        ("2100-02-28T12:00:00.000Z", 4_107_499_200_000), ("2199-12-31T00:00:00.000Z", 7_258_032_000_000),
    ]

    @Test(arguments: known) func `a moment is written and read`(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
    }

    @Test func `every day from 1970 to 2200 is read as it was written`() {
        for day in 0..<Int64(84_006) {
            let moment = Timestamp(milliseconds: day * 86_400_000 + day * 977 % 86_400_000)
            guard Timestamp(rfc3339: moment.rfc3339) != moment else { continue }
            Issue.record("\(moment.milliseconds) became \(moment.rfc3339)")
            return
        }
        let last = Timestamp(milliseconds: 84_005 * 86_400_000)
        #expect(last.rfc3339.hasPrefix("2199-12-31"))
    }

    @Test(arguments: [
        ("2026-03-01T09:30:00+09:00", "2026-03-01T00:30:00.000Z"),
        ("2026-03-01T00:30:00-00:30", "2026-03-01T01:00:00.000Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"), ("2026-03-01t00:00:00z", "2026-03-01T00:00:00.000Z"),
        ("2026-03-01 00:00:00Z", "2026-03-01T00:00:00.000Z"), ("2026-03-01T00:00:00.1Z", "2026-03-01T00:00:00.100Z"),
        ("2026-03-01T00:00:00.123999Z", "2026-03-01T00:00:00.123Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z"),
    ])
    func `offsets and fractions are understood`(_ text: String, _ expected: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == expected)
    }

    @Test(arguments: [
        "", "2026", "2026-03-01", "2026-03-01T00:00:00", "2026-03-01T00:00Z", "2026-3-1T00:00:00Z",
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-04-00T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T00:60:00Z",
        "2026-03-01T00:00:61Z", "2026-03-01T00:00:00.Z", "2026-03-01T00:00:00+24:00", "2026-03-01T00:00:00+0900",
        "2026-03-01T00:00:00Z ", " 2026-03-01T00:00:00Z", "２０２６-03-01T00:00:00Z", "-026-03-01T00:00:00Z",
        "2026-03-01T00:00:00.1234567890123456789Z",
    ])
    func `what is no moment is refused`(_ text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `moments and spans stop at their ends`() {
        let last = Timestamp(milliseconds: .max)
        #expect(last + .seconds(1) == last)
        #expect(Timestamp(milliseconds: .min) + .seconds(-1) == Timestamp(milliseconds: .min))
        #expect(last - Timestamp(milliseconds: -1) == Span(milliseconds: .max))
        #expect(Timestamp(milliseconds: .min) - Timestamp(milliseconds: 1) == Span(milliseconds: .min))
        #expect(Span.days(.max) == Span(milliseconds: .max))
        #expect(Span.hours(.min) == Span(milliseconds: .min))
        #expect(Span(milliseconds: .max) + .seconds(1) == Span(milliseconds: .max))
        #expect(Span(milliseconds: .min) - .seconds(1) == Span(milliseconds: .min))
        #expect(last.rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0000-01-01T00:00:00.000Z")
    }

    @Test func `moments and spans are bare numbers in JSON`() throws {
        let moments = [Timestamp(milliseconds: 5)]
        #expect(String(decoding: try JSONEncoder().encode(moments), as: UTF8.self) == "[5]")
        #expect(try JSONDecoder().decode([Timestamp].self, from: Data("[5]".utf8)) == moments)
        #expect(try JSONDecoder().decode([Span].self, from: Data("[-7]".utf8)) == [.milliseconds(-7)])
    }
}
