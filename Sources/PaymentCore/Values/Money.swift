/// An amount in the minor unit of its currency: 1200 JPY is one thousand two hundred yen, 1200 EUR is twelve euros.
///
/// Never negative. Arithmetic is checked: it throws instead of wrapping, mixing currencies or going below zero.
public struct Money: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The count of minor units, 0 or more.
    public let value: Int64
    /// The currency whose minor unit is counted.
    public let currency: Currency

    /// Why an amount cannot be made.
    public enum Failure: Error, Sendable, Hashable {
        /// The result would be below zero.
        case negative
        /// The result is larger than can be represented.
        case overflow
        /// Two currencies were mixed.
        case currencyMismatch(Currency, Currency)
    }

    /// Makes an amount of `value` minor units; throws ``Failure/negative`` below zero.
    public init(_ value: Int64, _ currency: Currency) throws(Failure) {
        guard value >= 0 else { throw .negative }
        self.value = value
        self.currency = currency
    }

    private init(unchecked value: Int64, _ currency: Currency) {
        self.value = value
        self.currency = currency
    }

    /// Nothing, in a currency.
    public static func zero(_ currency: Currency) -> Money { Money(unchecked: 0, currency) }

    private enum CodingKeys: String, CodingKey { case value, currency }

    /// Decodes `{value, currency}`, refusing negative values.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            container.decode(Int64.self, forKey: .value), container.decode(Currency.self, forKey: .currency))
    }

    /// Whether the amount is nothing.
    public var isZero: Bool { value == 0 }

    /// The sum; throws on overflow or mixed currencies.
    public func adding(_ other: Money) throws(Failure) -> Money {
        try requireSameCurrency(other)
        let (sum, overflow) = value.addingReportingOverflow(other.value)
        guard !overflow else { throw .overflow }
        return Money(unchecked: sum, currency)
    }

    /// The difference; throws when it would be negative or currencies are mixed.
    public func subtracting(_ other: Money) throws(Failure) -> Money {
        try requireSameCurrency(other)
        guard value >= other.value else { throw .negative }
        return Money(unchecked: value - other.value, currency)
    }

    /// Whether this is at most `other`; throws on mixed currencies.
    public func isAtMost(_ other: Money) throws(Failure) -> Bool {
        try requireSameCurrency(other)
        return value <= other.value
    }

    /// The sum of amounts, all of one currency.
    public static func sum(_ amounts: [Money], in currency: Currency) throws(Failure) -> Money {
        var total = Money.zero(currency)
        for amount in amounts { total = try total.adding(amount) }
        return total
    }

    private func requireSameCurrency(_ other: Money) throws(Failure) {
        guard currency == other.currency else { throw .currencyMismatch(currency, other.currency) }
    }

    public var description: String { "\(value) \(currency.code)" }
}
