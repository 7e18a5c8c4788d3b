import PaymentCore
import Providers
import SignedTokens

extension Configuration {
    /// Who signs tokens for callers, and where its keys are.
    struct SignedTokenSettings {
        /// Where a set of keys is read.
        enum Keys {
            case file(String)
            case address(String, caBundle: String?)
        }

        var rules: TokenRules
        var keys: Keys
        /// How long keys count that could not be read again.
        var trustedFor: Span
    }

    /// Reads the section `http.jwt`; `nil` without one.
    static func readSignedTokens(_ parent: ConfigurationSection) -> SignedTokenSettings? {
        let section = parent.section("jwt")
        defer { section.finish() }
        let keys = ["issuer", "audience", "key_set_file", "key_set_url", "scope_claim", "scope_prefix"]
        let isThere = section.has(anyOf: keys)
        var rules = TokenRules(
            issuer: isThere ? section.required("issuer", allowed: "the 'iss' of the tokens, as they have it") : "",
            audience: isThere ? section.required("audience", allowed: "the 'aud' that is meant for this service") : "",
            clockSkew: section.duration("clock_skew", default: .seconds(30), atLeast: .zero))
        rules.scopeClaim = section.text("scope_claim") ?? rules.scopeClaim
        rules.scopePrefix = section.text("scope_prefix") ?? rules.scopePrefix
        let trustedFor = section.duration("key_set_trusted_for", default: .hours(24), atLeast: KeySetKeeper.interval)
        let caBundle = readAuthorities(section)
        guard isThere else { return nil }
        guard let keys = readKeys(section, caBundle) else { return nil }
        return SignedTokenSettings(rules: rules, keys: keys, trustedFor: trustedFor)
    }

    private static func readKeys(_ section: ConfigurationSection, _ caBundle: String?) -> SignedTokenSettings.Keys? {
        switch (section.text("key_set_file"), section.text("key_set_url")) {
        case (let file?, nil): return .file(file)
        case (nil, let url?):
            do {
                let address = try ProviderAddress(url).description
                guard address.hasPrefix("https://") else {
                    section.report("key_set_url", value: url, allowed: "https://<host> and the path of the key set")
                    return nil
                }
                return .address(address, caBundle: caBundle)
            } catch {
                section.report(
                    "key_set_url", value: url.contains("@") ? "(hidden: it may hold a password)" : url,
                    allowed: "https://<host> and the path of the key set (\(error.reason))")
                return nil
            }
        default:
            section.report("key_set_url", value: "", allowed: "the address of the issuer's key set, or a key_set_file")
            return nil
        }
    }
}
