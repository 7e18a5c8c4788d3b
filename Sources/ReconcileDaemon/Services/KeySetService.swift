import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle
import SignedTokens

/// Reads the keys of signed tokens every few minutes, so that no request waits for them.
struct KeySetService: Service {
    let keeper: KeySetKeeper
    let source: KeySetSource
    let clock: any WallClock

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await keeper.refresh()
                if let readAt = await keeper.readAt {
                    Gauge(label: "reconciled_key_set_read_time_seconds").record(Double(readAt.milliseconds) / 1_000)
                }
                do {
                    // A set that is not known yet is awaited by callers.
                    let pause = await keeper.readAt == nil ? Span.seconds(10) : KeySetKeeper.interval
                    try await clock.sleep(until: clock.now() + pause)
                } catch {
                    break
                }
            }
        }
        await source.shutdown()
    }
}
