import PaymentCore
import ProviderSimulator
import Reconciler
import Synchronization

/// Time that passes only where somebody waits, for the probe and the simulator alike.
final class VirtualClock: WallClock {
    private let moment = Mutex(Timestamp(milliseconds: 1_772_366_400_000))  // 2026-03-01T12:00:00Z

    func now() -> Timestamp { moment.withLock { $0 } }

    func sleep(until later: Timestamp) async throws {
        try Task.checkCancellation()
        moment.withLock { $0 = max($0, later) }
    }

    /// The same for a simulator.
    var ofSimulator: SimulatorClock { SimulatorClock { self.now().milliseconds } }
}
