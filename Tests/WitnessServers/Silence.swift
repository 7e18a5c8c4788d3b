internal import Synchronization

/// Holds up whoever asks, for as long as it is told to.
final class Silence: Sendable {
    private struct State: Sendable {
        var isKept = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Begins or ends it; who waited goes on at the end.
    func keep(_ isKept: Bool) {
        let waiting = state.withLock { state in
            state.isKept = isKept
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once there is none.
    func end() async {
        await withCheckedContinuation { continuation in
            let isKept = state.withLock { state in
                if state.isKept { state.waiting.append(continuation) }
                return state.isKept
            }
            if !isKept { continuation.resume() }
        }
    }
}
