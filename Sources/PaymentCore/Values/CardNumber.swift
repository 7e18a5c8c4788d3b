/// Finds what looks like a payment card number, so that none is ever stored, logged or sent on.
public enum CardNumber {
    /// Whether `text` holds a run of 13 to 19 digits (single spaces or hyphens between them allowed) that passes
    /// the Luhn check of ISO/IEC 7812-1 and begins with a digit that issuers use.
    ///
    /// A longer run of digits is searched for such numbers at its ends only when it is at most 19 digits: a longer
    /// number is an identifier, not a card.
    public static func appears(in text: String) -> Bool {
        var run: [UInt8] = []
        var separated = false
        for byte in text.utf8 {
            if byte >= 0x30, byte <= 0x39 {
                run.append(byte - 0x30)
                separated = false
            } else if byte == 0x20 || byte == 0x2D, !run.isEmpty, !separated {
                separated = true
            } else {
                if isCard(run) { return true }
                run.removeAll(keepingCapacity: true)
                separated = false
            }
        }
        return isCard(run)
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
