import ArgumentParser

/// How the demo's providers are spoken to, and which wire the simulator plays for that.
enum DemoAdapter: String, Sendable, CaseIterable, Codable, ExpressibleByArgument {
    /// The reference contract, at all three.
    case reference
    /// Stripe's wire at the card and at the balance. Points are an in-house service, so they stay as they are.
    case stripe
    /// PayPay's wire at the balance, which takes at once. The others stay as they are.
    case paypay
    /// Adyen's wire at the card, which cannot be asked. The others stay as they are.
    case adyen

    /// The wire of one provider.
    func wire(of provider: DemoProvider) -> DemoAdapter {
        switch self {
        case .reference: .reference
        case .stripe: provider == .points ? .reference : self
        case .paypay: provider == .balance ? self : .reference
        case .adyen: provider == .card ? self : .reference
        }
    }

    /// What the screen says of it; `nil` for nothing.
    var headline: String? {
        switch self {
        case .reference: nil
        case .stripe: "Card and balance speak Stripe's wire, points our reference contract."
        case .paypay: "Balance speaks PayPay's wire, card and points our reference contract."
        case .adyen:
            "Card speaks Adyen's wire and cannot be asked: it tells by notifications, late, twice and in any order."
        }
    }

    /// What else `reconcile:` says. Nothing at PayPay undoes what never arrived, but the plug; and what cannot be asked
    /// is learned by it.
    var permission: String {
        switch self {
        case .paypay, .adyen: "  allow_plug: true\n  send_within: 4s\n"
        case .reference, .stripe: ""
        }
    }

    /// When what is undecided is looked at. What Adyen tells comes late, and it goes to people once this is over.
    var inquirySchedule: String {
        let delays = ["150ms", "300ms", "600ms", "1s", "2s"]
        return (delays + (self == .adyen ? Array(repeating: "2s", count: 60) : [])).joined(separator: ", ")
    }

    /// How an instrument is named at a provider: at Adyen, whose card it is and which.
    func instrument(_ name: String, at provider: DemoProvider) -> String {
        wire(of: provider) == .adyen ? "demo-shopper:\(name)" : name
    }

    /// What its address has after the provider's name.
    func path(of provider: DemoProvider) -> String { wire(of: provider) == .adyen ? "/v71" : "" }

    /// For how long the configuration lets reads be stale.
    func lag(of provider: DemoProvider) -> String { wire(of: provider) == .adyen ? "0s" : "1s" }

    /// What the daemon's configuration says of a provider.
    func configuration(of provider: DemoProvider) -> String {
        switch wire(of: provider) {
        case .reference: "contract:\n      base: \(provider.contract)"
        case .stripe:
            "adapter: stripe\n    contract:\n      phases: \(provider == .balance ? "sale" : "authorize_capture")"
        // A decline is final once no request can arrive any more: here after seconds, where the default is two minutes.
        case .adyen: "adapter: adyen\n    contract:\n      base: adyen\n      max_request_life: 10s"
        case .paypay: "adapter: paypay\n    contract:\n      phases: sale\n      max_request_life: 10s"
        }
    }
}
