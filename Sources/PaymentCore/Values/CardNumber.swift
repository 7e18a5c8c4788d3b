/// Finds payment card numbers in texts, so that none is ever stored, logged or sent on: the one place that knows what
/// one looks like. `docs/decisions/0017-what-a-card-number-is.md` says why it is this.
public enum CardNumber {
    /// What is done with a field of a request that holds one.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// The request is refused.
        case refuse
        /// The field is not looked at.
        case accept
    }

    /// Whether `text` holds a card number: a whole run of digits, or neighbouring runs that are grouped as people write
    /// one, that begins as an issuer's numbers do, is as long as those, and has the check digit of ISO/IEC 7812-1.
    ///
    /// Digits of every script count, what takes no room does not, and any sign but a letter separates. A part of a
    /// longer run of digits is none, nor is what is in a UUID or among hexadecimal digits.
    public static func appears(in text: String) -> Bool {
        guard mayHoldDigits(text) else { return false }
        var signs = WrittenSigns(text).signs
        IdentifierSigns.mask(&signs)
        var sequence = DigitSequence()
        for sign in signs {
            sequence.take(sign)
            if sequence.isOver {
                if sequence.holdsCard { return true }
                sequence = DigitSequence()
            }
        }
        sequence.end()
        return sequence.holdsCard
    }

    /// Most texts are short and plain; this is all that is done about them. Every digit of another script is at
    /// least one byte that begins a character outside ASCII.
    private static func mayHoldDigits(_ text: String) -> Bool {
        var count = 0
        for byte in text.utf8 where (0x30...0x39).contains(byte) || byte >= 0xC0 {
            count += 1
            if count >= IssuerRange.fewestDigits { return true }
        }
        return false
    }
}

/// Runs of digits with nothing but a few separating signs between them.
private struct DigitSequence {
    /// More signs between two groups than these are no separator but something else.
    private static let widestGap = 3

    private var digits: [UInt8] = []
    private var groups: [Int] = []
    private var open = 0
    private var gap = 0
    /// What comes next does not belong to it.
    private(set) var isOver = false

    mutating func take(_ sign: WrittenSigns.Sign) {
        switch sign {
        case .digit(let digit):
            digits.append(digit)
            open += 1
            gap = 0
        case .hexadecimalLetter, .letter:
            end()
            isOver = true
        case .separator:
            end()
            gap += 1
            isOver = gap > DigitSequence.widestGap
        }
    }

    /// Ends the group that is open.
    mutating func end() {
        guard open > 0 else { return }
        groups.append(open)
        open = 0
    }

    /// Whether neighbouring groups, put together, are a card number. Digits beside it do not hide it.
    var holdsCard: Bool {
        guard digits.count >= IssuerRange.fewestDigits else { return false }
        var begin = 0
        for first in groups.indices {
            var end = begin
            for last in first..<groups.endIndex {
                end += groups[last]
                if end - begin > IssuerRange.mostDigits { break }
                let isWhole = first == groups.startIndex && last == groups.endIndex - 1
                if Grouping.isUsual(groups[first...last], isWhole: isWhole), IssuerRange.hasCard(digits[begin..<end]) {
                    return true
                }
            }
            begin += groups[first]
        }
        return false
    }
}

/// How people divide a card number.
private enum Grouping {
    /// As they are printed, but for those in fours.
    private static let printed: [[Int]] = [[4, 6, 5], [4, 6, 4], [4, 3, 3, 3], [6, 13]]

    /// Whether somebody would write a card number in groups of these lengths.
    ///
    /// Dates, telephone numbers and the order numbers of shops have groups of other lengths. Single digits and pairs
    /// are taken only where there is nothing else, because a list of small numbers has many parts.
    static func isUsual(_ groups: ArraySlice<Int>, isWhole: Bool) -> Bool {
        guard groups.count > 1, let last = groups.last else { return true }
        let before = groups.dropLast()
        if before.allSatisfy({ $0 == 4 || $0 == 8 }), last <= 5 || last == 8 { return true }
        if before.prefix(2).elementsEqual([4, 4]), groups.allSatisfy({ $0 <= 4 }) { return true }
        if isWhole, let size = groups.first, size <= 2 { return before.allSatisfy { $0 == size } && last <= size }
        return printed.contains { groups.elementsEqual($0) }
    }
}
