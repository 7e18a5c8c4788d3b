/// Finds what looks like a payment card number, so that none is ever stored, logged or sent on.
public enum CardNumber {
    /// Whether `text` holds a run of 13 to 19 digits (single spaces or hyphens between them allowed) that passes
    /// the Luhn check of ISO/IEC 7812-1 and begins with a digit that issuers use.
    ///
    /// An unbroken run of more than 19 digits is an identifier, not a card, and so are a UUID and a time in
    /// milliseconds or microseconds: one in ten of those would pass the check.
    public static func appears(in text: String) -> Bool {
        var groups: [[UInt8]] = []
        var group: [UInt8] = []
        for byte in withoutUUIDs(Array(text.utf8)) {
            if byte >= 0x30, byte <= 0x39 {
                group.append(byte - 0x30)
            } else if byte == 0x20 || byte == 0x2D, !group.isEmpty {
                groups.append(group)
                group.removeAll()
            } else {
                groups.append(group)
                if holdsCard(groups) { return true }
                groups.removeAll()
                group.removeAll()
            }
        }
        groups.append(group)
        return holdsCard(groups)
    }

    /// The same with a letter in the place of each UUID in its usual form.
    private static func withoutUUIDs(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= uuidLength else { return bytes }
        var left: [UInt8] = []
        var place = 0
        while place < bytes.count {
            let isBegun = place > 0 && isHexadecimal(bytes[place - 1])
            if !isBegun, isUUID(bytes[place...]) {
                left.append(UInt8(ascii: "u"))
                place += uuidLength
            } else {
                left.append(bytes[place])
                place += 1
            }
        }
        return left
    }

    private static let uuidLength = 36

    /// One without any letter is no UUID that a program made, and is looked at.
    private static func isUUID(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= uuidLength else { return false }
        if let next = bytes.dropFirst(uuidLength).first, isHexadecimal(next) { return false }
        var hasLetter = false
        for (offset, byte) in bytes.prefix(uuidLength).enumerated() {
            let isHyphen = offset == 8 || offset == 13 || offset == 18 || offset == 23
            guard isHyphen ? byte == 0x2D : isHexadecimal(byte) else { return false }
            hasLetter = hasLetter || byte > 0x39
        }
        return hasLetter
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Whether neighbouring groups of digits, put together, are a card number. Digits beside it do not hide it.
    private static func holdsCard(_ groups: [[UInt8]]) -> Bool {
        for first in groups.indices {
            var digits: [UInt8] = []
            for group in groups[first...] {
                digits += group
                if digits.count > 19 { break }
                if isCard(digits) { return true }
            }
        }
        return false
    }

    private static func isCard(_ digits: [UInt8]) -> Bool {
        guard (13...19).contains(digits.count), let first = digits.first, first != 0 else { return false }
        // With 1 begin the cards of one network, of 15 digits; and times in milliseconds, of 13.
        if first == 1, digits.count != 15 { return false }
        return passesLuhn(digits)
    }

    private static func passesLuhn(_ digits: [UInt8]) -> Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let doubled = position % 2 == 1 ? Int(digit) * 2 : Int(digit)
            sum += doubled > 9 ? doubled - 9 : doubled
        }
        return sum % 10 == 0
    }
}
