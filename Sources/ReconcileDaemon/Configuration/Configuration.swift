import HTTPTransport
import Logging
import OperationsConsole
import PaymentAPI
import PaymentCore
import Providers
import Reconciler

/// The whole configuration, checked. See `docs/configuration.md` for every key.
struct Configuration {
    struct Listener {
        var host: String
        var port: Int
        /// Connections that are open at the same time.
        var maximumConnections = 256
        /// Where drills leave their reports, for the console.
        var drillReports: String?
        /// Where its certificate is; `nil` where it speaks plain HTTP.
        var certificatePath: String?
        /// With what it encrypts its connections; `nil` where it does not, or nobody asked for its secrets.
        var tls: ListenerTLS?
    }

    /// A caller or an operator, known by the SHA-256 of its bearer token, or by the subject of signed tokens.
    struct Principal: Equatable {
        var name: String
        var tokenDigest: Digest?
        /// A second token that counts as well, while the first is being replaced.
        var nextTokenDigest: Digest?
        /// Of an operator: what the person may do.
        var role = OperatorRole.operator
        /// Of a caller: its largest payment in a currency, in minor units.
        var largestAmounts: [Currency: Int64] = [:]
        /// Of a caller: what its main token permits.
        var scopes = Set(CallerScope.allCases)
        /// Of a caller: further tokens, each with rights of its own.
        var tokens: [NamedToken] = []
        /// Of a caller: how many of its requests are answered; `nil` without a limit.
        var rate: CallerRate?
        /// Of a caller: whom tokens name that somebody else signs for it.
        var subject: String?
        /// Of a caller: where it is told of its payments without asking; `nil` where it is not.
        var webhook: WebhookSettings?
        /// The same, as far as it is read anew as a whole while the process runs.
        var withoutWebhook: Principal {
            var other = self
            other.webhook = nil
            return other
        }

        /// The digests of its main token, and of the one that replaces it.
        var tokenDigests: [Digest] { [tokenDigest, nextTokenDigest].compactMap { $0 } }
    }

    /// A further token of a caller.
    struct NamedToken: Equatable {
        var name: String
        var digests: [Digest]
        var scopes: Set<CallerScope>
    }

    struct Provider {
        var name: ProviderName
        /// How it is spoken to.
        var adapter: ProviderAdapter
        var url: String
        /// Where it keeps the keys that it is sent.
        var keySpace: KeySpace?
        var contract: ProviderContract
        var token: String
        /// What its notifications are signed with; two while one is being replaced, none where none are taken.
        var notificationSecrets: [String]
        var connect: Span
        var tls: Span
        var firstByte: Span
        var total: Span
        var breakerFailurePercent: Int
        var breakerOpenFor: Span
        var conversion: AmountConversion?
        var caBundle: String?
        var clientCertificate: CurlConfiguration.ClientCertificate?
        var allowsPlainHTTP: Bool

        /// By what payments are decided: the contract, at the place where the provider keeps its keys.
        var placedContract: ProviderContract {
            var placed = contract
            placed.keySpace = keySpace
            return placed
        }
    }

    struct Objectives {
        var settleWithin: Span
        /// What a site must do again after a disaster (RLO).
        var recoveryLevel: SiteMode
        var recoveryTime: Span
        var recoveryPoint: Span
    }

    var site: Site
    var store: StoreSettings
    var http: Listener
    var maximumBodyBytes: Int
    var maximumConcurrentRequests: Int
    /// The fields of a caller's request that may hold a card number.
    var cardNumbers: CardNumberFields
    /// Who signs tokens for callers; `nil` where nobody does.
    var signedTokens: SignedTokenSettings?
    var admin: Listener
    var operators: [Principal]
    var callers: [Principal]
    var providers: [Provider]
    var policy: SettlementPolicy
    var assumptions: SafetyAssumptions
    /// Rows were lost: the window in which payments are read before anything is decided about them.
    var recovery: RecoveryWindow?
    var sweep: Sweep.Limits
    /// Both sides compared.
    var comparison: Comparison
    var maximumActive: Int
    var sealEvery: Span
    var shutdownGrace: Span
    var objectives: Objectives
    var logLevel: Logger.Level
    var logAsJSON: Bool
    /// The files that it was read from: its own, and those with secrets and certificates.
    var files: [String] = []

    var contracts: [ProviderName: ProviderContract] { Configuration.contracts(of: providers) }

    static func contracts(of providers: [Provider]) -> [ProviderName: ProviderContract] {
        Dictionary(providers.map { ($0.name, $0.placedContract) }, uniquingKeysWith: { first, _ in first })
    }

    /// By what payments are decided at a moment of the store's clock.
    func machineContext(at now: Timestamp) -> MachineContext {
        MachineContext(
            now: now, contracts: contracts, policy: policy,
            commitsAreAcknowledged: commitsAreAcknowledged)
    }

    /// Whether a commit survives the loss of the site that made it.
    var commitsAreAcknowledged: Bool { site.replication != .asynchronous }
}

extension Configuration: CustomStringConvertible, CustomReflectable {
    /// Always the same text: it holds secrets.
    var description: String { "Configuration(redacted)" }
    /// Empty, so that nothing that prints what it holds shows a secret.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
