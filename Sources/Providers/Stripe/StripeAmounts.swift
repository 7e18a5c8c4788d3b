internal import PaymentCore

/// How Stripe counts amounts (docs.stripe.com/currencies): in the minor unit of ISO 4217, but for a few currencies.
enum StripeAmounts {
    /// Two decimals for Stripe, none in ISO 4217: kept so for old integrations.
    private static let hundredfold: Set<String> = ["ISK", "UGX"]
    /// None for Stripe, two in ISO 4217.
    private static let hundredth: Set<String> = ["MGA"]

    /// Stripe's count of an amount.
    ///
    /// - Throws: if Stripe cannot charge it. The last of three decimals must be 0.
    static func units(of amount: Money) throws(UnconvertibleAmount) -> Int64 {
        let code = amount.currency.code
        if hundredfold.contains(code) {
            let (units, overflow) = amount.value.multipliedReportingOverflow(by: 100)
            guard !overflow else { throw UnconvertibleAmount(reason: .tooLarge) }
            return units
        }
        if hundredth.contains(code) {
            guard amount.value % 100 == 0 else { throw UnconvertibleAmount(reason: .notExact) }
            return amount.value / 100
        }
        switch amount.currency.minorUnitDigits {
        case 0, 2: return amount.value
        case 3:
            guard amount.value % 10 == 0 else { throw UnconvertibleAmount(reason: .notExact) }
            return amount.value
        default: throw UnconvertibleAmount(reason: .currency)
        }
    }

    /// The amount that a count stands for; `nil` if it is none that we can have asked for.
    static func money(_ units: Int64, _ currency: String) -> Money? {
        let code = currency.uppercased()
        guard units >= 0, let known = Currency(code: code) else { return nil }
        var value = units
        if hundredfold.contains(code) {
            guard units % 100 == 0 else { return nil }
            value = units / 100
        } else if hundredth.contains(code) {
            let (scaled, overflow) = units.multipliedReportingOverflow(by: 100)
            guard !overflow else { return nil }
            value = scaled
        }
        do { return try Money(value, known) } catch { return nil }
    }
}
