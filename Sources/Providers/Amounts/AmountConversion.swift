public import PaymentCore

/// How a provider that counts in units of its own, such as points, counts an amount of a currency: an exact
/// integer ratio, so that nothing is ever rounded.
public struct AmountConversion: Sendable, Hashable {
    /// Units of the provider in ``denominator`` minor units of the currency; in lowest terms.
    public let numerator: Int64
    /// Minor units of the currency that give ``numerator`` units; in lowest terms.
    public let denominator: Int64
    /// The provider's name for its unit, three capital letters.
    public let unitCode: String
    /// The only currency that the ratio is for.
    public let currency: Currency

    /// Why a ratio cannot be used.
    public enum Malformed: Error, Sendable, Hashable {
        /// Numerator or denominator is not greater than zero.
        case ratio
        /// The code of the unit is not three capital letters.
        case unitCode
    }

    /// - Parameters:
    ///   - numerator: units of the provider that `denominator` minor units of `currency` are worth; at least
    ///     1.
    ///   - denominator: at least 1.
    ///   - unitCode: the provider's name for its unit, three capital letters.
    ///   - currency: the currency of payments that may be charged there.
    /// - Throws: which of them cannot be used.
    public init(
        numerator: Int64, denominator: Int64, unitCode: String, currency: Currency
    ) throws(Malformed) {
        guard numerator > 0, denominator > 0 else { throw .ratio }
        guard WireAmount.isCode(unitCode) else { throw .unitCode }
        let divisor = Self.greatestCommonDivisor(numerator, denominator)
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
        self.unitCode = unitCode
        self.currency = currency
    }

    /// The provider's units for an amount.
    ///
    /// - Throws: if the amount is not a whole number of units, is in another currency, or is too large. The
    ///   caller API answers 422 with it.
    public func units(for amount: Money) throws(UnconvertibleAmount) -> Int64 {
        guard amount.currency == currency else { throw UnconvertibleAmount(reason: .currency) }
        return try Self.scaled(amount.value, by: numerator, over: denominator)
    }

    /// The amount that the provider's units stand for.
    ///
    /// - Throws: if it is not a whole number of minor units, or too large.
    public func money(for units: Int64) throws(UnconvertibleAmount) -> Money {
        let value = try Self.scaled(units, by: denominator, over: numerator)
        do {
            return try Money(value, currency)
        } catch {
            throw UnconvertibleAmount(reason: .tooLarge)
        }
    }

    /// The ratio is in lowest terms, so dividing first loses nothing.
    private static func scaled(
        _ value: Int64, by factor: Int64, over divisor: Int64
    ) throws(UnconvertibleAmount) -> Int64 {
        guard value >= 0, value % divisor == 0 else { throw UnconvertibleAmount(reason: .notExact) }
        let (scaled, overflow) = (value / divisor).multipliedReportingOverflow(by: factor)
        guard !overflow else { throw UnconvertibleAmount(reason: .tooLarge) }
        return scaled
    }

    private static func greatestCommonDivisor(_ one: Int64, _ other: Int64) -> Int64 {
        var (larger, smaller) = (one, other)
        while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
        return larger
    }
}

/// An amount that a provider cannot carry as it is.
public struct UnconvertibleAmount: Error, Sendable, Hashable {
    /// The reasons.
    public enum Reason: String, Sendable, Hashable {
        /// It would have to be rounded.
        case notExact = "not_exact"
        /// The provider does not take this currency.
        case currency
        /// It cannot be represented.
        case tooLarge = "too_large"
    }

    /// Why.
    public let reason: Reason
}
