extension ProviderContract {
    /// The reference contract (`openapi/provider.yaml`), two-phase.
    public static let reference = ProviderContract(phases: .authorizeCapture)

    /// The reference contract for a provider that takes money in one step.
    public static let referenceSale = ProviderContract(phases: .sale)

    /// Stripe's PaymentIntents as the adapter uses them: registered first, and charged by confirming the registration.
    ///
    /// - A key lives at least 24 hours, and its first answer is replayed (docs.stripe.com/api/idempotent_requests).
    /// - Charges are found under our own key, the `transfer_group`, by a list and never by the search, which may lag by
    ///   an hour (docs.stripe.com/api/charges/list, docs.stripe.com/search). Nothing says how soon a list shows a
    ///   change: ten seconds are assumed.
    /// - A decline takes the payment method from the intent, so that no later confirm can charge it: it is bound.
    /// - What is canceled before it was confirmed can never be confirmed
    ///   (docs.stripe.com/api/payment_intents/cancel): a tombstone.
    /// - The shortest hold of a card is 4 days and 18 hours; the adapter reads each hold's own end
    ///   (docs.stripe.com/payments/place-a-hold-on-a-payment-method).
    /// - 25 requests a second at one endpoint, 100 over all of them (docs.stripe.com/rate-limits).
    public static let stripe: ProviderContract = {
        var contract = ProviderContract(phases: .authorizeCapture)
        contract.keyFormat = .hex64
        contract.keyRetention = .hours(24)
        contract.visibilityLag = .seconds(10)
        contract.enforcesNotAfter = false
        contract.authorizationLife = .hours(4 * 24 + 18)
        contract.listing = false
        contract.requestsPerSecond = 100
        contract.endpointRequestsPerSecond = 25
        contract.concurrency = 16
        return contract
    }()

    /// A provider that can be asked by its listing only, and cancels nothing under our keys: many gateways without an
    /// adapter of their own. A key is kept for a day, the first answer is replayed, a list may lag by a minute.
    public static let listed: ProviderContract = {
        var contract = ProviderContract(phases: .authorizeCapture)
        contract.keyFormat = .hex64
        contract.keyRetention = .hours(24)
        contract.inquiry = .byListing
        contract.visibilityLag = .minutes(1)
        contract.cancel = .none
        contract.enforcesNotAfter = false
        contract.authorizationLife = .days(7)
        contract.requestsPerSecond = 100
        contract.concurrency = 32
        return contract
    }()

    /// PayPay's direct payment, from its public API reference: `merchantPaymentId` is ours and unique for ever; its
    /// status can be read under it; a cancel under it works until 00:14:59 (Japan) of the following day, reverses a
    /// completed payment, and leaves nothing behind for a payment that has not arrived; refunds are read by key.
    public static let payPay: ProviderContract = {
        var contract = ProviderContract(phases: .sale)
        contract.keyFormat = .hex40
        contract.declinesBound = false
        contract.cancel = .onlyIfPresent
        contract.cancelReversesSale = true
        contract.cancelDeadline = .minutes(14)
        contract.enforcesNotAfter = false
        contract.requestsPerSecond = 50
        contract.concurrency = 16
        return contract
    }()

    /// GMO Payment Gateway's protocol type, from its public interface description: the shop's `OrderID` of at most 27
    /// characters is registered first (EntryTran) and executed under the pair that the registration returned
    /// (ExecTran); `SearchTrade` reads by `OrderID`; an execution that failed may be tried again under the same order;
    /// `AlterTran` with VOID cancels what is there and leaves nothing behind for what is not; a hold lasts 60 days;
    /// refunds show as the remaining amount only.
    public static let gmoPG: ProviderContract = {
        var contract = ProviderContract(phases: .authorizeCapture)
        contract.keyFormat = .base32of26
        contract.declinesBound = false
        contract.cancel = .onlyIfPresent
        contract.enforcesNotAfter = false
        contract.authorizationLife = .days(60)
        contract.listing = false
        contract.refundVisibility = .sumsOnly
        contract.requestsPerSecond = 20
        contract.concurrency = 8
        return contract
    }()

    /// Adyen's Checkout API, from its public documentation: a request is answered under its key as it was at first, and
    /// nothing else tells what became of it but Adyen's own notifications.
    ///
    /// - A key lives at least 7 days, in one region (docs.adyen.com/development-resources/api-idempotency).
    /// - A cancel by our own reference is answered as received, and leaves nothing behind.
    /// - A hold lasts 28 days unless the card's scheme or the account says otherwise
    ///   (docs.adyen.com/online-payments/adjust-authorisation).
    public static let adyen: ProviderContract = {
        var contract = ProviderContract(phases: .authorizeCapture)
        contract.keyFormat = .hex40
        contract.keyRetention = .days(7)
        contract.inquiry = .byResend
        contract.cancel = .onlyIfPresent
        contract.enforcesNotAfter = false
        contract.authorizationLife = .days(28)
        contract.listing = false
        contract.requestsPerSecond = 50
        contract.concurrency = 16
        return contract
    }()

    /// Every contract that comes with the daemon, by the name under which the configuration knows it.
    public static let known: [(name: String, contract: ProviderContract)] = [
        ("reference", reference), ("reference_sale", referenceSale), ("stripe", stripe), ("paypay", payPay),
        ("gmo_pg", gmoPG), ("listed", listed), ("adyen", adyen),
    ]
}
