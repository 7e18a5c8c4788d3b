import Foundation
import Logging
import OperationsConsole
import PaymentAPI
import PaymentCore
import Reconciler
import ServiceLifecycle

extension Daemon {
    /// The operators' listener: probes, metrics, reads across all callers, comparisons, repairs and webhooks.
    func adminApplication(
        _ store: any PaymentStore, _ webhooks: any WebhookStore, _ site: SiteParts, _ desk: ComparisonDesk?,
        _ repairs: RepairDesk, _ registry: MetricsRegistry, _ readiness: Readiness, _ progress: ProgressMonitor,
        _ clocks: ProviderClockWatch, _ announcement: Announcement, _ logger: Logger
    ) throws -> any Service {
        let reader = PaymentReader(
            store: store, cardNumbers: configuration.cardNumbers, context: deciding(clocks))
        let running = HealthCheck("running") {
            await readiness.isReady ? .pass : .fail("starting or stopping")
        }
        let storeWorks = HealthCheck("store") {
            do throws(StoreFailure) {
                // Where nothing may be written, that it can be read is all that is asked.
                if site.gate.standing.epoch == nil { _ = try await store.now() } else { try await store.probe() }
                return .pass
            } catch {
                return .fail("\(error.code.rawValue): \(error.cause)")
            }
        }
        var limits = AdminLimits()
        limits.maximumConnections = configuration.admin.maximumConnections
        let reads = OperatorReads(
            list: { await reader.list(query: $0) }, payment: { await reader.payment($0) },
            events: { await reader.events(of: $0, query: $1) },
            explanation: { await reader.explanation(of: $0) })
        let clock = SystemClock()
        let console = ConsoleContent(
            history: ConsoleHistory(
                reads: reads, metrics: registry, providers: configuration.providers.map(\.name.name).sorted(),
                now: { clock.now() }),
            drills: DrillReports(directory: configuration.admin.drillReports))
        let api = AdminAPI(
            progress: progress,
            checks: ProbeChecks(
                readiness: [running, storeWorks], startup: [running, storeWorks],
                activity: [running, activity(site.gate)]),
            metrics: registry,
            operators: secrets.operators,
            reads: reads,
            comparisons: desk.map { OperatorComparisons(desk: $0) }, site: OperatorSite(desk: site.desk),
            repairs: OperatorRepairs(desk: repairs),
            webhooks: OperatorWebhooks(store: webhooks, document: WebhookRendering.forOperators), console: console,
            descriptions: .shipped, limits: limits, certificates: secrets.certificates.operators, logger: logger)
        return api.application(host: configuration.admin.host, port: configuration.admin.port) { port in
            await announcement.adminListens(on: port)
        }
    }
}

extension Daemon {
    /// By what payments are decided at a moment of the store's clock.
    func deciding(_ clocks: ProviderClockWatch) -> @Sendable (Timestamp) -> MachineContext {
        { [configuration] now in
            var context = configuration.machineContext(at: now)
            context.clocksInDoubt = clocks.inDoubt
            return context
        }
    }
}

/// Shows that the engine answers: it is asked every second, and `/livez` fails if it has not answered for long.
struct ProgressService: Service {
    let engine: SettlementEngine
    let progress: ProgressMonitor
    let clock: any WallClock

    func run() async throws {
        let pulse = progress.watch("engine", maximumSilence: .seconds(30))
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = await engine.activeCount
                pulse.beat()
                do {
                    try await clock.sleep(until: clock.now() + .seconds(1))
                } catch {
                    break
                }
            }
        }
        pulse.end()
    }
}
