internal import PaymentCore

/// How Adyen counts amounts (docs.adyen.com/development-resources/currency-codes): in minor units, but for a few
/// currencies, of which it counts two decimals more or fewer than ISO 4217.
enum AdyenAmounts {
    /// Decimals that Adyen counts, where ISO 4217 has others.
    private static let decimals: [String: Int] = ["CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2]

    /// Adyen's count of an amount.
    ///
    /// - Throws: if Adyen cannot charge it exactly.
    static func units(of amount: Money) throws(UnconvertibleAmount) -> Int64 {
        guard let theirs = decimals[amount.currency.code] else { return amount.value }
        let ours = amount.currency.minorUnitDigits
        if theirs > ours {
            let (units, overflow) = amount.value.multipliedReportingOverflow(by: power(theirs - ours))
            guard !overflow else { throw UnconvertibleAmount(reason: .tooLarge) }
            return units
        }
        let factor = power(ours - theirs)
        guard amount.value % factor == 0 else { throw UnconvertibleAmount(reason: .notExact) }
        return amount.value / factor
    }

    /// The amount that a count stands for; `nil` if it is none that we can have asked for.
    static func money(_ units: Int64, _ code: String) -> Money? {
        guard units >= 0, let currency = Currency(code: code) else { return nil }
        var value = units
        let ours = currency.minorUnitDigits
        if let theirs = decimals[code] {
            if theirs > ours {
                guard units % power(theirs - ours) == 0 else { return nil }
                value = units / power(theirs - ours)
            } else {
                let (scaled, overflow) = units.multipliedReportingOverflow(by: power(ours - theirs))
                guard !overflow else { return nil }
                value = scaled
            }
        }
        do { return try Money(value, currency) } catch { return nil }
    }

    private static func power(_ digits: Int) -> Int64 { (0..<digits).reduce(1) { product, _ in product * 10 } }
}
