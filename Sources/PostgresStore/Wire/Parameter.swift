/// A value on its way to the server, in PostgreSQL's binary format (documentation, "Message Data Types").
struct Parameter: Sendable {
    /// The type's number in `pg_type`, which never changes for built-in types.
    let type: UInt32
    /// The bytes; nil for NULL.
    let bytes: [UInt8]?

    private init(_ type: UInt32, _ bytes: [UInt8]?) {
        self.type = type
        self.bytes = bytes
    }

    static func int(_ value: Int64?) -> Parameter { Parameter(20, value.map { bigEndian($0) }) }
    static func int(_ value: Int) -> Parameter { int(Int64(value)) }
    static func text(_ value: String?) -> Parameter { Parameter(25, value.map { Array($0.utf8) }) }
    static func bytes(_ value: [UInt8]?) -> Parameter { Parameter(17, value) }
    static func bool(_ value: Bool) -> Parameter { Parameter(16, [value ? 1 : 0]) }

    static func ints(_ values: [Int64?]) -> Parameter {
        Parameter(1016, array(of: 20, values.map { $0.map { bigEndian($0) } }))
    }

    static func texts(_ values: [String?]) -> Parameter {
        Parameter(1009, array(of: 25, values.map { $0.map { Array($0.utf8) } }))
    }

    static func byteStrings(_ values: [[UInt8]?]) -> Parameter { Parameter(1001, array(of: 17, values)) }

    static func bools(_ values: [Bool]) -> Parameter {
        Parameter(1000, array(of: 16, values.map { [$0 ? 1 : 0] }))
    }

    /// One dimension from 1: dimensions, whether any is NULL, the elements' type, size, lower bound, then each element
    /// with its length before it.
    private static func array(of type: UInt32, _ elements: [[UInt8]?]) -> [UInt8] {
        let hasNull: Int32 = elements.contains { $0 == nil } ? 1 : 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(elements.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
        bytes += bigEndian(Int32(elements.isEmpty ? 0 : 1)) + bigEndian(hasNull) + bigEndian(type)
        guard !elements.isEmpty else { return bytes }
        bytes += bigEndian(Int32(elements.count)) + bigEndian(Int32(1))
        for element in elements {
            bytes += bigEndian(element.map { Int32($0.count) } ?? -1)
            if let element { bytes += element }
        }
        return bytes
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

/// A statement with its values. It is prepared once for each connection, under its own words.
struct Statement: Sendable {
    let sql: String
    let parameters: [Parameter]

    init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
