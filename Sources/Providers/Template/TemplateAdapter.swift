internal import HTTPTransport
internal import PaymentCore

// A start to copy: an in-house service over HTTP, with a wire of its own (`docs/adding-a-provider.md`). It is not in
// `ProviderAdapter.all`, so no configuration can name it.
//
// The service takes at once. It shows a debit under our reference, and gives it back in whole (a reversal) or in parts
// (refunds). Its errors say what is wrong, and not with which debit.
extension ProviderAdapter {
    static let template = ProviderAdapter(
        name: "template", contracts: ["template"], ownContract: .template, convertsAmounts: true, notifications: nil,
        fixed: fixedByTemplate,
        make: { parts in
            TemplateProvider(
                name: parts.name, contract: parts.contract,
                amounts: parts.conversion.map(AmountFormat.converted) ?? .minorUnits, client: parts.client,
                clock: parts.clock)
        })

    /// What the wire gives, and nothing in a configuration can change.
    private static let fixedByTemplate: [FixedProperty] = [
        FixedProperty(
            property: "phases", allowed: ["sale"], reason: "nothing is held", value: { $0.phases.rawValue }),
        FixedProperty(
            property: "inquiry", allowed: ["by_own_key"], reason: "debits are read by our reference",
            value: { $0.inquiry.rawValue }),
        FixedProperty(
            property: "cancel", allowed: ["only_if_present"], reason: "a reversal of nothing leaves nothing behind",
            value: { $0.cancel.rawValue }),
        FixedProperty(
            property: "cancel_reverses_sale", allowed: ["true"], reason: "a reversal gives a debit back",
            value: { String($0.cancelReversesSale) }),
        FixedProperty(
            property: "listing", allowed: ["false"], reason: "nothing lists debits by when they changed last",
            value: { String($0.listing) }),
        FixedProperty(
            property: "enforces_not_after", allowed: ["false"], reason: "the service knows no such moment",
            value: { String($0.enforcesNotAfter) }),
        FixedProperty(
            property: "refund_visibility", allowed: ["by_key"], reason: "refunds are shown by our reference",
            value: { $0.refundVisibility.rawValue }),
    ]
}

extension ProviderContract {
    /// What the service promises. Each line is an answer of its owners (`docs/adding-a-provider.md`). None is left out,
    /// because ``init(phases:)`` starts from the reference contract, whose promises are the strongest.
    static let template: ProviderContract = {
        var contract = ProviderContract(phases: .sale)
        contract.keyFormat = .hex40
        contract.keyRetention = nil
        contract.declinesBound = true
        contract.visibilityLag = .zero
        contract.statusRetention = nil
        contract.cancel = .onlyIfPresent
        contract.cancelReversesSale = true
        contract.cancelDeadline = nil
        contract.enforcesNotAfter = false
        contract.listing = false
        contract.requestsPerSecond = 50
        contract.concurrency = 16
        return contract
    }()
}
