/// Tells for each byte of a Swift file whether it is code, comment, literal or quoted name.
struct SwiftSplitter {
    /// The source.
    let bytes: [UInt8]
    private var regions: [SwiftRegion]
    private var position = 0
    private var contexts: [Context] = [.code(openParentheses: 0)]

    /// What surrounds the position: interpolation puts code inside strings, and strings inside that.
    private enum Context {
        case code(openParentheses: Int)
        case string(hashes: Int, multiline: Bool)
    }

    /// Prepares to split `bytes`, which are UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        regions = Array(repeating: .code, count: bytes.count)
    }

    /// The region of each byte.
    mutating func split() -> [SwiftRegion] {
        while position < bytes.count {
            switch contexts.last {
            case .string(let hashes, let multiline): stepInString(hashes: hashes, multiline: multiline)
            case .code(let open): stepInCode(openParentheses: open)
            case nil: return regions
            }
        }
        return regions
    }

    private mutating func stepInCode(openParentheses open: Int) {
        if starts("//") {
            while position < bytes.count, !starts("\n") { take(1, as: .comment) }
        } else if starts("/*") {
            takeBlockComment()
        } else if starts("`") {
            take(1, as: .name)
            while position < bytes.count, !starts("`"), !starts("\n") { take(1, as: .name) }
            if starts("`") { take(1, as: .name) }
        } else if beginsString() || takeRegularExpression() {
            return
        } else if starts("(") {
            replaceContext(.code(openParentheses: open + 1))
            take(1, as: .code)
        } else if starts(")"), open == 0, contexts.count > 1 {
            // The end of an interpolation: what follows is the string again.
            contexts.removeLast()
            take(1, as: .literal)
        } else {
            if starts(")") { replaceContext(.code(openParentheses: max(0, open - 1))) }
            take(1, as: .code)
        }
    }

    private mutating func stepInString(hashes: Int, multiline: Bool) {
        let marks = String(repeating: "#", count: hashes)
        let end = (multiline ? "\"\"\"" : "\"") + marks
        if starts("\\" + marks + "(") {
            take(hashes + 2, as: .literal)
            contexts.append(.code(openParentheses: 0))
        } else if starts("\\" + marks) {
            take(hashes + 2, as: .literal)
        } else if starts(end) {
            take(end.utf8.count, as: .literal)
            contexts.removeLast()
        } else if starts("\n"), !multiline {
            // Not valid Swift; going on with code confines the damage to one line.
            contexts.removeLast()
        } else {
            take(1, as: .literal)
        }
    }

    private mutating func beginsString() -> Bool {
        var hashes = 0
        while byte(at: position + hashes) == UInt8(ascii: "#") { hashes += 1 }
        guard byte(at: position + hashes) == UInt8(ascii: "\"") else { return false }
        // Three quotes open a multiline literal only when nothing follows them on their line.
        let multiline =
            starts("\"\"\"", at: position + hashes)
            && rest(from: position + hashes + 3).allSatisfy { $0 == UInt8(ascii: " ") }
        take(hashes + (multiline ? 3 : 1), as: .literal)
        contexts.append(.string(hashes: hashes, multiline: multiline))
        return true
    }

    private mutating func takeBlockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                take(2, as: .comment)
            } else if starts("*/") {
                depth -= 1
                take(2, as: .comment)
            } else {
                take(1, as: .comment)
            }
        } while depth > 0 && position < bytes.count
    }

    /// Takes a regular expression literal of one line: a slash where an operand may begin, and its partner.
    private mutating func takeRegularExpression() -> Bool {
        let extended = starts("#/")
        guard extended || (starts("/") && operandMayBegin) else { return false }
        let end = extended ? "/#" : "/"
        var cursor = position + end.utf8.count
        guard let first = byte(at: cursor), extended || first != UInt8(ascii: " ") else { return false }
        while let next = byte(at: cursor), next != UInt8(ascii: "\n") {
            if starts(end, at: cursor) {
                take(cursor + end.utf8.count - position, as: .literal)
                return true
            }
            cursor += next == UInt8(ascii: "\\") ? 2 : 1
        }
        return false
    }

    private var operandMayBegin: Bool {
        var cursor = position - 1
        while byte(at: cursor) == UInt8(ascii: " ") { cursor -= 1 }
        guard let previous = byte(at: cursor) else { return true }
        return "=(,:[{!&|?;\n".utf8.contains(previous)
    }

    private func byte(at index: Int) -> UInt8? {
        bytes.indices.contains(index) ? bytes[index] : nil
    }

    private func starts(_ text: String, at index: Int? = nil) -> Bool {
        var cursor = index ?? position
        for wanted in text.utf8 {
            guard byte(at: cursor) == wanted else { return false }
            cursor += 1
        }
        return true
    }

    private func rest(from index: Int) -> ArraySlice<UInt8> {
        guard index < bytes.count else { return [] }
        return bytes[index...].prefix { $0 != UInt8(ascii: "\n") }
    }

    private mutating func take(_ count: Int, as region: SwiftRegion) {
        for _ in 0..<count where position < bytes.count {
            regions[position] = region
            position += 1
        }
    }

    private mutating func replaceContext(_ context: Context) {
        contexts[contexts.count - 1] = context
    }
}
