package import PaymentCore
internal import Reconciler
internal import Synchronization

/// A clock that moves only when it is told to, and lets those go on who slept until then.
package final class VirtualClock: WallClock {
    private struct State {
        var now: Timestamp
        var sleepers: [Int: (until: Timestamp, sleeper: CheckedContinuation<Void, any Error>)] = [:]
        var last = 0
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// A clock that shows this moment.
    package init(at moment: Timestamp) { state = Mutex(State(now: moment)) }

    package func now() -> Timestamp { state.withLock(\.now) }

    /// The moments until which somebody sleeps, the earliest first.
    package var sleeping: [Timestamp] { state.withLock { $0.sleepers.values.map(\.until).sorted() } }

    package func sleep(until moment: Timestamp) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper in
                let isOver = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if moment <= state.now { return .success(()) }
                    state.sleepers[number] = (moment, sleeper)
                    return nil
                }
                if let isOver { sleeper.resume(with: isOver) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let found = state.sleepers.removeValue(forKey: number)
                if found == nil { state.cancelled.insert(number) }
                return found
            }
            sleeper?.sleeper.resume(throwing: CancellationError())
        }
    }

    /// Moves on.
    package func advance(by span: Span) {
        let due = state.withLock { state in
            state.now = state.now + span
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers.removeValue(forKey: number) }
            return due.values.map(\.sleeper)
        }
        for sleeper in due { sleeper.resume() }
    }
}
