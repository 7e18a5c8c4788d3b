import Reconciler
import ServiceLifecycle

/// The comparison of both sides as a service. It has nothing to finish: a run goes on where it was recorded last.
struct ComparisonService: Service {
    let loop: ComparisonLoop

    func run() async throws {
        await cancelWhenGracefulShutdown { await loop.run() }
    }
}
