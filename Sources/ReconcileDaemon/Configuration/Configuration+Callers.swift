import OperationsConsole
import PaymentAPI
import PaymentCore
import Reconciler

extension Configuration {
    /// Reads who may come with which token. `tokens` are those that others have, whoever they are.
    static func readPrincipals(
        _ parent: ConfigurationSection, _ key: String, _ tokens: inout Set<Digest>
    ) -> [Principal] {
        var names: Set<String> = []
        var subjects: Set<String> = []
        let sections = parent.sections(key)
        if sections.isEmpty, key == "callers" { parent.report(key, value: "", allowed: "at least one caller") }
        var principals: [Principal] = []
        for section in sections {
            defer { section.finish() }
            let name = readName(section, allowed: "a unique name of a-z, 0-9, - and _", taken: &names)
            let subject = key == "callers" ? section.text("jwt_subject") : nil
            let digest = readMainToken(section, isNeeded: subject == nil, &tokens)
            let next = section.text("next_token_sha256").flatMap {
                readDigest(section, "next_token_sha256", $0, &tokens)
            }
            let role = key == "callers" ? .operator : section.choice("role", default: OperatorRole.operator)
            // What has no name or no digest is reported, and goes nowhere. Its keys are read, so that none is unknown.
            var principal = Principal(name: name ?? "", tokenDigest: digest, nextTokenDigest: next, role: role)
            principal.subject = subject
            if let subject, subject.isEmpty || !subjects.insert(subject).inserted {
                section.report("jwt_subject", value: subject, allowed: "the 'sub' of this caller's tokens, of it alone")
            }
            if key == "callers" { readCaller(section, &principal, &tokens) }
            if let name, name == UnbookedTransaction.caller {
                section.report("name", value: name, allowed: "any other name: comparisons undo in this one")
            } else if name != nil, digest != nil || subject != nil {
                principals.append(principal)
            }
        }
        return principals
    }

    private static func readMainToken(
        _ section: ConfigurationSection, isNeeded: Bool, _ tokens: inout Set<Digest>
    ) -> Digest? {
        guard isNeeded || section.has(anyOf: ["token_sha256"]) else { return nil }
        let hash = section.required("token_sha256", allowed: "the SHA-256 of the token, 64 lowercase hex digits")
        return readDigest(section, "token_sha256", hash, &tokens)
    }

    /// Reads a name that nobody before has; `nil` where it is reported.
    private static func readName(
        _ section: ConfigurationSection, allowed: String, taken names: inout Set<String>
    ) -> String? {
        let name = section.required("name", allowed: allowed)
        guard !name.isEmpty else { return nil }
        guard (try? CallerID(name)) != nil, names.insert(name).inserted else {
            section.report("name", value: name, allowed: allowed)
            return nil
        }
        return name
    }

    /// Reads what callers have and operators have not.
    private static func readCaller(
        _ section: ConfigurationSection, _ principal: inout Principal, _ tokens: inout Set<Digest>
    ) {
        principal.largestAmounts = readLargestAmounts(section)
        principal.scopes = readScopes(section)
        principal.rate = readRate(section.section("rate"))
        principal.webhook = readWebhook(section.section("webhook"))
        var names: Set<String> = []
        for token in section.sections("tokens") {
            defer { token.finish() }
            let allowed = "a name of a-z, 0-9, - and _, once for each caller"
            let name = readName(token, allowed: allowed, taken: &names) ?? ""
            let hash = token.required("token_sha256", allowed: "the SHA-256 of the token, 64 lowercase hex digits")
            let digest = readDigest(token, "token_sha256", hash, &tokens)
            let next = token.text("next_token_sha256").flatMap {
                readDigest(token, "next_token_sha256", $0, &tokens)
            }
            principal.tokens.append(
                NamedToken(name: name, digests: [digest, next].compactMap { $0 }, scopes: readScopes(token)))
        }
    }

    /// All scopes where none are named. A token without any would be good for nothing.
    private static func readScopes(_ section: ConfigurationSection) -> Set<CallerScope> {
        guard let names = section.texts("scopes") else { return Set(CallerScope.allCases) }
        let scopes = names.compactMap { CallerScope(rawValue: $0) }
        if scopes.isEmpty || scopes.count < names.count {
            let allowed = CallerScope.allCases.map(\.rawValue).joined(separator: ", ")
            section.report("scopes", value: names.joined(separator: ", "), allowed: "at least one of \(allowed)")
        }
        return Set(scopes)
    }

    private static func readRate(_ section: ConfigurationSection) -> CallerRate? {
        defer { section.finish() }
        guard section.has(anyOf: ["requests_per_second", "burst"]) else { return nil }
        guard section.has(anyOf: ["requests_per_second"]) else {
            section.report("requests_per_second", value: "", allowed: "1 to 1000000, where there is a burst")
            return nil
        }
        let perSecond = section.int("requests_per_second", in: 1...1_000_000, default: 1)
        return CallerRate(
            requestsPerSecond: perSecond, burst: section.int("burst", in: 1...1_000_000, default: perSecond))
    }

    private static func readLargestAmounts(_ parent: ConfigurationSection) -> [Currency: Int64] {
        var largest: [Currency: Int64] = [:]
        for section in parent.sections("largest_amounts") {
            defer { section.finish() }
            let code = section.required("currency", allowed: "a currency of ISO 4217")
            let value = section.int("value", in: 1...Int(ListedPosition.largestAmount), default: 0)
            guard let currency = Currency(code: code), largest[currency] == nil else {
                section.report("currency", value: code, allowed: "a currency of ISO 4217, once for each caller")
                continue
            }
            if !section.has(anyOf: ["value"]) {
                section.report("value", value: "", allowed: "1 to \(ListedPosition.largestAmount) minor units")
            }
            largest[currency] = Int64(value)
        }
        return largest
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

    /// The largest payments of the callers that have such limits.
    var largestAmounts: [CallerID: [Currency: Int64]] {
        var all: [CallerID: [Currency: Int64]] = [:]
        for caller in callers where !caller.largestAmounts.isEmpty {
            // Its name was checked when it was read.
            if let id = try? CallerID(caller.name) { all[id] = caller.largestAmounts }
        }
        return all
    }
}
