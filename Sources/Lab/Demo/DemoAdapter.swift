import ArgumentParser

/// How the demo's providers are spoken to, and which wire the simulator plays for that.
enum DemoAdapter: String, Sendable, CaseIterable, Codable, ExpressibleByArgument {
    /// The reference contract, at all three.
    case reference
    /// Stripe's wire at the card and at the balance. Points are an in-house service, so they stay as they are.
    case stripe

    /// The wire of one provider.
    func wire(of provider: DemoProvider) -> DemoAdapter { provider == .points ? .reference : self }

    /// What the daemon's configuration says of a provider.
    func configuration(of provider: DemoProvider) -> String {
        switch wire(of: provider) {
        case .reference: "contract:\n      base: \(provider.contract)"
        case .stripe:
            "adapter: stripe\n    contract:\n      phases: \(provider == .balance ? "sale" : "authorize_capture")"
        }
    }
}
