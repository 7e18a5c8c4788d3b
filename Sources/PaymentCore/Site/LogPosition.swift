/// A place in a database's log (PostgreSQL: log sequence number, LSN). What lies before it was written before.
public struct LogPosition: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The offset in bytes from the beginning of the log.
    public let offset: UInt64

    /// A place.
    public init(offset: UInt64) { self.offset = offset }

    /// Reads PostgreSQL's form, two hexadecimal numbers with a slash between them; `nil` if it is none.
    public init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ (1...8).contains($0.utf8.count) }),
            let high = UInt32(parts[0], radix: 16), let low = UInt32(parts[1], radix: 16)
        else { return nil }
        offset = UInt64(high) << 32 | UInt64(low)
    }

    /// PostgreSQL's form.
    public var text: String {
        let halves = [offset >> 32, offset & 0xFFFF_FFFF]
        return halves.map { String($0, radix: 16, uppercase: true) }.joined(separator: "/")
    }

    public static func < (left: LogPosition, right: LogPosition) -> Bool { left.offset < right.offset }

    public var description: String { text }
}
