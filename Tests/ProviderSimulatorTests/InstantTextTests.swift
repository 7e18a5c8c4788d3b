import Foundation
import Testing

@testable import ProviderSimulator

@Suite struct InstantTextTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_800_000_000_123, "2027-01-15T08:00:00.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
    ])
    func `instants are written and read alike`(milliseconds: Int, text: String) {
        #expect(InstantText.format(Int64(milliseconds)) == text)
        #expect(InstantText.parse(text) == Int64(milliseconds))
    }

    @Test func `seconds may have up to nine digits of a fraction or none`() {
        #expect(InstantText.parse("1970-01-01T00:00:01Z") == 1000)
        #expect(InstantText.parse("1970-01-01T00:00:01.5Z") == 1500)
        #expect(InstantText.parse("1970-01-01T00:00:01.123999999Z") == 1123)
    }

    @Test(arguments: [
        "", "tomorrow", "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-01-15T24:00:00Z",
        "2027-01-15T08:00:00", "2027-01-15T08:00:00+09:00", "2027-01-15 08:00:00Z", "2027-01-15T08:00:00.Z",
        "2027-01-15T08:00:00.1234567890Z", "+027-01-15T08:00:00Z",
    ])
    func `anything else is not an instant`(text: String) {
        #expect(InstantText.parse(text) == nil)
    }

    @Test func `a century of days comes back as it went`() {
        for day in stride(from: Int64(0), to: 36_525, by: 7) {
            let instant = day * 86_400_000
            #expect(InstantText.parse(InstantText.format(instant)) == instant)
        }
    }
}
