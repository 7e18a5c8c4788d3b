/// A JSON document, as it was written: numbers keep their text, members keep their order.
///
/// Amounts must not pass through floating point, and a request's fingerprint must not depend on how a library
/// prints numbers; so nothing is converted before somebody asks for an integer.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number's own characters, valid by the grammar of RFC 8259.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
}

/// One member of a JSON object.
struct JSONMember: Sendable, Hashable {
    let name: String
    let value: JSONValue

    init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// An integer.
    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// A string, or null.
    static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// An empty object.
    static var empty: JSONValue { .object([]) }

    /// An object with its members in the order that is written here.
    static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { JSONMember($0.key, $0.value) })
    }

    /// The document as UTF-8 without whitespace, members in their order.
    var bytes: [UInt8] {
        var writer = JSONWriter(sortsMembers: false)
        writer.write(self)
        return writer.bytes
    }

    /// The one form of the document: no whitespace, members sorted by the bytes of their names, the fewest
    /// escapes.
    var canonicalBytes: [UInt8] {
        var writer = JSONWriter(sortsMembers: true)
        writer.write(self)
        return writer.bytes
    }
}
