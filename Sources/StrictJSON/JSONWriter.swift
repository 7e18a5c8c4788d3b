/// Writes JSON as UTF-8: no whitespace, and only those characters escaped that RFC 8259 requires.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let sortsMembers: Bool

    init(sortsMembers: Bool) {
        self.sortsMembers = sortsMembers
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes += Array("null".utf8)
        case .bool(let flag): bytes += Array((flag ? "true" : "false").utf8)
        case .number(let text): bytes += Array(text.utf8)
        case .string(let text): write(text)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(item)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members): write(members)
        }
    }

    private mutating func write(_ members: [JSONMember]) {
        let ordered =
            sortsMembers
            ? members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } : members
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in ordered.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(member.name)
            bytes.append(UInt8(ascii: ":"))
            write(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += Array("\\b".utf8)
            case 0x09: bytes += Array("\\t".utf8)
            case 0x0A: bytes += Array("\\n".utf8)
            case 0x0C: bytes += Array("\\f".utf8)
            case 0x0D: bytes += Array("\\r".utf8)
            case 0x00..<0x20:
                bytes += Array((byte < 0x10 ? "\\u000" : "\\u00").utf8) + Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
