/// The name of one operation for ever (`Idempotency-Key`).
///
/// Derive it from your order, so that whoever repeats the operation names it alike. Another key is another operation,
/// and may charge a second time.
public struct OperationKey: Sendable, Hashable, Codable, CustomStringConvertible {
    /// 1 to 255 visible ASCII characters.
    public let text: String

    public var description: String { text }

    /// Throws ``ClientError/invalidKey(_:)`` for what the daemon would refuse.
    public init(_ text: String) throws {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ClientError.invalidKey(text)
        }
        self.text = text
    }

    /// Of the attempt to pay an order. After `failed` or `canceled`, the next attempt has the next number.
    public static func create(order: String, attempt: Int = 1) throws -> OperationKey {
        try OperationKey("\(order)/create" + (attempt == 1 ? "" : "-\(attempt)"))
    }

    /// Of the capture of an order's payment.
    public static func capture(order: String, attempt: Int = 1) throws -> OperationKey {
        try OperationKey("\(order)/capture" + (attempt == 1 ? "" : "-\(attempt)"))
    }

    /// Of the cancel of an order's payment.
    public static func cancel(order: String, attempt: Int = 1) throws -> OperationKey {
        try OperationKey("\(order)/cancel" + (attempt == 1 ? "" : "-\(attempt)"))
    }

    /// Of one refund of an order. Each refund has a number of its own.
    public static func refund(order: String, number: Int) throws -> OperationKey {
        try OperationKey("\(order)/refund-\(number)")
    }

    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
