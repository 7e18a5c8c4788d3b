internal import PaymentCore
internal import Synchronization

/// Counts the requests that are being answered, so that there are never too many, and never so many of one caller that
/// the others find no room.
///
/// The places are divided among the callers who have a request under way, with one share left for whoever comes next.
/// A caller who is alone in the configuration has all of them.
final class RequestGate: Sendable {
    /// Why there is no place.
    enum Refusal: Sendable, Hashable {
        /// All are taken.
        case full
        /// The caller has taken its share.
        case shareTaken
    }

    private let limit: Int
    private let callers: Int
    private let taken = Mutex<[CallerID: Int]>([:])

    /// A gate.
    /// - Parameters:
    ///   - limit: Requests that are answered at the same time.
    ///   - callers: How many callers there are.
    init(limit: Int, callers: Int) {
        self.limit = limit
        self.callers = callers
    }

    /// Takes a place; says why not if there is none.
    func enter(_ caller: CallerID) -> Refusal? {
        taken.withLock { taken in
            guard taken.values.reduce(0, +) < limit else { return .full }
            let own = taken[caller] ?? 0
            let present = taken.count + (own == 0 ? 1 : 0)
            let shares = present < callers ? present + 1 : present
            guard own < max(1, limit / shares) else { return .shareTaken }
            taken[caller] = own + 1
            return nil
        }
    }

    /// Gives the place back.
    func leave(_ caller: CallerID) {
        taken.withLock { taken in
            guard let own = taken[caller] else { return }
            taken[caller] = own > 1 ? own - 1 : nil
        }
    }
}
