internal import PaymentCore

/// How amounts go over the wire to one provider.
enum AmountFormat: Sendable, Hashable {
    /// In the minor unit of the payment's currency.
    case minorUnits
    /// In units of the provider.
    case converted(AmountConversion)

    /// The amount on the wire.
    func wire(_ amount: Money) throws(UnconvertibleAmount) -> WireAmount {
        switch self {
        case .minorUnits: WireAmount(value: amount.value, currency: amount.currency.code)
        case .converted(let conversion):
            WireAmount(value: try conversion.units(for: amount), currency: conversion.unitCode)
        }
    }

    /// The amount that was read; `nil` if it cannot be one of a payment here: an unknown currency or unit, or
    /// units that stand for a fraction.
    func money(_ amount: WireAmount) -> Money? {
        do {
            switch self {
            case .minorUnits:
                guard let currency = Currency(code: amount.currency) else { return nil }
                return try Money(amount.value, currency)
            case .converted(let conversion):
                guard amount.currency == conversion.unitCode else { return nil }
                return try conversion.money(for: amount.value)
            }
        } catch {
            return nil
        }
    }
}
