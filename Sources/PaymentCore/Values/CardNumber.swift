/// Finds what looks like a payment card number, so that none is ever stored, logged or sent on.
public enum CardNumber {
    /// Whether `text` holds a run of 13 to 19 digits (single spaces or hyphens between them allowed) that passes
    /// the Luhn check of ISO/IEC 7812-1 and begins with a digit that issuers use.
    ///
    /// An unbroken run of more than 19 digits is an identifier, not a card.
    public static func appears(in text: String) -> Bool {
        var groups: [[UInt8]] = []
        var group: [UInt8] = []
        for byte in text.utf8 {
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
