import ArgumentParser

/// How the demo's providers are spoken to, and which wire the simulator plays for that.
enum DemoAdapter: String, Sendable, CaseIterable, Codable, ExpressibleByArgument {
    /// The reference contract, at all three.
    case reference
    /// Stripe's wire at the card and at the balance. Points are an in-house service, so they stay as they are.
    case stripe
    /// PayPay's wire at the balance, which takes at once. The others stay as they are.
    case paypay

    /// The wire of one provider.
    func wire(of provider: DemoProvider) -> DemoAdapter {
        switch self {
        case .reference: .reference
        case .stripe: provider == .points ? .reference : self
        case .paypay: provider == .balance ? self : .reference
        }
    }

    /// What the screen says of it; `nil` for nothing.
    var headline: String? {
        switch self {
        case .reference: nil
        case .stripe: "Card and balance speak Stripe's wire, points our reference contract."
        case .paypay: "Balance speaks PayPay's wire, card and points our reference contract."
        }
    }

    /// What else `reconcile:` says. Nothing at PayPay undoes what never arrived, but the plug.
    var permission: String { self == .paypay ? "  allow_plug: true\n  send_within: 4s\n" : "" }

    /// What the daemon's configuration says of a provider.
    func configuration(of provider: DemoProvider) -> String {
        switch wire(of: provider) {
        case .reference: "contract:\n      base: \(provider.contract)"
        case .stripe:
            "adapter: stripe\n    contract:\n      phases: \(provider == .balance ? "sale" : "authorize_capture")"
        // A decline is final once no request can arrive any more: here after seconds, where the default is two minutes.
        case .paypay: "adapter: paypay\n    contract:\n      phases: sale\n      max_request_life: 10s"
        }
    }
}
