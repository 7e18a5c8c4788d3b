import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Looks each second whether a synchronous standby confirms, and tells people where none does.
struct StandbyService: Service {
    let watch: StandbyWatch
    let store: any SiteStore
    let clock: any WallClock
    let logger: Logger

    private static let every = Span.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await look()
                do {
                    try await clock.sleep(until: clock.now() + StandbyService.every)
                } catch {
                    return
                }
            }
        }
    }

    /// Looks once.
    func look() async {
        let reading: SiteReading
        do throws(StoreFailure) {
            reading = try await store.siteReading()
        } catch {
            // The store's own probe tells of it; what was seen last still counts.
            logger.debug("whether a standby confirms could not be read", metadata: ["error": "\(error)"])
            return
        }
        let change = watch.note(reading.database)
        Gauge(label: "reconciled_standby_missing").record(watch.isMissing == true ? 1 : 0)
        switch change {
        case true?:
            logger.error(
                "no synchronous standby confirms what is written: acknowledged payments would be lost with it",
                metadata: [
                    "replication": "\(reading.database.replication.rawValue)",
                    "require_standby": "\(watch.requirement.rawValue)",
                ])
        case false?: logger.notice("a synchronous standby confirms what is written")
        case nil: break
        }
    }
}
