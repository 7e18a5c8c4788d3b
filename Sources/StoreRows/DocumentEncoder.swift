/// Writes a value as JSON (RFC 8259) straight into bytes.
///
/// Foundation's encoder builds a tree of boxed values first and sorts its members; it was a seventh of what a payment
/// cost the daemon (docs/benchmarks.md). This one does not build anything. Members keep the order in which the type
/// encodes them, and those of a dictionary are sorted, so that the same value always gives the same bytes. What it
/// writes is read by Foundation's decoder; a test compares both for payments in every state.
///
/// Not for floating-point numbers, which no row has.
struct DocumentEncoder {
    /// The bytes of a value.
    static func bytes(of value: some Encodable) throws -> [UInt8] {
        let text = DocumentText()
        try text.write(value)
        return text.bytes
    }
}

/// A container whose members are being written.
private struct OpenContainer {
    let depth: Int
}

/// The text so far, with the containers that are open.
///
/// `Encodable` does not tell when a container is complete: it is closed as soon as something is written to one that
/// lies further out, or when the value that it belongs to is through.
private final class DocumentText {
    var bytes: [UInt8] = []
    private var open: [(end: UInt8, isEmpty: Bool)] = []

    init() { bytes.reserveCapacity(2_048) }

    func begin(_ start: UInt8, _ end: UInt8) -> OpenContainer {
        bytes.append(start)
        open.append((end, true))
        return OpenContainer(depth: open.count)
    }

    /// Closes what lies deeper than a depth.
    func close(to depth: Int) {
        while open.count > depth, let last = open.popLast() { bytes.append(last.end) }
    }

    /// Makes room for the next member of a container.
    func member(of parent: OpenContainer) {
        close(to: parent.depth)
        if open[parent.depth - 1].isEmpty {
            open[parent.depth - 1].isEmpty = false
        } else {
            bytes.append(UInt8(ascii: ","))
        }
    }

    func name(_ name: String, in parent: OpenContainer) {
        member(of: parent)
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    func write<Value: Encodable>(_ value: Value) throws {
        if Value.self == [String: String].self, let members = value as? [String: String] {
            let parent = begin(UInt8(ascii: "{"), UInt8(ascii: "}"))
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                name(key, in: parent)
                string(value)
            }
            return close(to: parent.depth - 1)
        }
        let depth = open.count
        let length = bytes.count
        try value.encode(to: ValueEncoder(text: self))
        if bytes.count == length { bytes += "{}".utf8 }
        close(to: depth)
    }

    func integer(_ value: some FixedWidthInteger) {
        guard value != 0 else { return bytes.append(UInt8(ascii: "0")) }
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = value.magnitude
        while rest > 0 {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        }
        bytes[start...].reverse()
    }

    func bool(_ value: Bool) { bytes += (value ? "true" : "false").utf8 }

    func null() { bytes += "null".utf8 }

    func string(_ value: String) { PaymentDocument.append(value, to: &bytes) }
}

private struct ValueEncoder: Encoder {
    let text: DocumentText
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let parent = text.begin(UInt8(ascii: "{"), UInt8(ascii: "}"))
        return KeyedEncodingContainer(Members<Key>(text: text, parent: parent))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let parent = text.begin(UInt8(ascii: "["), UInt8(ascii: "]"))
        return Items(text: text, parent: parent)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(text: text) }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let text: DocumentText
    let parent: OpenContainer
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {
        text.name(key.stringValue, in: parent)
        text.null()
    }

    mutating func encode(_ value: Bool, forKey key: Key) {
        text.name(key.stringValue, in: parent)
        text.bool(value)
    }

    mutating func encode(_ value: String, forKey key: Key) {
        text.name(key.stringValue, in: parent)
        text.string(value)
    }

    mutating func encode(_ value: Int, forKey key: Key) {
        text.name(key.stringValue, in: parent)
        text.integer(value)
    }

    mutating func encode(_ value: Int64, forKey key: Key) {
        text.name(key.stringValue, in: parent)
        text.integer(value)
    }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        text.name(key.stringValue, in: parent)
        try text.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        text.name(key.stringValue, in: parent)
        return ValueEncoder(text: text).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        text.name(key.stringValue, in: parent)
        return ValueEncoder(text: text).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        text.name("super", in: parent)
        return ValueEncoder(text: text)
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        text.name(key.stringValue, in: parent)
        return ValueEncoder(text: text)
    }
}

private struct Items: UnkeyedEncodingContainer {
    let text: DocumentText
    let parent: OpenContainer
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(text: DocumentText, parent: OpenContainer) {
        self.text = text
        self.parent = parent
    }

    private mutating func next() {
        text.member(of: parent)
        count += 1
    }

    mutating func encodeNil() {
        next()
        text.null()
    }

    mutating func encode(_ value: some Encodable) throws {
        next()
        try text.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next()
        return ValueEncoder(text: text).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next()
        return ValueEncoder(text: text).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        next()
        return ValueEncoder(text: text)
    }
}

private struct Single: SingleValueEncodingContainer {
    let text: DocumentText
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { text.null() }
    func encode(_ value: Bool) { text.bool(value) }
    func encode(_ value: String) { text.string(value) }
    func encode(_ value: Int) { text.integer(value) }
    func encode(_ value: Int8) { text.integer(value) }
    func encode(_ value: Int16) { text.integer(value) }
    func encode(_ value: Int32) { text.integer(value) }
    func encode(_ value: Int64) { text.integer(value) }
    func encode(_ value: UInt) { text.integer(value) }
    func encode(_ value: UInt8) { text.integer(value) }
    func encode(_ value: UInt16) { text.integer(value) }
    func encode(_ value: UInt32) { text.integer(value) }
    func encode(_ value: UInt64) { text.integer(value) }
    func encode(_ value: Double) throws { throw unsupported(value) }
    func encode(_ value: Float) throws { throw unsupported(value) }
    func encode(_ value: some Encodable) throws { try text.write(value) }

    private func unsupported(_ value: Any) -> EncodingError {
        EncodingError.invalidValue(
            value, EncodingError.Context(codingPath: [], debugDescription: "a row has no such number"))
    }
}
