/// Why nobody can act for a leg with the present configuration. It waits until that is mended.
public enum MissingProvider: Sendable, Hashable {
    /// No provider of this name is configured.
    case notConfigured(ProviderName)
    /// The leg was sent in one key space, and the provider is configured with another one, where its keys are unknown.
    case otherKeySpace(ProviderName, KeySpace, configured: KeySpace)

    /// The provider.
    public var provider: ProviderName {
        switch self {
        case .notConfigured(let provider), .otherKeySpace(let provider, _, _): provider
        }
    }

    /// A short constant name.
    public var name: String {
        switch self {
        case .notConfigured: "not_configured"
        case .otherKeySpace: "other_key_space"
        }
    }
}

extension Payment {
    /// Whether the configuration that a contract comes from can act for a leg; `nil` if it can.
    func missingProvider(of leg: Leg, _ contracts: [ProviderName: ProviderContract]) -> MissingProvider? {
        guard let contract = contracts[leg.provider] else { return .notConfigured(leg.provider) }
        guard let boundTo = boundTo(leg), let configured = contract.keySpace, boundTo != configured else { return nil }
        return .otherKeySpace(leg.provider, boundTo, configured: configured)
    }

    /// The key space to which a leg is bound; `nil` if it may go to any.
    ///
    /// What provably never arrived binds it to none: when a region is down, what was refused there goes on in another.
    /// Not after lost rows: another request may have left of which no row tells.
    func boundTo(_ leg: Leg) -> KeySpace? {
        let isUnsent =
            leg.primary.attempts > 0 && leg.primary.worst <= .unsent && leg.primary.open == nil && leg.capture == nil
            && leg.void == nil && leg.compensation == nil && leg.standsSince == nil && leg.capturedAmount.isZero
        return isUnsent && recovery == nil ? nil : leg.keySpace
    }

    /// What the payment's unfinished legs wait for, by the contracts of the configuration.
    public func missingProviders(_ contracts: [ProviderName: ProviderContract]) -> [MissingProvider] {
        legs.filter(isUnfinished).compactMap { missingProvider(of: $0, contracts) }
    }

    /// Whether something is still to be done about a leg.
    func isUnfinished(_ leg: Leg) -> Bool {
        // What shows after a payment failed or was canceled is undone, however late.
        if conclusion?.state != .succeeded { return leg.gone == nil }
        return isSearched(leg: leg.index)
            || refunds.contains { refund in
                refund.parts.contains { $0.leg == leg.index && $0.state == .processing }
            }
    }
}
