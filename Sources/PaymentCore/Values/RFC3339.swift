extension Timestamp {
    /// The moment as RFC 3339 in UTC with milliseconds, such as `2026-03-01T09:30:00.000Z`.
    ///
    /// Years outside 0000 to 9999 are clamped, because RFC 3339 has four digits for them.
    public var rfc3339: String {
        let bounded = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let day = bounded.flooredDivision(86_400_000)
        let inDay = bounded - day * 86_400_000
        let date = CivilDate(daysSinceEpoch: day)
        let hour = inDay / 3_600_000
        let minute = inDay / 60_000 % 60
        let second = inDay / 1_000 % 60
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(inDay % 1_000, 3))Z"
    }

    /// Reads RFC 3339 with any offset; fractions below a millisecond are cut off. `nil` if the text is anything else.
    public init?(rfc3339 text: String) {
        var reader = DigitReader(text.utf8)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2), let fraction = reader.fraction(), let offset = reader.offset(),
            reader.isAtEnd
        else { return nil }
        guard (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        let inDay = hour * 3_600_000 + minute * 60_000 + min(second, 59) * 1_000 + fraction
        self.init(milliseconds: days * 86_400_000 + inDay - offset * 60_000)
    }
}

private func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension Int64 {
    fileprivate func flooredDivision(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

/// A day of the proleptic Gregorian calendar (the arithmetic of H. Hinnant's "chrono-compatible low-level date
/// algorithms": eras of 400 years that begin on 1 March, so that the leap day is the last of a year).
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSinceEpoch: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = shifted.flooredDivision(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredDivision(400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Reads fixed-width ASCII digits and marks.
private struct DigitReader {
    private let bytes: String.UTF8View
    private var index: String.Index

    init(_ bytes: String.UTF8View) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    var isAtEnd: Bool { index == bytes.endIndex }

    private var current: UInt8? { isAtEnd ? nil : bytes[index] }

    private mutating func advance() { bytes.formIndex(after: &index) }

    mutating func number(_ width: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let byte = current, byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
            advance()
        }
        return value
    }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard let byte = current, UInt32(byte) == mark.value else { return false }
        advance()
        return true
    }

    /// Milliseconds of an optional fraction; `nil` for a point without digits.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var digits = 0
        while let byte = current, byte >= 0x30, byte <= 0x39 {
            if digits < 3 { value = value * 10 + Int64(byte - 0x30) }
            digits += 1
            advance()
        }
        guard digits > 0, digits <= 18 else { return nil }
        for _ in 0..<max(0, 3 - digits) { value *= 10 }
        return value
    }

    /// Minutes east of UTC.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(2), take(":"), let minutes = number(2), hours <= 23, minutes <= 59 else {
            return nil
        }
        return sign * (hours * 60 + minutes)
    }
}
