package import HTTPEdge
public import Hummingbird
package import Logging

/// How much the admin listener accepts, and how long it waits.
public struct AdminLimits: Sendable, Hashable {
    /// How long a probe waits for a check before that check counts as failed.
    public var checkTimeout: Duration = .seconds(2)
    /// How long a check's result is given again without asking.
    public var checkFreshness: Duration = .milliseconds(500)
    /// How long a connection may rest, or take to send a request's headers.
    public var idleTimeout: Duration = .seconds(60)
    /// Connections that are open at the same time. Beyond it the one that has rested for the longest makes room.
    public var maximumConnections = 256
    /// The largest body, in bytes.
    public var maximumBodyBytes = 32_768
    /// How long a body may take to arrive, from the end of the headers.
    public var bodyDeadline: Duration = .seconds(10)

    /// The documented defaults.
    public init() {}
}

/// The health checks behind each probe. `/livez` has none: it asks only whether the process's own loops make
/// progress.
public struct ProbeChecks: Sendable {
    /// `/readyz`: this replica can do the work of its role.
    public var readiness: [HealthCheck]
    /// `/startupz`: migrations and first contact are done.
    public var startup: [HealthCheck]
    /// `/activez`: this site is active.
    public var activity: [HealthCheck]

    /// Checks for each probe.
    public init(readiness: [HealthCheck], startup: [HealthCheck], activity: [HealthCheck]) {
        self.readiness = readiness
        self.startup = startup
        self.activity = activity
    }
}

/// The operations API: probes, metrics, and what operators read and do. Served on a listener of its own, never with
/// the public API.
public struct AdminAPI: Sendable {
    private let responder: AdminResponder
    private let history: ConsoleHistory?
    private let limits: AdminLimits
    private let certificates: Replaceable<ListenerCertificates>?
    private let logger: Logger

    /// Puts the API together.
    /// - Parameters:
    ///   - progress: What `/livez` answers from.
    ///   - checks: What the other probes answer from.
    ///   - metrics: What `/metrics` shows.
    ///   - operators: Who may use `/v1/…`.
    ///   - reads: What operators may read of payments.
    ///   - comparisons: What operators may ask of comparisons; without it there is nothing under their routes.
    ///   - site: What operators may ask of the site; without it there is nothing under its routes.
    ///   - repairs: What operators may ask of repairs; without it there is nothing under their routes.
    ///   - webhooks: What operators may ask of webhooks; without it there is nothing under their routes.
    ///   - console: What the console shows beside the answers of this API; without it there is no console.
    ///   - descriptions: What is served as the description of the interfaces.
    ///   - limits: How much is accepted.
    ///   - certificates: With what connections are encrypted. Where clients are asked for a certificate, who shows none
    ///     is answered nothing but the probes.
    ///   - logger: Gets one line for each request of an operator.
    package init(
        progress: ProgressMonitor, checks: ProbeChecks, metrics: MetricsRegistry,
        operators: OperatorDirectory, reads: OperatorReads, comparisons: OperatorComparisons? = nil,
        site: OperatorSite? = nil, repairs: OperatorRepairs? = nil, webhooks: OperatorWebhooks? = nil,
        console: ConsoleContent? = nil,
        descriptions: OperationsDescriptions = OperationsDescriptions(),
        limits: AdminLimits = AdminLimits(), certificates: Replaceable<ListenerCertificates>? = nil,
        logger: Logger
    ) {
        self.limits = limits
        self.certificates = certificates
        self.logger = logger
        func board(_ checks: [HealthCheck]) -> HealthBoard {
            HealthBoard(checks, timeout: limits.checkTimeout, freshness: limits.checkFreshness)
        }
        let probes = Probes(
            progress: progress, readiness: board(checks.readiness), startup: board(checks.startup),
            activity: board(checks.activity))
        let desk = OperatorDesk(
            reads: reads, comparisons: comparisons, repairs: repairs, webhooks: webhooks, site: site)
        history = console?.history
        let strangers = StrangersLog.ofOperators(logger)
        responder = AdminResponder(
            probes: probes, metrics: metrics, operators: operators, desk: desk,
            console: console.map {
                Console(
                    desk: desk, operators: operators, content: $0, limits: limits, isEncrypted: certificates != nil,
                    strangers: strangers, logger: logger)
            }, descriptions: descriptions, limits: limits, certificates: certificates, strangers: strangers,
            logger: logger)
    }

    /// The listener as a service, with the checks that it runs. Run it at most once.
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port; 0 for any that is free.
    ///   - onServerRunning: Is told the port once requests are accepted.
    public func application(
        host: String, port: Int, onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        var listener = HTTPListener(
            "operators", idleTimeout: limits.idleTimeout, maximumConnections: limits.maximumConnections)
        listener.certificates = certificates
        var application = listener.application(
            responder, host: host, port: port, logger: logger, onServerRunning: onServerRunning)
        let probes = responder.probes
        application.services = [probes.readiness, probes.startup, probes.activity]
        if let history { application.services.append(history) }
        return application
    }
}
