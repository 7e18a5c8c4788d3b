internal import HTTPTransport
internal import PaymentCore

extension ProviderAdapter {
    /// PayPay's direct debit, in one step or two (`docs/providers/paypay.md`).
    public static let payPay = ProviderAdapter(
        name: "paypay", contracts: ["paypay"], ownContract: .payPayWire, convertsAmounts: false, notifications: nil,
        fixed: fixedByPayPay,
        authorization: { PayPaySigning(source: $0, clock: $1) }, tokenProblem: PayPayCredentials.problem,
        make: { parts in
            PayPayProvider(
                name: parts.name, contract: parts.contract, store: parts.store, client: parts.client,
                clock: parts.clock)
        })

    /// What PayPay's wire gives, and nothing in a configuration can change.
    private static let fixedByPayPay: [FixedProperty] = [
        FixedProperty(
            property: "inquiry", allowed: ["by_own_key"], reason: "payments are read by merchantPaymentId",
            value: { $0.inquiry.rawValue }),
        FixedProperty(
            property: "cancel", allowed: ["only_if_present"],
            reason: "nothing says that a cancel keeps a payment away that comes after it",
            value: { $0.cancel.rawValue }),
        FixedProperty(
            property: "cancel_reverses_sale", allowed: ["true"], reason: "a cancel gives a completed payment back",
            value: { String($0.cancelReversesSale) }),
        FixedProperty(
            property: "listing", allowed: ["false"], reason: "nothing lists payments by when they changed last",
            value: { String($0.listing) }),
        FixedProperty(
            property: "enforces_not_after", allowed: ["false"], reason: "PayPay knows no such moment",
            value: { String($0.enforcesNotAfter) }),
        FixedProperty(
            property: "refund_visibility", allowed: ["by_key"], reason: "refunds are shown by merchantRefundId",
            value: { $0.refundVisibility.rawValue }),
    ]
}

extension ProviderContract {
    /// PayPay's rules over PayPay's own wire. Nothing there lists payments. Over the reference wire a service with
    /// these rules may.
    static let payPayWire: ProviderContract = {
        var contract = ProviderContract.payPay
        contract.listing = false
        return contract
    }()
}
