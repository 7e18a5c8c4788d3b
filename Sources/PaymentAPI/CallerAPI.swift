package import HTTPEdge
public import Hummingbird
package import Logging
package import PaymentCore
package import Reconciler

/// The API that callers use: payments and operations on them, with idempotent replay, over the use cases of
/// `PaymentOperations`.
public struct CallerAPI: Sendable {
    private let responder: APIResponder
    private let limits: APILimits
    private let certificates: Replaceable<ListenerCertificates>?
    private let logger: Logger

    /// Puts the API together.
    /// - Parameters:
    ///   - operations: The use cases.
    ///   - webhook: Says how far the webhook of a payment got.
    ///   - callers: Who may call.
    ///   - signed: Judges tokens that somebody else signs for callers; `nil` where none are taken.
    ///   - contracts: What each configured provider can do.
    ///   - amountCheck: Why a provider cannot take an amount (an adapter's conversion), `nil` if it can.
    ///   - isCrowded: Whether a provider has so much to do for a caller that a new payment could not be begun in time.
    ///   - limits: How much is accepted.
    ///   - notifications: What takes providers' notifications; `nil` where none are taken.
    ///   - description: The published description, served at `/openapi.yaml`.
    ///   - site: What the site says of itself, served at `/v1/site`.
    ///   - certificates: With what connections are encrypted.
    ///   - clock: What deadlines and `Retry-After` are judged by.
    ///   - elapsed: What rates are judged by: a clock that no step of the wall clock moves.
    ///   - logger: Gets one line for each request.
    package init(
        operations: any PaymentOperations, webhook: @escaping WebhookReading, callers: CallerDirectory,
        signed: (any SignedTokenJudge)? = nil, contracts: [ProviderName: ProviderContract],
        amountCheck: @escaping @Sendable (ProviderName, Money) -> String?,
        isCrowded: @escaping @Sendable (ProviderName, CallerID) -> Bool = { _, _ in false },
        limits: APILimits = APILimits(),
        notifications: ProviderNotifications? = nil, description: [UInt8],
        site: @escaping @Sendable () -> SiteWord = {
            SiteWord(site: .main, store: nil, activeSite: .main, epoch: nil)
        },
        certificates: Replaceable<ListenerCertificates>? = nil, clock: any WallClock,
        elapsed: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, logger: Logger
    ) {
        self.limits = limits
        self.certificates = certificates
        self.logger = logger
        responder = APIResponder(
            operations: operations, webhook: webhook, identity: CallerIdentity(callers: callers, signed: signed),
            routes: OperationRoutes(
                operations: operations, contracts: contracts, amountCheck: amountCheck, isCrowded: isCrowded,
                limits: limits, clock: clock),
            notifications: NotificationRoute(notifications: notifications, bodyDeadline: limits.bodyDeadline),
            limits: limits, description: description, site: site,
            gate: RequestGate(limit: limits.maximumConcurrentRequests, senders: callers.count),
            elapsed: elapsed, strangers: .ofCallers(logger), logger: logger)
    }

    /// The listener as a service. It ends when it is cancelled or shut down gracefully; requests that are
    /// being answered are answered first.
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port; 0 for any that is free.
    ///   - onServerRunning: Is told the port once requests are accepted.
    public func application(
        host: String, port: Int, onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        var listener = HTTPListener(
            "callers", idleTimeout: limits.idleTimeout, maximumConnections: limits.maximumConnections)
        listener.maximumHeaderFieldBytes = limits.maximumHeaderFieldBytes
        listener.maximumHeaderBytes = limits.maximumHeaderBytes
        listener.maximumHeaderFields = limits.maximumHeaderFields
        listener.linger = limits.linger
        listener.certificates = certificates
        return listener.application(
            responder, host: host, port: port, logger: logger, onServerRunning: onServerRunning)
    }
}
