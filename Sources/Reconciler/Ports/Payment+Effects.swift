public import PaymentCore

extension Payment {
    /// Whether one of its effects is known to a provider under a key.
    public func has(_ key: EffectKey, at provider: ProviderName) -> Bool {
        legs.contains { leg in
            leg.provider == provider && effectKeys(of: leg).contains(key)
        }
    }

    /// The leg at a provider with an effect under a key; `nil` where there is none.
    public func leg(of key: EffectKey, at provider: ProviderName) -> Int? {
        legs.first { $0.provider == provider && effectKeys(of: $0).contains(key) }?.index
    }

    /// Whether one of its effects is known to any provider under a key.
    public func hasEffect(under key: IdempotencyKey) -> Bool {
        legs.contains { leg in effectKeys(of: leg).contains { $0.text == key.text } }
    }

    private func effectKeys(of leg: Leg) -> [EffectKey] {
        let own = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0?.key }
        return own + refunds.flatMap(\.parts).filter { $0.leg == leg.index }.map(\.effect.key)
    }
}
