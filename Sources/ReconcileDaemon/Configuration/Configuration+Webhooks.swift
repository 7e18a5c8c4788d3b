import HTTPTransport
import PaymentCore
import Webhooks

/// Where the webhooks of a caller go.
struct WebhookSettings: Equatable {
    var url: String
    /// What signs them; two while one is being replaced.
    var secrets: [WebhookSecret]
    /// Networks that are not public, and to which they may go all the same.
    var privateNetworks: [AddressRange]
    var caBundle: String?
    var allowsPlainHTTP: Bool

    /// The most connections to one endpoint.
    static let connections = 16

    /// The wire to the endpoint.
    var sender: CurlSender {
        CurlSender(
            configuration: CurlConfiguration(
                maximumConnections: WebhookSettings.connections, caBundlePath: caBundle,
                idleConnectionLife: .seconds(3),
                allowPlainHTTP: allowsPlainHTTP, addresses: .publicOnly(besides: privateNetworks)))
    }
}

extension Configuration {
    /// Reads `callers[].webhook`; `nil` where the caller has none, or where it is reported.
    static func readWebhook(_ section: ConfigurationSection) -> WebhookSettings? {
        defer { section.finish() }
        let secrets = readWebhookSecrets(section)
        let networks = readPrivateNetworks(section)
        let authorities = readAuthorities(section)
        let mayBePlain = section.bool("allow_plain_http", default: false)
        guard section.has(anyOf: ["url"]) else {
            if !secrets.isEmpty || !networks.isEmpty || authorities != nil || mayBePlain {
                section.report("url", value: "", allowed: "an https:// address, where there is a webhook")
            }
            return nil
        }
        let text = section.required("url", allowed: "an https:// address")
        // As it is written: a receiver may care for a slash at the end.
        guard !text.isEmpty, readGuardedAddress(section, text) != nil else { return nil }
        return WebhookSettings(
            url: text, secrets: secrets, privateNetworks: networks, caBundle: authorities,
            allowsPlainHTTP: mayBePlain)
    }

    private static func readWebhookSecrets(_ section: ConfigurationSection) -> [WebhookSecret] {
        let keys = ["secret", "next_secret"]
        guard section.isForSending else {
            section.leaveOut(keys[0], keys[1], keys[0] + "_file", keys[1] + "_file")
            return []
        }
        let texts = keys.map { section.secret($0) }
        for (key, text) in zip(keys, texts) {
            guard let text, WebhookSecret(text) == nil else { continue }
            section.report(key, value: "(hidden)", allowed: WebhookSecret.allowed)
        }
        if section.has(anyOf: ["url"]), texts[0] == nil {
            section.report(
                keys[0], value: "(missing)",
                allowed: "\(WebhookSecret.allowed), in \(section.variableName(keys[0])) or in secret_file")
        }
        return texts.compactMap { $0.flatMap { WebhookSecret($0) } }
    }

    private static func readPrivateNetworks(_ section: ConfigurationSection) -> [AddressRange] {
        let texts = section.texts("private_networks") ?? []
        return texts.compactMap { text in
            if let range = AddressRange(text) { return range }
            section.report(
                "private_networks", value: text, allowed: "networks such as 10.1.0.0/16 or fd00:1::/64, or addresses")
            return nil
        }
    }

    /// Whose payments are reported by webhooks, and where.
    var webhooks: [CallerID: WebhookSettings] {
        var all: [CallerID: WebhookSettings] = [:]
        for caller in callers {
            // Its name was checked when it was read.
            guard let webhook = caller.webhook, let id = try? CallerID(caller.name) else { continue }
            all[id] = webhook
        }
        return all
    }

    /// Whose payments are reported by webhooks.
    var reportedCallers: Set<CallerID> { Set(webhooks.keys) }
}
