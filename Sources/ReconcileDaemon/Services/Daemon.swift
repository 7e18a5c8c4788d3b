import Foundation
import HTTPTransport
import Hummingbird
import Logging
import Metrics
import OperationsConsole
import PaymentAPI
import PaymentCore
import PostgresStore
import ProgramEdge
import Providers
import Reconciler
import ServiceLifecycle
import SignedTokens
import UnixSignals

/// Puts the parts together and runs them until the process is told to stop.
struct Daemon {
    let configuration: Configuration
    let roles: Roles
    /// Tokens, passwords and certificates, which are replaced while it runs.
    let secrets: LiveSecrets
    private let read: @Sendable () throws -> Configuration

    /// A daemon of a configuration.
    /// - Parameter read: Reads the configuration anew, for tokens, passwords and certificates.
    init(configuration: Configuration, roles: Roles, read: @escaping @Sendable () throws -> Configuration) throws {
        secrets = try LiveSecrets(configuration)
        self.configuration = configuration.asking(secrets)
        self.roles = roles
        self.read = read
    }

    func run() async throws {
        let registry = MetricsRegistry(help: MetricsCatalogue.help, bounds: MetricsCatalogue.bounds)
        let logger = bootstrap(registry)
        MetricsCatalogue.begin(configuration.providers.map(\.name), reported: configuration.reportedCallers)
        let descriptors = try prepare(logger)
        let clock = SystemClock()
        let opening = StoreOpening(
            configuration: configuration, operators: secrets.operators, registry: registry, logger: logger)
        guard let opened = try await opening.open() else { return }
        let (store, identity) = (opened.store, opened.identity)
        let clocks = ProviderClockWatch()
        let assembled = try assembleProviders(identity, clock, clocks, logger)
        let parts = withFailpoints(store, assembled.providers)
        let settings = engineSettings(clocks)
        let engine = SettlementEngine(
            store: parts.store, providers: parts.providers, clock: clock, jitter: SystemJitter(),
            settings: settings, logger: logger)
        let site = siteParts(store, identity, engine, settings.gate, clock, logger)
        let operations = SiteOperations(
            OperationService(store: parts.store, engine: engine, clock: clock), store: store, gate: site.gate,
            site: configuration.site.name, peer: configuration.site.peer, standby: site.standby?.watch)
        // So that who is told that it listens is not turned away a moment later.
        await site.keeper?.begin()
        await site.standby?.look()
        let (readiness, progress) = (Readiness(), ProgressMonitor())
        let announcement = Announcement(expectsAPI: roles.api)
        let desk = ComparisonDesk(store: store, configuration: configuration)
        let repairs = repairDesk(store, engine, desk, clocks, logger)
        let admin = try adminApplication(
            parts.store, store, site, desk, repairs, registry, readiness, progress, clocks, announcement, logger)
        let webhooks = webhookSenders()
        var services: [any Service] = [closing(store, assembled.senders + webhooks.values, site, logger), admin]
        // Before the engine in this list, and so stopped after it: what is on the wire is written under the term.
        if let keeper = site.keeper { services.append(SiteService(keeper: keeper)) }
        if let standby = site.standby { services.append(standby) }
        services += [
            EngineService(engine: engine, grace: configuration.shutdownGrace),
            StatisticsService(
                store: parts.store, engine: engine, clock: clock,
                clocks: ProviderClockGauges(
                    providers: configuration.providers.map(\.name), watch: clocks, factory: registry),
                paths: ProviderPathGauges(paths: assembled.paths, factory: registry), logger: logger),
            SecretsService(
                secrets: secrets, configuration: configuration, read: read, clock: clock, logger: logger),
            UpkeepService(store: store, gate: site.gate, clock: clock, logger: logger),
            ClockStepService(logger: logger),
            ProgressService(engine: engine, progress: progress, clock: clock),
            SiteStatisticsService(
                gate: site.gate, keeper: site.keeper, objectives: configuration.objectives,
                keySpaces: configuration.site.keySpaces, clock: clock),
        ]
        services += webhookServices(store, webhooks, settings.gate, clock, logger)
        if let desk { services += comparing(desk, store, identity, parts.providers, engine, settings, clock, logger) }
        if roles.api {
            services += try callerServices(
                operations, store, assembled, notifications(parts.store, operations, clock),
                siteWord(site.gate, identity), descriptors, clock, announcement, logger)
        }
        services.append(ReadinessService(readiness: readiness))
        let group = ServiceGroup(configuration: serviceGroupConfiguration(services, logger))
        try await group.run()
    }

    /// What is done before the store is touched.
    private func prepare(_ logger: Logger) throws -> DescriptorBudget {
        // Until somebody listens to it, it is nothing that ends a daemon.
        signal(SIGHUP, SIG_IGN)
        let descriptors = try divideDescriptors(logger)
        if let words = configuration.site.unfenced {
            logger.warning("nothing of ours stops this site where it is cut off", metadata: ["unfenced": "\(words)"])
        }
        for line in configuration.warnings { logger.warning("\(line)") }
        // A second daemon beside this one is a mistake, and is told so.
        try FreePorts.require(configuration.admin, "admin.port")
        if roles.api { try FreePorts.require(configuration.http, "http.port") }
        return descriptors
    }

    /// Before anything is opened: who runs out of descriptors later can do nothing about it.
    private func divideDescriptors(_ logger: Logger) throws -> DescriptorBudget {
        let budget = try DescriptorBudget(configuration, available: DescriptorLimits.raise())
        logger.info(
            "file descriptors are divided",
            metadata: [
                "available": .stringConvertible(budget.available), "callers": .stringConvertible(budget.callers),
            ])
        return budget
    }

    private func closing(
        _ store: any ClosableStore, _ senders: [CurlSender], _ site: SiteParts, _ logger: Logger
    ) -> ClosingService {
        ClosingService {
            for sender in senders { await sender.shutdown() }
            await site.witness?.close()
            await site.peer?.shutdown()
            do {
                try await store.close()
            } catch {
                logger.warning("the store did not close", metadata: ["error": "\(error)"])
            }
        }
    }

    private func comparing(
        _ desk: ComparisonDesk, _ sites: any SiteStore, _ identity: StoreID?, _ providers: [any PaymentProvider],
        _ engine: SettlementEngine, _ settings: EngineSettings, _ clock: any WallClock, _ logger: Logger
    ) -> [any Service] {
        let statistics = ComparisonStatisticsService(
            store: desk.store, providers: desk.comparable, beganAt: configuration.comparison.settings.begin,
            clock: clock, logger: logger)
        guard roles.batch, configuration.comparison.isEnabled else { return [statistics] }
        let loop = ComparisonLoop(
            store: desk.store, providers: providers, settlement: engine, settings: configuration.comparison.settings,
            identity: identity, holder: settings.holder, lease: configuration.sweep.lease,
            mayWork: { settings.gate.standing.maySettle }, clock: clock, logger: logger)
        let watch = LossWatch(
            store: desk.store, sites: sites, gate: settings.gate, contracts: configuration.contracts,
            settings: configuration.comparison.settings, callersRepeatFor: configuration.site.callersRepeatFor,
            clock: clock, logger: logger)
        return [statistics, ComparisonService(loop: loop), LossWatchService(watch: watch)]
    }

    private func engineSettings(_ clocks: ProviderClockWatch) -> EngineSettings {
        var settings = EngineSettings(holder: "\(configuration.site.name)-\(UUID().uuidString)")
        settings.policy = configuration.policy
        settings.sweep = configuration.sweep
        settings.maximumActive = configuration.maximumActive
        settings.sealEvery = configuration.sealEvery
        settings.recovery = configuration.recovery
        settings.endAnswer = CreateAnswer.settled
        settings.sweeps = roles.settle
        settings.gate = configuration.siteGate()
        settings.providerClocks = clocks
        settings.commitsAreAcknowledged = configuration.commitsAreAcknowledged
        settings.standby = configuration.site.standby
        settings.acknowledgeUnconfirmedAfter = configuration.site.countUnconfirmedAfter
        settings.settleWithin = configuration.objectives.settleWithin
        return settings
    }

    private func bootstrap(_ registry: MetricsRegistry) -> Logger {
        let asJSON = configuration.logAsJSON
        let level = configuration.logLevel
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                asJSON ? JSONLogHandler(label: label) : StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        MetricsSystem.bootstrap(registry)
        return Logger(label: "reconciled")
    }

    private func serviceGroupConfiguration(
        _ services: [any Service], _ logger: Logger
    ) -> ServiceGroupConfiguration {
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger.withoutInternals)
        group.maximumGracefulShutdownDuration = (configuration.shutdownGrace + .seconds(15)).duration
        // What does not end when it is told to is left to the next start: nothing acknowledged depends on it.
        group.maximumCancellationDuration = .seconds(5)
        return group
    }
}

extension Daemon {
    /// The callers' listener, and what it needs.
    private func callerServices(
        _ operations: any PaymentOperations, _ webhooks: any WebhookStore,
        _ providers: AssembledProviders, _ notifications: ProviderNotifications,
        _ site: @escaping @Sendable () -> SiteWord, _ descriptors: DescriptorBudget, _ clock: any WallClock,
        _ announcement: Announcement, _ logger: Logger
    ) throws -> [any Service] {
        let signed = signedTokens(clock, logger)
        var limits = APILimits()
        limits.maximumBodyBytes = configuration.maximumBodyBytes
        limits.cardNumbers = configuration.cardNumbers
        limits.largestAmounts = configuration.largestAmounts
        limits.maximumConnections = descriptors.callers
        limits.maximumConcurrentRequests = descriptors.requests(configured: configuration.maximumConcurrentRequests)
        let api = CallerAPI(
            operations: operations, webhook: { id throws(StoreFailure) in try await webhooks.webhook(of: id) },
            callers: secrets.callers, signed: signed?.judge, contracts: configuration.contracts,
            amountCheck: providers.amountCheck, isCrowded: providers.isCrowded, limits: limits,
            notifications: notifications, description: PackageResources.payments_yaml, site: site,
            certificates: secrets.certificates.callers,
            clock: clock, logger: logger)
        let application = api.application(host: configuration.http.host, port: configuration.http.port) { port in
            await announcement.apiListens(on: port)
        }
        let keys: [any Service] = signed.map { [$0.service] } ?? []
        return keys + [application]
    }

    /// What judges tokens that somebody else signs, and what keeps its keys up to date.
    private func signedTokens(
        _ clock: any WallClock, _ logger: Logger
    ) -> (judge: JSONWebTokens, service: KeySetService)? {
        guard let settings = configuration.signedTokens else { return nil }
        let source = KeySetSource(settings.keys)
        let keeper = KeySetKeeper(trustedFor: settings.trustedFor, clock: clock, logger: logger) {
            try await source.read()
        }
        return (
            JSONWebTokens(settings.rules, keys: keeper, clock: clock),
            KeySetService(keeper: keeper, source: source)
        )
    }

    private func withFailpoints(
        _ store: any PaymentStore, _ providers: [any PaymentProvider]
    ) -> (store: any PaymentStore, providers: [any PaymentProvider]) {
        #if DEBUG
            if let failpoint = Failpoint(environment: ProcessInfo.processInfo.environment) {
                return (
                    FailpointStore(store: store, failpoint: failpoint),
                    providers.map { FailpointProvider(provider: $0, failpoint: failpoint) }
                )
            }
        #endif
        return (store, providers)
    }
}

extension Logger {
    /// The same, without what is below `info`: a group of services writes each service there, with all that it holds.
    var withoutInternals: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .info)
        return logger
    }
}
