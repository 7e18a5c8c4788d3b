/// Reads JSON strictly (RFC 8259): valid UTF-8, nothing before or after the document, no member twice in an
/// object, no lone surrogates, no U+0000, and a bounded depth.
///
/// It never indexes without a check and its recursion is bounded, because a trap would end the server. Where it is
/// in the document is noted only while a failure is on its way out, so that it costs nothing otherwise.
package struct JSONReader {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var offset = 0

    /// Reads a document; `maximumDepth` counts arrays and objects within each other.
    package static func read(_ bytes: [UInt8], maximumDepth: Int) throws(JSONFailure) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONFailure("not valid UTF-8", offset: firstInvalidByte(bytes))
        }
        var reader = JSONReader(bytes: bytes, maximumDepth: maximumDepth)
        let value = try reader.value(depth: 0)
        reader.skipWhitespace()
        guard reader.current == nil else { throw reader.failure("more after the end of the document") }
        return value
    }

    /// Where bytes stop to be UTF-8; their count if they are UTF-8.
    private static func firstInvalidByte(_ bytes: [UInt8]) -> Int {
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &rest) { offset += scalar.count }
        return offset
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func failure(_ reason: String) -> JSONFailure { JSONFailure(reason, offset: offset) }

    private mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONFailure) -> JSONValue {
        skipWhitespace()
        guard let byte = current else { throw failure("the document ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw failure("unexpected character")
        }
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(JSONFailure) -> JSONValue {
        for byte in text.utf8 {
            guard take(byte) else { throw failure("unexpected character") }
        }
        return value
    }

    private mutating func object(depth: Int) throws(JSONFailure) -> JSONValue {
        guard depth <= maximumDepth else { throw failure("nested too deeply") }
        offset += 1
        var members: [JSONMember] = []
        var names = MemberNames()
        skipWhitespace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipWhitespace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member's name is expected") }
            let name = try string()
            do throws(JSONFailure) {
                guard names.isNew(name, after: members) else { throw failure("the same member twice") }
                skipWhitespace()
                guard take(UInt8(ascii: ":")) else { throw failure("a colon is expected") }
                members.append(JSONMember(name, try value(depth: depth)))
            } catch {
                throw error.within(.member(name))
            }
            skipWhitespace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else {
                throw failure("a comma or the end of the object is expected")
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONFailure) -> JSONValue {
        guard depth <= maximumDepth else { throw failure("nested too deeply") }
        offset += 1
        var items: [JSONValue] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) { return .array(items) }
        while true {
            do throws(JSONFailure) {
                items.append(try value(depth: depth))
            } catch {
                throw error.within(.item(items.count))
            }
            skipWhitespace()
            if take(UInt8(ascii: "]")) { return .array(items) }
            guard take(UInt8(ascii: ",")) else {
                throw failure("a comma or the end of the array is expected")
            }
        }
    }
}

/// The names in an object so far.
///
/// A few are looked through one by one, which is faster than hashing each; many are kept in a set, so that an object
/// of a million members is read in the time of a million.
private struct MemberNames {
    private static let few = 16
    private var many: Set<String> = []

    /// Whether no member has this name; to be asked once before each member.
    mutating func isNew(_ name: String, after members: [JSONMember]) -> Bool {
        if members.count < MemberNames.few { return !members.contains { $0.name == name } }
        if many.isEmpty { many = Set(members.map(\.name)) }
        return many.insert(name).inserted
    }
}

extension JSONReader {
    private mutating func digits() -> Int {
        let start = offset
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        return offset - start
    }

    private mutating func number() throws(JSONFailure) -> String {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard digits() > 0 else { throw failure("a digit is expected") }
        }
        if take(UInt8(ascii: ".")) {
            guard digits() > 0 else { throw failure("a digit is expected") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw failure("a digit is expected") }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func string() throws(JSONFailure) -> String {
        offset += 1
        let start = offset
        while let byte = current {
            if byte == UInt8(ascii: "\"") {
                offset += 1
                return String(decoding: bytes[start..<(offset - 1)], as: UTF8.self)
            }
            // What is not plain is read anew from here, byte by byte.
            if byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            offset += 1
        }
        var content = Array(bytes[start..<offset])
        return try rest(of: &content)
    }

    /// The rest of a string that is not plain, after `content`.
    private mutating func rest(of content: inout [UInt8]) throws(JSONFailure) -> String {
        while let byte = current {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): try escaped(to: &content)
            case 0x00..<0x20: throw failure("a control character in a string")
            default: content.append(byte)
            }
        }
        throw failure("a string does not end")
    }

    private mutating func escaped(to content: inout [UInt8]) throws(JSONFailure) {
        guard let byte = current else { throw failure("a string does not end") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += Array(String(try unicodeEscape()).utf8)
        default: throw failure("an unknown escape in a string")
        }
    }

    private mutating func unicodeEscape() throws(JSONFailure) -> Character {
        var value = try hexadecimal()
        if (0xD800..<0xDC00).contains(value) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw failure("half of a surrogate pair")
            }
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
            value = 0x1_0000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard value != 0 else { throw failure("U+0000 in a string") }
        guard let scalar = Unicode.Scalar(value) else { throw failure("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(JSONFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { throw failure("four hexadecimal digits are expected") }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}
