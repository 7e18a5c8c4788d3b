/// An amount in the currency's minor unit: 1500 JPY, or 1500 cents.
public struct Money: Sendable, Hashable, Codable {
    /// In the minor unit. Above zero in what is asked for.
    public let value: Int64
    /// The ISO 4217 code, such as `JPY`.
    public let currency: String

    /// An amount in the minor unit.
    public init(_ value: Int64, _ currency: String) {
        self.value = value
        self.currency = currency
    }
}
