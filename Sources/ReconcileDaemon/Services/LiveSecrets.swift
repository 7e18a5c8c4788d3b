import HTTPTransport
import OperationsConsole
import PaymentAPI
import PaymentCore
import PostgresStore
import Providers
import Synchronization
import Webhooks

/// What a daemon takes from its configuration anew while it runs: tokens, passwords and certificates. Whatever uses
/// them asks here.
struct LiveSecrets: Sendable {
    let callers: CallerDirectory
    let operators: OperatorDirectory
    let providers: [ProviderName: ReplaceableToken]
    let notifications: [ProviderName: NotificationSecrets]
    let webhooks: [CallerID: WebhookSecrets]
    let storePassword: Password
    let witnessPassword: Password
    let certificates: LiveCertificates

    /// A password that is asked for at each connection.
    final class Password: Sendable {
        private let text: Mutex<String?>

        init(_ text: String?) { self.text = Mutex(text) }

        var current: String? { text.withLock { $0 } }

        fileprivate func replace(with other: String?) { text.withLock { $0 = other } }
    }

    init(_ configuration: Configuration) throws {
        (callers, operators) = try LiveSecrets.directories(configuration)
        providers = Dictionary(
            configuration.providers.map { ($0.name, ReplaceableToken(BearerToken($0.token))) },
            uniquingKeysWith: { first, _ in first })
        notifications = Dictionary(
            configuration.providers.map { ($0.name, NotificationSecrets($0.notificationSecrets)) },
            uniquingKeysWith: { first, _ in first })
        webhooks = configuration.webhooks.mapValues { WebhookSecrets($0.secrets) }
        storePassword = Password(configuration.store.password)
        witnessPassword = Password(configuration.site.witness?.password)
        certificates = try LiveCertificates(configuration)
    }

    /// Puts the secrets of a configuration that was read anew in the place of those of the one before.
    ///
    /// - Returns: the keys of what changed, without the secrets.
    /// - Throws: if a token of it belongs to two; nothing is replaced then.
    func replace(_ old: Configuration, with new: Configuration) throws -> [String] {
        let directories = try LiveSecrets.directories(new)
        var changed = try certificates.replace(old, with: new)
        if old.callers.map(\.withoutWebhook) != new.callers.map(\.withoutWebhook) {
            callers.replace(with: directories.callers)
            changed.append("callers")
        }
        if old.operators != new.operators {
            operators.replace(with: directories.operators)
            changed.append("admin.operators")
        }
        for provider in new.providers {
            let before = old.providers.first { $0.name == provider.name }
            guard let before else { continue }
            if before.token != provider.token {
                providers[provider.name]?.replace(with: BearerToken(provider.token))
                changed.append("providers.\(provider.name).token")
            }
            if before.notificationSecrets != provider.notificationSecrets {
                notifications[provider.name]?.replace(with: provider.notificationSecrets)
                changed.append("providers.\(provider.name).notification_secret")
            }
        }
        for (caller, webhook) in new.webhooks {
            guard webhooks[caller]?.replace(with: webhook.secrets) == true else { continue }
            changed.append("callers.\(caller).webhook.secret")
        }
        if old.store.password != new.store.password {
            storePassword.replace(with: new.store.password)
            changed.append("store.password")
        }
        if old.site.witness?.password != new.site.witness?.password {
            witnessPassword.replace(with: new.site.witness?.password)
            changed.append("site.witness.password")
        }
        return changed
    }

    private static func directories(
        _ configuration: Configuration
    ) throws -> (callers: CallerDirectory, operators: OperatorDirectory) {
        let callers = try configuration.callers.flatMap { principal in
            let caller = try CallerID(principal.name)
            let main = CallerAccess(caller, scopes: principal.scopes)
            return principal.tokenDigests.map { (main, $0) }
                + principal.tokens.flatMap { token in
                    let access = CallerAccess(caller, token: token.name, scopes: token.scopes)
                    return token.digests.map { (access, $0) }
                }
        }
        var subjects: [String: CallerAccess] = [:]
        for principal in configuration.callers {
            guard let subject = principal.subject else { continue }
            subjects[subject] = CallerAccess(try CallerID(principal.name), scopes: principal.scopes)
        }
        var rates: [CallerID: CallerRate] = [:]
        for principal in configuration.callers { rates[try CallerID(principal.name)] = principal.rate }
        let operators = configuration.operators.flatMap { principal in
            principal.tokenDigests.map { (Operator(principal.name, principal.role), $0) }
        }
        return (try CallerDirectory(callers, subjects: subjects, rates: rates), try OperatorDirectory(operators))
    }
}

extension Configuration {
    /// The same, with passwords that are asked for at each connection.
    func asking(_ secrets: LiveSecrets) -> Configuration {
        var configuration = self
        if case .postgres(var settings) = store {
            settings.currentPassword = { secrets.storePassword.current }
            configuration.store = .postgres(settings)
        }
        configuration.site.witness = site.witness?.asking { secrets.witnessPassword.current }
        return configuration
    }
}

extension StoreSettings {
    /// The password of its database.
    var password: String? {
        guard case .postgres(let settings) = self else { return nil }
        return settings.password
    }
}
