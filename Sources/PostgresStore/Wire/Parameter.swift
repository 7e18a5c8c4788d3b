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

    static func int(_ value: Int64?) -> Parameter {
        Parameter(
            20,
            value.map { value in
                var bytes: [UInt8] = []
                bytes.append(bigEndian: value)
                return bytes
            })
    }

    static func int(_ value: Int) -> Parameter { int(Int64(value)) }
    static func text(_ value: String?) -> Parameter { Parameter(25, value.map { Array($0.utf8) }) }
    static func bytes(_ value: [UInt8]?) -> Parameter { Parameter(17, value) }
    static func bool(_ value: Bool) -> Parameter { Parameter(16, [value ? 1 : 0]) }

    static func ints(_ values: [Int64?]) -> Parameter { ints(values) { $0 } }
    static func texts(_ values: [String?]) -> Parameter { texts(values) { $0 } }

    static func byteStrings(_ values: [[UInt8]?]) -> Parameter {
        Parameter(1001, array(of: 17, values, { $0 }, { $0.count }, { $1.append(contentsOf: $0) }))
    }

    /// An array of what is read from each row.
    static func ints<Row>(_ rows: [Row], _ value: (Row) -> Int64?) -> Parameter {
        Parameter(1016, array(of: 20, rows, value, { _ in 8 }, { $1.append(bigEndian: $0) }))
    }

    /// An array of what is read from each row.
    static func texts<Row>(_ rows: [Row], _ value: (Row) -> String?) -> Parameter {
        Parameter(1009, array(of: 25, rows, value, { $0.utf8.count }, { $1.append(contentsOf: $0.utf8) }))
    }

    static func bools(_ values: [Bool]) -> Parameter { bools(values) { $0 } }

    /// An array of what is read from each row.
    static func bools<Row>(_ rows: [Row], _ value: (Row) -> Bool) -> Parameter {
        Parameter(1000, array(of: 16, rows, value, { _ in 1 }, { $1.append($0 ? 1 : 0) }))
    }

    /// One dimension from 1: dimensions, whether any is NULL, the elements' type, size, lower bound, then each element
    /// with its length before it. Written into one buffer: a step of a comparison has thousands of elements.
    private static func array<Row, Element>(
        of type: UInt32, _ rows: [Row], _ value: (Row) -> Element?, _ length: (Element) -> Int,
        _ append: (Element, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + rows.count * 12)
        bytes.append(bigEndian: Int32(rows.isEmpty ? 0 : 1))
        let nullFlag = bytes.count
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: type)
        guard !rows.isEmpty else { return bytes }
        bytes.append(bigEndian: Int32(rows.count))
        bytes.append(bigEndian: Int32(1))
        for row in rows {
            guard let element = value(row) else {
                // The last byte of the flag, which is 1 if there is any.
                bytes[nullFlag + 3] = 1
                bytes.append(bigEndian: Int32(-1))
                continue
            }
            bytes.append(bigEndian: Int32(length(element)))
            append(element, &bytes)
        }
        return bytes
    }
}

extension [UInt8] {
    /// Adds a number, its highest byte first.
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
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
