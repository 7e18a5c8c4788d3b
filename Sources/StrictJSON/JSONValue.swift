/// A JSON document, as it was written: numbers keep their text, members keep their order.
///
/// Amounts must not pass through floating point, and a request's fingerprint must not depend on how a library
/// prints numbers; so nothing is converted before somebody asks for an integer.
package enum JSONValue: Sendable, Hashable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// The number's own characters, valid by the grammar of RFC 8259.
    case number(String)
    /// A string, its escapes resolved.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; the reader makes none with two members of one name.
    case object([JSONMember])
}

/// One member of a JSON object.
package struct JSONMember: Sendable, Hashable {
    /// The name, its escapes resolved.
    package let name: String
    /// The value.
    package let value: JSONValue

    /// A member.
    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// An integer.
    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// A string, or null.
    package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// An empty object.
    package static var empty: JSONValue { .object([]) }

    /// An object with its members in the order that is written here.
    package static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { JSONMember($0.key, $0.value) })
    }

    /// The document as UTF-8 without whitespace, members in their order.
    package var bytes: [UInt8] {
        var writer = JSONWriter(sortsMembers: false)
        writer.write(self)
        return writer.bytes
    }

    /// The one form of the document: no whitespace, members sorted by the bytes of their names, the fewest
    /// escapes.
    package var canonicalBytes: [UInt8] {
        var writer = JSONWriter(sortsMembers: true)
        writer.write(self)
        return writer.bytes
    }
}
