/// A function, initializer or computed property and the length of what is between its braces.
struct FunctionBody: Equatable {
    /// The name, with the backticks if it has them; `init`, `deinit` or `subscript` for these.
    let name: String
    /// The line of the keyword, counted from 1.
    let line: Int
    /// The number of lines between the line of the opening brace and that of the closing one.
    let length: Int

    /// All bodies in a file, in the order of their keywords; a nested function counts for itself too.
    static func all(in swift: SwiftText) -> [FunctionBody] {
        var scan = FunctionScan(swift)
        return scan.bodies()
    }
}

/// Finds bodies by braces in code from which strings and comments are blanked.
private struct FunctionScan {
    private let tokens: [Token]
    private let swift: SwiftText

    private struct Token {
        let text: Substring
        let line: Int
    }

    private static let declarations: Set<Substring> = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "class", "enum", "actor",
        "protocol", "extension", "typealias", "associatedtype", "import",
    ]

    init(_ swift: SwiftText) {
        self.swift = swift
        tokens = swift.code.enumerated().flatMap { index, line in
            Self.tokens(of: line).map { Token(text: $0, line: index + 1) }
        }
    }

    /// Words, and each other character that is not a space as a token of its own.
    private static func tokens(of line: String) -> [Substring] {
        let bytes = line.utf8
        var result: [Substring] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            guard isWord(bytes[start]) else {
                let next = bytes.index(after: start)
                if bytes[start] != UInt8(ascii: " ") { result.append(line[start..<next]) }
                start = next
                continue
            }
            let end = bytes[start...].firstIndex { !isWord($0) } ?? bytes.endIndex
            result.append(line[start..<end])
            start = end
        }
        return result
    }

    private static func isWord(_ byte: UInt8) -> Bool { isWordByte(byte) }

    mutating func bodies() -> [FunctionBody] {
        tokens.indices.compactMap { index in
            let isMember = index > 0 && tokens[index - 1].text == "."
            switch tokens[index].text {
            case "func" where !isMember:
                return body(after: index + 2, keyword: index, name: name(after: index))
            case "init" where !isMember, "deinit" where !isMember, "subscript" where !isMember:
                return body(after: index + 1, keyword: index, name: String(tokens[index].text))
            case "var" where !isMember:
                return propertyBody(keyword: index)
            default:
                return nil
            }
        }
    }

    /// The body of a function: the first brace outside the parentheses of its signature.
    private func body(after start: Int, keyword: Int, name: String) -> FunctionBody? {
        var depth = 0
        for index in start..<max(start, tokens.count) {
            switch tokens[index].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return measured(open: index, keyword: keyword, name: name)
            // A requirement of a protocol ends without a body where the next declaration begins.
            case "}" where depth == 0: return nil
            case let text where depth == 0 && Self.declarations.contains(text): return nil
            default: break
            }
        }
        return nil
    }

    /// The body of a computed property: a brace on the line of its type, with no assignment before it.
    private func propertyBody(keyword: Int) -> FunctionBody? {
        for index in keyword..<tokens.count {
            switch tokens[index].text {
            case "=", "}": return nil
            case "{": return measured(open: index, keyword: keyword, name: name(after: keyword))
            case _ where tokens[index].line != tokens[keyword].line: return nil
            default: break
            }
        }
        return nil
    }

    private func measured(open: Int, keyword: Int, name: String) -> FunctionBody? {
        var depth = 0
        for index in open..<tokens.count {
            if tokens[index].text == "{" { depth += 1 }
            if tokens[index].text == "}" { depth -= 1 }
            if depth == 0 {
                return FunctionBody(
                    name: name, line: tokens[keyword].line,
                    length: max(0, tokens[index].line - tokens[open].line - 1))
            }
        }
        return nil
    }

    /// The name behind a keyword, read from the line as written where it stands in backticks.
    private func name(after keyword: Int) -> String {
        guard keyword + 1 < tokens.count else { return "" }
        let token = tokens[keyword + 1]
        let line = swift.lines[token.line - 1]
        guard token.text.utf8.allSatisfy({ $0 == UInt8(ascii: "_") }) else { return String(token.text) }
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.count > 2 ? "`\(parts[1])`" : String(token.text)
    }
}

/// Whether a byte can be part of an identifier; bytes of characters outside ASCII count as such.
func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xFF: true
    default: false
    }
}
