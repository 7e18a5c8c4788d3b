import PaymentAPI
import PaymentCore
import Reconciler

extension Configuration {
    /// Reads who may come with which token. `tokens` are those that others have, whoever they are.
    static func readPrincipals(
        _ parent: ConfigurationSection, _ key: String, _ tokens: inout Set<Digest>
    ) -> [Principal] {
        var seen: Set<String> = []
        let sections = parent.sections(key)
        if sections.isEmpty, key == "callers" { parent.report(key, value: "", allowed: "at least one caller") }
        var principals: [Principal] = []
        for section in sections {
            defer { section.finish() }
            let name = section.required("name", allowed: "a name of a-z, 0-9, - and _")
            let hash = section.required("token_sha256", allowed: "the SHA-256 of the token, 64 lowercase hex digits")
            guard (try? CallerID(name)) != nil, seen.insert(name).inserted else {
                section.report("name", value: name, allowed: "a unique name of a-z, 0-9, - and _")
                continue
            }
            guard name != UnbookedTransaction.caller else {
                section.report("name", value: name, allowed: "any other name: comparisons undo in this one")
                continue
            }
            let next = section.text("next_token_sha256").flatMap {
                readDigest(section, "next_token_sha256", $0, &tokens)
            }
            if let digest = readDigest(section, "token_sha256", hash, &tokens) {
                principals.append(Principal(name: name, tokenDigest: digest, nextTokenDigest: next))
            }
        }
        return principals
    }

    private static func readDigest(
        _ section: ConfigurationSection, _ key: String, _ hash: String, _ tokens: inout Set<Digest>
    ) -> Digest? {
        let trouble: String
        if let digest = Digest(hex: hash) {
            if emptyTokens.contains(hash) {
                trouble = "this is that of an empty text, so there was no token"
            } else if tokens.insert(digest).inserted {
                return digest
            } else {
                trouble = "another caller or operator has this one"
            }
        } else {
            trouble = "this is none"
        }
        section.report(
            key, value: "(hidden)",
            allowed: "the SHA-256 of a token of its own, 64 lowercase hex digits (\(trouble))")
        return nil
    }

    /// What `sha256sum` says of nothing, and of a line break alone: of a variable that was not set.
    private static let emptyTokens: Set<String> = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
    ]

    /// Reads `http.card_numbers`.
    static func readCardNumbers(_ http: ConfigurationSection) -> CardNumberFields {
        let section = http.section("card_numbers")
        defer { section.finish() }
        let accepted = CardNumberFields.Field.allCases.filter { field in
            section.choice(field.rawValue, default: CardNumber.Rule.refuse) == .accept
        }
        return CardNumberFields(accepting: Set(accepted))
    }
}
