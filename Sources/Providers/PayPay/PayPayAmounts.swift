internal import PaymentCore

/// How PayPay counts amounts: in yen.
enum PayPayAmounts {
    /// The only currency (www.paypay.ne.jp/opa/doc/v1.0/direct_debit).
    static let currency = "JPY"

    /// PayPay's count of an amount.
    ///
    /// - Throws: if PayPay cannot charge it.
    static func units(of amount: Money) throws(UnconvertibleAmount) -> Int64 {
        guard amount.currency.code == currency else { throw UnconvertibleAmount(reason: .currency) }
        guard amount.value <= PayPayAmount.largest else { throw UnconvertibleAmount(reason: .tooLarge) }
        return amount.value
    }

    /// The amount that a count stands for; `nil` if it is none that we can have asked for.
    static func money(_ amount: PayPayAmount) -> Money? {
        guard amount.currency == currency, let yen = Currency(code: currency) else { return nil }
        do { return try Money(amount.amount, yen) } catch { return nil }
    }
}
