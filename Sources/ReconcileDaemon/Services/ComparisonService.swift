import Reconciler
import ServiceLifecycle

/// The comparison of both sides as a service. It has nothing to finish: a run goes on where it was recorded last.
struct ComparisonService: Service {
    let loop: ComparisonLoop

    func run() async throws {
        await cancelWhenGracefulShutdown { await loop.run() }
    }
}

/// The comparison over the time of a loss as a service: at its next start, or at another process, it goes on by what is
/// stored.
struct LossWatchService: Service {
    let watch: LossWatch

    func run() async throws {
        await cancelWhenGracefulShutdown { await watch.run() }
    }
}
