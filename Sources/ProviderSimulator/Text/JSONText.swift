/// JSON as it grows, without a tree and without an encoder: a page of a thousand transactions is written many times in
/// a comparison, and an encoder costs more than all the rest of the listing.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// What was written, as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Marks and names, which need no escapes.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func number(_ value: Int64) {
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func flag(_ value: Bool) {
        value ? raw("true") : raw("false")
    }

    mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { utf8 in
            if utf8.allSatisfy({ !Self.needsEscape($0) }) {
                bytes.append(contentsOf: utf8)
            } else {
                for byte in utf8 { escape(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func string(_ value: String?) {
        if let value { string(value) } else { raw("null") }
    }

    /// An instant as RFC 3339, in quotes.
    mutating func instant(_ milliseconds: Int64?) {
        guard let milliseconds else { return raw("null") }
        bytes.append(UInt8(ascii: "\""))
        InstantText.append(milliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Elements with commas between.
    mutating func list<Element>(_ elements: [Element], _ write: (Element, inout JSONText) -> Void) {
        raw("[")
        for (position, element) in elements.enumerated() {
            if position > 0 { raw(",") }
            write(element, &self)
        }
        raw("]")
    }

    /// Members in the order of their names.
    mutating func members(_ members: [String: String]) {
        raw("{")
        for (position, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if position > 0 { raw(",") }
            string(member.key)
            raw(":")
            string(member.value)
        }
        raw("}")
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        guard byte < 0x20 else { return bytes.append(byte) }
        raw("u00")
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }
}
