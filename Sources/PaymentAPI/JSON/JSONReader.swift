/// Why a text is no JSON document, or not one that is accepted.
struct JSONFailure: Error, Sendable, Hashable {
    /// Constant text; never a part of the document.
    let reason: String
    /// Where, in bytes from the beginning.
    let offset: Int
    /// Which member, where that is known.
    let path: FieldPath
}

/// Reads JSON strictly (RFC 8259): valid UTF-8, nothing before or after the document, no member twice in an
/// object, no lone surrogates, no U+0000, and a bounded depth.
///
/// It never indexes without a check and its recursion is bounded, because a trap would end the server.
struct JSONReader {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var offset = 0

    /// Reads a document; `maximumDepth` counts arrays and objects within each other.
    static func read(_ bytes: [UInt8], maximumDepth: Int) throws(JSONFailure) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONFailure(reason: "not valid UTF-8", offset: 0, path: .root)
        }
        var reader = JSONReader(bytes: bytes, maximumDepth: maximumDepth)
        let value = try reader.value(depth: 0, at: .root)
        reader.skipWhitespace()
        guard reader.current == nil else { throw reader.failure("more after the end of the document", .root) }
        return value
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func failure(_ reason: String, _ path: FieldPath) -> JSONFailure {
        JSONFailure(reason: reason, offset: offset, path: path)
    }

    private mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard let found = current, UInt32(found) == byte.value else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int, at path: FieldPath) throws(JSONFailure) -> JSONValue {
        skipWhitespace()
        guard let byte = current else { throw failure("the document ends too early", path) }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth + 1, at: path)
        case UInt8(ascii: "["): return try array(depth: depth + 1, at: path)
        case UInt8(ascii: "\""): return .string(try string(at: path))
        case UInt8(ascii: "t"): return try word("true", .bool(true), at: path)
        case UInt8(ascii: "f"): return try word("false", .bool(false), at: path)
        case UInt8(ascii: "n"): return try word("null", .null, at: path)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number(at: path))
        default: throw failure("unexpected character", path)
        }
    }

    private mutating func word(
        _ text: String, _ value: JSONValue, at path: FieldPath
    ) throws(JSONFailure) -> JSONValue {
        for scalar in text.unicodeScalars {
            guard take(scalar) else { throw failure("unexpected character", path) }
        }
        return value
    }

    private mutating func object(depth: Int, at path: FieldPath) throws(JSONFailure) -> JSONValue {
        guard depth <= maximumDepth else { throw failure("nested too deeply", path) }
        offset += 1
        var members: [JSONMember] = []
        var names: Set<String> = []
        skipWhitespace()
        if take("}") { return .object(members) }
        while true {
            skipWhitespace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member's name is expected", path) }
            let name = try string(at: path)
            let place = path.member(name)
            guard names.insert(name).inserted else { throw failure("the same member twice", place) }
            skipWhitespace()
            guard take(":") else { throw failure("a colon is expected", place) }
            members.append(JSONMember(name, try value(depth: depth, at: place)))
            skipWhitespace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("a comma or the end of the object is expected", path) }
        }
    }

    private mutating func array(depth: Int, at path: FieldPath) throws(JSONFailure) -> JSONValue {
        guard depth <= maximumDepth else { throw failure("nested too deeply", path) }
        offset += 1
        var items: [JSONValue] = []
        skipWhitespace()
        if take("]") { return .array(items) }
        while true {
            items.append(try value(depth: depth, at: path.item(items.count)))
            skipWhitespace()
            if take("]") { return .array(items) }
            guard take(",") else { throw failure("a comma or the end of the array is expected", path) }
        }
    }
}

extension JSONReader {
    private mutating func digits() -> Int {
        let start = offset
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        return offset - start
    }

    private mutating func number(at path: FieldPath) throws(JSONFailure) -> String {
        let start = offset
        _ = take("-")
        if !take("0") {
            guard digits() > 0 else { throw failure("a digit is expected", path) }
        }
        if take(".") {
            guard digits() > 0 else { throw failure("a digit is expected", path) }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() > 0 else { throw failure("a digit is expected", path) }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func string(at path: FieldPath) throws(JSONFailure) -> String {
        offset += 1
        var content: [UInt8] = []
        while let byte = current {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): content += try escaped(at: path)
            case 0x00..<0x20: throw failure("a control character in a string", path)
            default: content.append(byte)
            }
        }
        throw failure("a string does not end", path)
    }

    private mutating func escaped(at path: FieldPath) throws(JSONFailure) -> [UInt8] {
        guard let byte = current else { throw failure("a string does not end", path) }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape(at: path)
        default: throw failure("an unknown escape in a string", path)
        }
    }

    private mutating func unicodeEscape(at path: FieldPath) throws(JSONFailure) -> [UInt8] {
        var value = try hexadecimal(at: path)
        if (0xD800..<0xDC00).contains(value) {
            guard take("\\"), take("u") else { throw failure("half of a surrogate pair", path) }
            let low = try hexadecimal(at: path)
            guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair", path) }
            value = 0x1_0000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard value != 0 else { throw failure("U+0000 in a string", path) }
        guard let scalar = Unicode.Scalar(value) else { throw failure("half of a surrogate pair", path) }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func hexadecimal(at path: FieldPath) throws(JSONFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else {
                throw failure("four hexadecimal digits are expected", path)
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}
