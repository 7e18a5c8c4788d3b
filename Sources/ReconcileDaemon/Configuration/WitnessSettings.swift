import Foundation
import HTTPTransport
import PaymentCore
import PostgresStore
import Reconciler
import Witnesses

/// The third place in which a site's right to act is kept.
enum WitnessSettings {
    /// A table of another PostgreSQL.
    case postgres(PostgresStoreConfiguration)
    /// A Lease of another Kubernetes cluster.
    case kubernetes(KubernetesLease.Place, caBundle: String?, limit: Span)
    /// An item of a DynamoDB table. Where the credentials come from is read when it is opened: none of them is here.
    case dynamodb(DynamoDBItem.Place, limit: Span)

    /// Reads the section `site.witness`.
    static func read(
        _ section: ConfigurationSection, _ proof: SiteProofKind, _ store: StoreSettings, environment: [String: String]
    ) -> WitnessSettings? {
        let witness = section.section("witness")
        defer { witness.finish() }
        let limit = witness.duration("time_limit", default: .seconds(2))
        switch proof {
        case .postgres:
            guard let url = witness.text("url") else {
                _ = readPostgres(witness)
                witness.report("url", value: "", allowed: "with site.proof postgres: a PostgreSQL in a third place")
                return nil
            }
            return database(url, witness, store, limit, environment: environment).map { .postgres($0) }
        case .kubernetes:
            guard let url = witness.text("url") else {
                _ = readLease(witness)
                witness.report(
                    "url", value: "", allowed: "with site.proof kubernetes: https://<API server in a third place>")
                return nil
            }
            return lease(url, witness, limit)
        case .dynamodb: return item(witness, limit)
        case .none, .standby:
            // What belongs to a witness is not called unknown: a proof is missing.
            let isGiven = witness.text("url") != nil
            _ = readPostgres(witness)
            if isGiven {
                section.report(
                    "proof", value: proof.rawValue,
                    allowed: "postgres, kubernetes or dynamodb, because site.witness is given")
            }
            return nil
        }
    }

    private static func readPostgres(_ witness: ConfigurationSection) -> (password: String?, schema: String) {
        let schema = witness.value("schema", allowed: "a name of a-z, 0-9 and _", default: "reconciled_witness") {
            $0.wholeMatch(of: /[a-z][a-z0-9_]{0,47}/) == nil ? nil : $0
        }
        return (witness.secret("password"), schema)
    }

    private static func database(
        _ url: String, _ witness: ConfigurationSection, _ store: StoreSettings, _ limit: Span,
        environment: [String: String]
    ) -> PostgresStoreConfiguration? {
        let (password, schema) = readPostgres(witness)
        guard let settings = StoreSettings.witness(url) else {
            witness.report("url", value: "(hidden: it may hold a password)", allowed: "postgres: and what libpq reads")
            return nil
        }
        if settings.holdsPassword, environment[witness.variableName("url")] == nil {
            witness.report(
                "url", value: "(hidden: it holds a password)",
                allowed: "a password in \(witness.variableName("password")), password_file, or libpq's password file")
        }
        if case .postgres(let own) = store, own.dsn == settings.dsn {
            witness.report("url", value: "(the same as store.url)", allowed: "a database in a third place")
        }
        var configuration = settings
        configuration.password = password
        configuration.schema = schema
        configuration.timeLimit = limit
        return configuration
    }

    private static func readLease(
        _ witness: ConfigurationSection
    ) -> (namespace: String, name: String, tokenFile: String?, caBundle: String?) {
        func name(_ key: String) -> String {
            witness.value(key, allowed: "a name of a-z, 0-9 and -, at most 63", default: "reconciled") {
                $0.wholeMatch(of: /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/) == nil ? nil : $0
            }
        }
        let caBundle = witness.text("ca_bundle")
        if let caBundle, witness.content(of: caBundle)?.contains("-----BEGIN CERTIFICATE-----") != true {
            witness.report("ca_bundle", value: caBundle, allowed: "a PEM file of certificates that can be read")
        }
        return (name("namespace"), name("name"), witness.text("token_file"), caBundle)
    }

    private static func lease(_ url: String, _ witness: ConfigurationSection, _ limit: Span) -> WitnessSettings? {
        let (namespace, name, tokenFile, caBundle) = readLease(witness)
        guard let address = Configuration.readGuardedAddress(witness, url) else { return nil }
        guard let tokenFile else {
            witness.report(
                "token_file", value: "",
                allowed: "a file with the token of a service account that may get and patch the Lease")
            return nil
        }
        if (witness.content(of: tokenFile) ?? "").isEmpty {
            witness.report("token_file", value: tokenFile, allowed: "a file with a token that can be read")
        }
        let place = KubernetesLease.Place(
            url: address.hasSuffix("/") ? String(address.dropLast()) : address, namespace: namespace, name: name,
            tokenFile: tokenFile)
        return .kubernetes(place, caBundle: caBundle, limit: limit)
    }

    private static func item(_ witness: ConfigurationSection, _ limit: Span) -> WitnessSettings? {
        func name(_ key: String, _ allowed: String, _ form: Regex<Substring>) -> String? {
            guard let text = witness.text(key) else {
                witness.report(key, value: "", allowed: allowed)
                return nil
            }
            if text.wholeMatch(of: form) == nil { witness.report(key, value: text, allowed: allowed) }
            return text
        }
        let item = witness.value("item", allowed: "1 to 255 of A-Z, a-z, 0-9, ., _ and -", default: "reconciled") {
            $0.wholeMatch(of: /[A-Za-z0-9._-]{1,255}/) == nil ? nil : $0
        }
        let url = witness.text("url").flatMap { Configuration.readGuardedAddress(witness, $0) }
        guard let region = name("region", "a region such as eu-west-1", /[a-z]{2}(?:-[a-z]+)+-[0-9]/),
            let table = name("table", "a name of 3 to 255 of A-Z, a-z, 0-9, ., _ and -", /[A-Za-z0-9._-]{3,255}/)
        else { return nil }
        let place = DynamoDBItem.Place(
            region: region, table: table, item: item,
            url: url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
        return .dynamodb(place, limit: limit)
    }

    /// The password of its database.
    var password: String? {
        guard case .postgres(let settings) = self else { return nil }
        return settings.password
    }

    /// The same, with a password that is asked for at each connection.
    func asking(_ password: @escaping @Sendable () -> String?) -> WitnessSettings {
        guard case .postgres(var settings) = self else { return self }
        settings.currentPassword = password
        return .postgres(settings)
    }

    /// The witness itself.
    func open() -> OpenWitness {
        switch self {
        case .postgres(let settings):
            let witness = PostgresWitness(settings)
            return OpenWitness(witness: witness) { await witness.close() }
        case .kubernetes(let place, let caBundle, let limit):
            let isPlain = place.url.lowercased().hasPrefix("http://")
            return open(limit, caBundle: caBundle, allowPlainHTTP: isPlain) { KubernetesLease(place, sender: $0) }
        case .dynamodb(let place, let limit):
            let environment = ProcessInfo.processInfo.environment
            // The agent that lends credentials answers on this machine, without TLS; the item knows its addresses.
            return open(limit, caBundle: nil, allowPlainHTTP: true) { sender in
                DynamoDBItem(place, environment: environment, sender: sender, now: { SystemClock().now() })
            }
        }
    }

    private func open(
        _ limit: Span, caBundle: String?, allowPlainHTTP: Bool, _ item: (CurlSender) -> any WitnessItem
    ) -> OpenWitness {
        let sender = CurlSender(
            configuration: CurlConfiguration(
                maximumConnections: 2, caBundlePath: caBundle, allowPlainHTTP: allowPlainHTTP))
        let witness = ConditionalWitness(item(sender), limit: .milliseconds(limit.milliseconds))
        return OpenWitness(witness: witness) { await sender.shutdown() }
    }
}

/// A witness that is open, and how its connections are ended.
struct OpenWitness: Sendable {
    let witness: any SiteWitness
    let close: @Sendable () async -> Void
}
