import PaymentCore
import Providers

extension Configuration {
    static func readProviders(
        _ parent: ConfigurationSection, _ policy: SettlementPolicy, _ assumptions: SafetyAssumptions
    ) -> [Provider] {
        var seen: Set<ProviderName> = []
        let sections = parent.sections("providers")
        if sections.isEmpty { parent.report("providers", value: "", allowed: "at least one provider") }
        return sections.compactMap { section in
            defer { section.finish() }
            let text = section.required("name", allowed: "a name of a-z, 0-9, - and _")
            guard let name = try? ProviderName(text), seen.insert(name).inserted else {
                section.report("name", value: text, allowed: "a unique name of a-z, 0-9, - and _")
                return nil
            }
            let adapter = readAdapter(section)
            let url = readURL(section)
            let contract = readContract(section, adapter)
            for trap in contract.traps(under: assumptions) {
                section.report("contract", value: trap.name.rawValue, allowed: trap.explanation)
            }
            let provider = readProvider(section, name, adapter, url, contract)
            if let trap = contract.trap(sendWithin: policy.sendWithin, total: provider.total) {
                section.report("timeouts.total", value: trap.name.rawValue, allowed: trap.explanation)
            }
            return provider
        }
    }

    /// Of contracts that are safe here, those that would be refused on a store that may lose acknowledged rows.
    static func contractsAtRisk(_ providers: [Provider], _ assumptions: SafetyAssumptions) -> [String] {
        var lossy = assumptions
        lossy.storeKeepsAcknowledgedRows = false
        return providers.flatMap { provider in
            provider.contract.traps(under: lossy).filter { !provider.contract.traps(under: assumptions).contains($0) }
                .map { "\(provider.name) (\($0.name.rawValue))" }
        }
    }

    private static func readProvider(
        _ section: ConfigurationSection, _ name: ProviderName, _ adapter: ProviderAdapter, _ url: String,
        _ contract: ProviderContract
    ) -> Provider {
        let timeouts = section.section("timeouts")
        let breaker = section.section("breaker")
        let conversion = section.section("conversion")
        defer { for part in [timeouts, breaker, conversion] { part.finish() } }
        return Provider(
            name: name, adapter: adapter, url: url, keySpace: readKeySpace(section, url),
            contract: contract, token: readToken(section, adapter),
            notificationSecrets: readNotificationSecrets(section, adapter),
            connect: timeouts.duration("connect", default: .seconds(2)),
            tls: timeouts.duration("tls", default: .seconds(3)),
            firstByte: timeouts.duration("first_byte", default: .seconds(10)),
            total: timeouts.duration("total", default: .seconds(15)),
            breakerFailurePercent: breaker.int("failure_percent", in: 1...100, default: 80),
            breakerOpenFor: breaker.duration("open_for", default: .seconds(1)),
            conversion: readConversion(conversion, adapter), caBundle: readAuthorities(section),
            clientCertificate: readClientCertificate(section),
            allowsPlainHTTP: section.bool("allow_plain_http", default: false))
    }

    private static func readAdapter(_ section: ConfigurationSection) -> ProviderAdapter {
        guard let name = section.text("adapter") else { return .reference }
        if let adapter = ProviderAdapter.all.first(where: { $0.name == name }) { return adapter }
        let names = ProviderAdapter.all.map(\.name).joined(separator: ", ")
        section.report("adapter", value: name, allowed: "one of \(names)")
        return .reference
    }

    private static func readConversion(
        _ section: ConfigurationSection, _ adapter: ProviderAdapter
    ) -> AmountConversion? {
        guard let code = section.text("unit_code") else { return nil }
        if !adapter.convertsAmounts {
            section.report(
                "unit_code", value: code, allowed: "no conversion: the adapter \(adapter.name) counts amounts itself")
        }
        let currency = section.required("currency", allowed: "an ISO 4217 code")
        let numerator = Int64(section.int("numerator", in: 1...1_000_000, default: 1))
        let denominator = Int64(section.int("denominator", in: 1...1_000_000, default: 1))
        guard let known = Currency(code: currency) else {
            section.report("currency", value: currency, allowed: "an ISO 4217 code")
            return nil
        }
        do {
            return try AmountConversion(
                numerator: numerator, denominator: denominator, unitCode: code, currency: known)
        } catch {
            section.report("unit_code", value: code, allowed: "three capital letters")
            return nil
        }
    }

    private static func readURL(_ section: ConfigurationSection) -> String {
        let text = section.required("url", allowed: "an https:// address")
        let address = text.isEmpty ? nil : readGuardedAddress(section, text)
        return address ?? text
    }

    /// By default the host and port of the url: another address is another region, unless the operator says that both
    /// keep the same keys.
    private static func readKeySpace(_ section: ConfigurationSection, _ url: String) -> KeySpace? {
        guard let text = section.text("key_space") else {
            // An address that is none was reported where `url` was read, and the daemon does not start with it.
            return (try? ProviderAddress(url)).flatMap { KeySpace($0.authority) }
        }
        guard let space = KeySpace(text) else {
            section.report(
                "key_space", value: text,
                allowed: "1 to \(KeySpace.longestName) of a-z, 0-9 and . : - _ [ ], such as eu or api.example.com")
            return nil
        }
        return space
    }

    /// The address under `url`, where nobody on the way may read or answer what is sent there; `nil` if it is none,
    /// which is reported. Plain HTTP needs the operator's consent.
    static func readGuardedAddress(_ section: ConfigurationSection, _ text: String) -> String? {
        let mayBePlain = section.bool("allow_plain_http", default: false)
        guard let address = readAddress(section, text) else { return nil }
        guard address.hasPrefix("https://") || mayBePlain else {
            section.report("url", value: text, allowed: "an https:// address, or http:// with allow_plain_http: true")
            return nil
        }
        return address
    }

    /// The address under `url` as it is used; `nil` if it is none, which is reported.
    private static func readAddress(_ section: ConfigurationSection, _ text: String) -> String? {
        do {
            return try ProviderAddress(text).description
        } catch {
            // What stands before an @ may be a password.
            section.report(
                "url", value: text.contains("@") ? "(hidden: it may hold a password)" : text,
                allowed: "https://<host>, and if need be a port and a path (\(error.reason))")
            return nil
        }
    }

    /// A file of the authorities to trust: better missed here than by the first payment.
    static func readAuthorities(_ section: ConfigurationSection) -> String? {
        guard let path = section.text("ca_bundle"), section.isForSending else { return nil }
        guard let text = section.content(of: path), text.contains("-----BEGIN CERTIFICATE-----") else {
            section.report("ca_bundle", value: path, allowed: "a PEM file of certificates that can be read")
            return nil
        }
        return path
    }

    private static func readToken(_ section: ConfigurationSection, _ adapter: ProviderAdapter) -> String {
        guard section.isForSending else {
            section.leaveOut("token", "token_file")
            return ""
        }
        let token = section.secret("token") ?? ""
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            section.report(
                "token", value: "(missing or malformed)",
                allowed: "a token of visible ASCII in \(section.variableName("token")), or a file with it in token_file"
            )
            return ""
        }
        if let allowed = adapter.problem(withToken: token) {
            section.report(
                "token", value: "(hidden)", allowed: "\(allowed) in \(section.variableName("token")) or token_file")
            return ""
        }
        return token
    }

    private static func readNotificationSecrets(
        _ section: ConfigurationSection, _ adapter: ProviderAdapter
    ) -> [String] {
        let keys = ["notification_secret", "next_notification_secret"]
        guard section.isForSending else {
            section.leaveOut(keys[0], keys[1], keys[0] + "_file", keys[1] + "_file")
            return []
        }
        let secrets = keys.map { section.secret($0) }
        if !adapter.hasNotifications, secrets.contains(where: { $0 != nil }) {
            section.report(
                keys[0], value: "(hidden)", allowed: "nothing: the adapter \(adapter.name) has no notifications")
        }
        for (key, secret) in zip(keys, secrets) {
            // A secret that anybody can guess signs anything.
            guard let secret, secret.utf8.count < 16 else { continue }
            section.report(key, value: "(hidden)", allowed: "at least 16 characters")
        }
        return secrets.compactMap { $0 }
    }

    /// Reads a contract from a file of its own, which holds what `providers[].contract` of a configuration holds.
    static func contract(inFile path: String) throws -> ProviderContract {
        let reading = ConfigurationReading(environment: [:], isForSending: false) { _ in "" }
        let root = try node(path: path, of: "--what-if")
        let contract = readContract(part: ConfigurationSection(root, path: "", variablePrefix: "", reading: reading))
        try reading.finish()
        return contract
    }

    private static func readContract(
        _ section: ConfigurationSection, _ adapter: ProviderAdapter
    ) -> ProviderContract {
        let contract = readContract(part: section.section("contract"), of: adapter)
        // Rules that the wire cannot keep would be believed all the same.
        for problem in adapter.problems(with: contract) {
            section.report("contract.\(problem.property)", value: problem.value, allowed: problem.allowed)
        }
        return contract
    }

    private static func readContract(
        part: ConfigurationSection, of adapter: ProviderAdapter = .reference
    ) -> ProviderContract {
        defer { part.finish() }
        let base = part.text("base") ?? adapter.contracts[0]
        let isKept = adapter.contracts.contains(base)
        if !isKept {
            part.report(
                "base", value: base,
                allowed: adapter.contracts.count == 1
                    ? "\(adapter.contracts[0]), which is what the adapter \(adapter.name) keeps"
                    : "one of \(adapter.contracts.joined(separator: ", "))")
        }
        // With a wrong base the rest is read all the same, so that it is judged by what is meant.
        let name = isKept ? base : adapter.contracts[0]
        var contract = adapter.contract(named: name) ?? .reference
        contract.phases = part.choice("phases", default: contract.phases)
        contract.keyFormat = readKeyFormat(part, default: contract.keyFormat)
        contract.keyRetention = part.durationOrForever("key_retention", default: contract.keyRetention)
        contract.declinesBound = part.bool("declines_bound", default: contract.declinesBound)
        contract.inquiry = part.choice("inquiry", default: contract.inquiry)
        contract.visibilityLag = readVisibilityLag(part, default: contract.visibilityLag)
        contract.statusRetention = part.durationOrForever("status_retention", default: contract.statusRetention)
        contract.cancel = part.choice("cancel", default: contract.cancel)
        contract.enforcesNotAfter = part.bool("enforces_not_after", default: contract.enforcesNotAfter)
        contract.authorizationLife = part.durationOrForever(
            "authorization_life", default: contract.authorizationLife)
        contract.cancelDeadline = part.durationOrForever("cancel_deadline", default: contract.cancelDeadline)
        contract.cancelReversesSale = part.bool("cancel_reverses_sale", default: contract.cancelReversesSale)
        contract.listing = part.bool("listing", default: contract.listing)
        contract.refundVisibility = part.choice("refund_visibility", default: contract.refundVisibility)
        contract.requestsPerSecond = part.int(
            "requests_per_second", in: 1...1_000_000, default: contract.requestsPerSecond)
        if part.has(anyOf: ["endpoint_requests_per_second"]) {
            contract.endpointRequestsPerSecond = part.int(
                "endpoint_requests_per_second", in: 1...1_000_000, default: contract.requestsPerSecond)
        }
        contract.concurrency = part.int("concurrency", in: 1...10_000, default: contract.concurrency)
        contract.maxRequestLife = part.duration("max_request_life", default: contract.maxRequestLife)
        contract.clockSkew = part.duration("clock_skew", default: contract.clockSkew, atLeast: .zero)
        return contract
    }

    /// `random` is understood in order to say why it is refused.
    private static func readKeyFormat(_ section: ConfigurationSection, default fallback: KeyFormat) -> KeyFormat {
        guard section.text("key_format") == "random" else {
            return section.choice("key_format", default: fallback)
        }
        let trap = ContractTrap.randomKeys
        section.report("key_format", value: trap.name.rawValue, allowed: trap.explanation)
        return fallback
    }

    /// `unbounded` is understood in order to say why it is refused.
    private static func readVisibilityLag(_ section: ConfigurationSection, default fallback: Span) -> Span {
        guard section.text("visibility_lag") == "unbounded" else {
            return section.duration("visibility_lag", default: fallback, atLeast: .zero)
        }
        return ProviderContract.unboundedLag
    }
}
