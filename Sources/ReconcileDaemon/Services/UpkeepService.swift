import Logging
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Gives the store its upkeep: at the start and each hour.
struct UpkeepService: Service {
    let store: any ClosableStore
    let gate: SiteGate
    let clock: any WallClock
    let logger: Logger

    private static let every = Span.hours(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    // What is not this site's is another's to care for.
                    if gate.standing.isActive { try await store.maintain() }
                } catch {
                    // Nothing waits for it, and it is tried again.
                    logger.warning("the store had no upkeep", metadata: ["error": "\(error)"])
                }
                do {
                    try await clock.sleep(until: clock.now() + UpkeepService.every)
                } catch {
                    return
                }
            }
        }
    }
}
