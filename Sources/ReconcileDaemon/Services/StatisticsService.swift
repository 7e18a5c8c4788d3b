import CoreMetrics
import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Keeps the gauges of the store up to date.
struct StatisticsService: Service {
    let store: any PaymentStore
    let engine: SettlementEngine
    let clock: any WallClock
    let clocks: ProviderClockGauges
    let paths: ProviderPathGauges
    let logger: Logger

    private static let every = Span.seconds(5)

    func run() async throws {
        let gauges = PaymentGauges(factory: MetricsSystem.factory)
        let active = Gauge(label: "reconciled_payments_active")
        let unconfirmed = Gauge(label: "reconciled_decisions_unconfirmed")
        let longest = Gauge(label: "reconciled_oldest_unconfirmed_seconds")
        await cancelWhenGracefulShutdown {
            var process = ProcessGauges()
            while !Task.isCancelled {
                clocks.record()
                paths.record()
                process.record()
                let latches = await engine.unconfirmedLatches
                unconfirmed.record(latches.count)
                longest.record(Double((latches.since.map { clock.now() - $0 } ?? .zero).milliseconds) / 1_000)
                do {
                    gauges.record(try await store.statistics(), now: clock.now())
                    active.record(await engine.activeCount)
                } catch {
                    logger.warning("the store could not be counted", metadata: ["error": "\(error)"])
                }
                do {
                    try await clock.sleep(until: clock.now() + StatisticsService.every)
                } catch {
                    return
                }
            }
        }
    }
}
