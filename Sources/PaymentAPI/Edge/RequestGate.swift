internal import Synchronization

/// Counts the requests that are being answered, so that there are never too many.
final class RequestGate: Sendable {
    private let limit: Int
    private let count = Mutex(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a place; `false` if there is none.
    func enter() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    /// Gives the place back.
    func leave() {
        count.withLock { $0 -= 1 }
    }
}
