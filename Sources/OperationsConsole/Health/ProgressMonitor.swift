internal import Synchronization

/// Watches that the process's loops make progress: what `/livez` answers from, without asking any dependency.
///
/// Each loop beats when it gets around once. A loop that is silent for longer than it said it would ever be
/// has hung, and only a restart helps.
public final class ProgressMonitor: Sendable {
    private struct Loop {
        let name: String
        let maximumSilence: Duration
        var last: ContinuousClock.Instant
    }

    private struct State {
        var next = 0
        var loops: [Int: Loop] = [:]
    }

    /// One loop's way to say that it is alive.
    public struct Pulse: Sendable {
        private let monitor: ProgressMonitor
        private let id: Int

        fileprivate init(monitor: ProgressMonitor, id: Int) {
            self.monitor = monitor
            self.id = id
        }

        /// The loop got around.
        public func beat() { monitor.beat(id) }

        /// The loop ended as it should, and is not watched any more.
        public func end() { monitor.end(id) }
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// A monitor that watches nothing yet.
    /// - Parameter now: The time; only tests give another clock.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) {
        self.now = now
    }

    /// Watches a loop from now on.
    /// - Parameters:
    ///   - name: What `/livez?verbose` calls it.
    ///   - maximumSilence: The longest time between two beats of a loop that works.
    public func watch(_ name: String, maximumSilence: Duration) -> Pulse {
        let moment = now()
        let id = state.withLock { state in
            state.next += 1
            state.loops[state.next] = Loop(name: name, maximumSilence: maximumSilence, last: moment)
            return state.next
        }
        return Pulse(monitor: self, id: id)
    }

    private func beat(_ id: Int) {
        let moment = now()
        state.withLock { $0.loops[id]?.last = moment }
    }

    private func end(_ id: Int) {
        state.withLock { $0.loops[id] = nil }
    }

    /// Each loop, and whether it is alive.
    func results() -> [NamedResult] {
        let moment = now()
        let loops = state.withLock { $0.loops }
        return loops.sorted { $0.key < $1.key }.map { _, loop in
            let silence = moment - loop.last
            guard silence > loop.maximumSilence else { return NamedResult(name: loop.name, result: .pass) }
            let reason = "No progress for \(Int64(silence / .seconds(1))) s."
            return NamedResult(name: loop.name, result: .fail(reason))
        }
    }
}
