import Foundation

/// Where the simulator reads the time.
///
/// Tests put a clock of their own here; nothing else reads the system's.
public struct SimulatorClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let now: @Sendable () -> Int64

    /// - Parameter now: must be callable from any thread; milliseconds since 1970.
    public init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    /// The machine's clock.
    public static let system = SimulatorClock {
        Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
    }
}
