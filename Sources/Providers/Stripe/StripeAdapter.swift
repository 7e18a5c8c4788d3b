internal import HTTPTransport
internal import PaymentCore

extension ProviderAdapter {
    /// Stripe's PaymentIntents, for cards (`docs/providers/stripe.md`).
    public static let stripe = ProviderAdapter(
        name: "stripe", contracts: ["stripe"], ownContract: .stripeWire, convertsAmounts: false,
        notifications: { StripeNotifications(secrets: $0) }, fixed: fixedByStripe,
        // A stored error that is replayed says nothing of how Stripe works now.
        isFailure: { $0.status >= 500 && !StripeReply.isReplay($0.fields) },
        make: { parts in
            StripeProvider(
                name: parts.name, contract: parts.contract, store: parts.store, client: parts.client,
                clock: parts.clock)
        })

    /// What the adapter's way of using PaymentIntents gives, and nothing in a configuration can change.
    private static let fixedByStripe: [FixedProperty] = [
        FixedProperty(
            property: "inquiry", allowed: ["by_own_key"], reason: "charges are listed by transfer_group",
            value: { $0.inquiry.rawValue }),
        FixedProperty(
            property: "cancel", allowed: ["tombstoning"], reason: "what is registered is canceled before its confirm",
            value: { $0.cancel.rawValue }),
        FixedProperty(
            property: "enforces_not_after", allowed: ["false"], reason: "Stripe knows no such moment",
            value: { String($0.enforcesNotAfter) }),
        FixedProperty(
            property: "cancel_reverses_sale", allowed: ["false"], reason: "what was captured is given back by refunds",
            value: { String($0.cancelReversesSale) }),
        FixedProperty(
            property: "refund_visibility", allowed: ["by_key"], reason: "refunds bear our key in their metadata",
            value: { $0.refundVisibility.rawValue }),
    ]
}

extension ProviderContract {
    /// Stripe's rules over Stripe's own wire, where the adapter makes a listing of charges and balance transactions.
    /// Over the reference wire a service with these rules has none.
    static let stripeWire: ProviderContract = {
        var contract = ProviderContract.stripe
        contract.listing = true
        return contract
    }()
}
