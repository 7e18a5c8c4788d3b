public import PaymentCore

extension Payment {
    /// Whether one of its effects is known to a provider under a key.
    public func has(_ key: EffectKey, at provider: ProviderName) -> Bool {
        legs.contains { leg in
            guard leg.provider == provider else { return false }
            let own = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0?.key }
            let asked = refunds.flatMap(\.parts).filter { $0.leg == leg.index }.map(\.effect.key)
            return own.contains(key) || asked.contains(key)
        }
    }
}
