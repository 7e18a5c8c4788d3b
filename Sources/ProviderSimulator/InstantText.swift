/// RFC 3339 instants in UTC, to the millisecond, without a formatter: two of them stand in every answer, and
/// a formatter costs more than the rest of the answer together.
enum InstantText {
    /// Such as `2026-03-02T09:15:04.120Z`.
    static func format(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        append(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same, to the end of some text.
    static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let days = floorDivide(milliseconds, 86_400_000)
        let inDay = milliseconds - days * 86_400_000
        let (year, month, day) = civil(fromDays: days)
        let parts: [(value: Int64, width: Int, mark: UInt8)] = [
            (year, 4, UInt8(ascii: "-")), (month, 2, UInt8(ascii: "-")), (day, 2, UInt8(ascii: "T")),
            (inDay / 3_600_000, 2, UInt8(ascii: ":")), (inDay / 60_000 % 60, 2, UInt8(ascii: ":")),
            (inDay / 1000 % 60, 2, UInt8(ascii: ".")), (inDay % 1000, 3, UInt8(ascii: "Z")),
        ]
        for part in parts {
            append(part.value, part.width, to: &bytes)
            bytes.append(part.mark)
        }
    }

    /// Milliseconds since 1970, or nil for anything but `YYYY-MM-DDThh:mm:ss[.f{1,9}]Z`.
    ///
    /// Finer digits are cut off.
    static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 30, bytes[bytes.count - 1] == UInt8(ascii: "Z") else {
            return nil
        }
        let separators: [(Int, UInt8)] = [
            (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")),
            (13, UInt8(ascii: ":")), (16, UInt8(ascii: ":")),
        ]
        for (index, separator) in separators where bytes[index] != separator { return nil }
        guard let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]), let fraction = milliseconds(bytes[19..<(bytes.count - 1)]),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        let days = days(year: year, month: month, day: day)
        guard civil(fromDays: days) == (year, month, day) else { return nil }
        return days * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000 + fraction
    }

    private static func milliseconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard let point = bytes.first else { return 0 }
        let digits = bytes.dropFirst()
        guard point == UInt8(ascii: "."), !digits.isEmpty, number(digits) != nil else { return nil }
        var value: Int64 = 0
        for position in 0..<3 {
            let digit = digits.dropFirst(position).first.map { Int64($0 - UInt8(ascii: "0")) } ?? 0
            value = value * 10 + digit
        }
        return value
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func append(_ value: Int64, _ width: Int, to bytes: inout [UInt8]) {
        guard value >= 0, value < 10_000 else { return bytes.append(contentsOf: String(value).utf8) }
        var unit: Int64 = [1, 10, 100, 1000][width - 1]
        while value / unit > 9 { unit *= 10 }
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / unit % 10))
            unit /= 10
        }
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        value >= 0 ? value / by : -((by - 1 - value) / by)
    }

    /// Days since 1970 of a date in the proleptic Gregorian calendar, counted in eras of 400 years from
    /// March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
