/// A text as it is read by somebody who looks for numbers: digits of every script are digits, and what takes no room on
/// the paper is not there.
struct WrittenSigns {
    /// One sign.
    enum Sign: Equatable {
        /// A digit of any script, by its value.
        case digit(UInt8)
        /// a to f, in ASCII.
        case hexadecimalLetter
        /// Any other letter.
        case letter
        /// Whatever else is seen: blanks, punctuation, symbols.
        case separator

        /// Whether it may be a hexadecimal digit.
        var isHexadecimal: Bool {
            switch self {
            case .digit, .hexadecimalLetter: true
            case .letter, .separator: false
            }
        }

        /// Whether it is a decimal digit.
        var isDigit: Bool {
            if case .digit = self { true } else { false }
        }
    }

    /// The signs in their order.
    let signs: [Sign]

    /// Reads a text.
    init(_ text: String) {
        var signs: [Sign] = []
        signs.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if let sign = scalar.value < 0x80 ? WrittenSigns.plain(UInt8(scalar.value)) : WrittenSigns.other(scalar) {
                signs.append(sign)
            }
        }
        self.signs = signs
    }

    private static func plain(_ byte: UInt8) -> Sign {
        switch byte {
        case 0x30...0x39: .digit(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: .hexadecimalLetter
        case 0x47...0x5A, 0x67...0x7A: .letter
        default: .separator
        }
    }

    /// `nil` for what takes no room: signs without width, marks upon other signs, variants.
    private static func other(_ scalar: Unicode.Scalar) -> Sign? {
        let properties = scalar.properties
        // Superscripts and digits in circles are digits as well, which Unicode's compatibility mapping makes of them.
        if properties.numericType == .decimal || properties.numericType == .digit, let value = properties.numericValue {
            return .digit(UInt8(value))
        }
        if properties.isDefaultIgnorableCodePoint { return nil }
        switch properties.generalCategory {
        case .format, .nonspacingMark, .enclosingMark: return nil
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return .letter
        default: return .separator
        }
    }
}

/// Identifiers that programs make of many digits and letters. Some digits of theirs look like a number by chance.
enum IdentifierSigns {
    private static let uuidGroups = [8, 4, 4, 4, 12]

    /// Puts a letter in the place of every sign of a UUID, or of a hexadecimal number.
    static func mask(_ signs: inout [WrittenSigns.Sign]) {
        var position = 0
        while position < signs.count {
            guard signs[position].isHexadecimal else {
                position += 1
                continue
            }
            let run = signs[position...].prefix { $0.isHexadecimal }
            if let uuid = endOfUUID(in: signs, from: position, run: run.endIndex) {
                for index in position..<uuid { signs[index] = .letter }
                position = uuid
                continue
            }
            let end = run.endIndex
            if isHexadecimal(run) {
                for index in position..<end { signs[index] = .letter }
            }
            position = end
        }
    }

    /// Where a UUID ends whose first group ends with this run; `nil` if there is none.
    ///
    /// The run may be longer by letters before the UUID, as in `ORD0197259b-…`, but not by digits. One without any
    /// letter is no UUID that a program made, and is looked at.
    private static func endOfUUID(in signs: [WrittenSigns.Sign], from start: Int, run end: Int) -> Int? {
        let begin = end - uuidGroups[0]
        guard begin >= start, signs[start..<begin].allSatisfy({ $0 == .hexadecimalLetter }) else { return nil }
        var position = begin
        var hasLetter = false
        for (index, length) in uuidGroups.enumerated() {
            if index > 0 {
                guard position < signs.count, signs[position] == .separator else { return nil }
                position += 1
            }
            guard position + length <= signs.count else { return nil }
            for sign in signs[position..<position + length] {
                guard sign.isHexadecimal else { return nil }
                hasLetter = hasLetter || sign == .hexadecimalLetter
            }
            position += length
        }
        if position < signs.count, signs[position].isHexadecimal { return nil }
        return hasLetter ? position : nil
    }

    /// Whether a run of hexadecimal digits is more than a decimal number with a word before or after it: letters are on
    /// both sides of its digits, or among them.
    private static func isHexadecimal(_ run: ArraySlice<WrittenSigns.Sign>) -> Bool {
        let inner = run.drop { !$0.isDigit }
        guard let last = inner.lastIndex(where: \.isDigit) else { return false }
        let hasBefore = inner.startIndex > run.startIndex
        let hasAfter = last < run.index(before: run.endIndex)
        return hasBefore && hasAfter || inner[...last].contains { !$0.isDigit }
    }
}
