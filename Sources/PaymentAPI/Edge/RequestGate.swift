internal import Synchronization

/// Counts the requests that are being answered, so that there are never too many, and never so many of one sender that
/// the others find no room. A sender is a caller, or a provider that sends notifications.
///
/// The places are divided among the senders who have a request under way, with one share left for whoever comes next.
/// A sender who is alone in the configuration has all of them.
final class RequestGate<Sender: Hashable & Sendable>: Sendable {
    private let limit: Int
    private let senders: Int
    private let taken = Mutex<[Sender: Int]>([:])

    /// A gate.
    /// - Parameters:
    ///   - limit: Requests that are answered at the same time.
    ///   - senders: How many senders there are.
    init(limit: Int, senders: Int) {
        self.limit = limit
        self.senders = senders
    }

    /// Takes a place; says why not if there is none.
    func enter(_ sender: Sender) -> GateRefusal? {
        taken.withLock { taken in
            guard taken.values.reduce(0, +) < limit else { return .full }
            let own = taken[sender] ?? 0
            let present = taken.count + (own == 0 ? 1 : 0)
            let shares = present < senders ? present + 1 : present
            guard own < max(1, limit / shares) else { return .shareTaken }
            taken[sender] = own + 1
            return nil
        }
    }

    /// Gives the place back.
    func leave(_ sender: Sender) {
        taken.withLock { taken in
            guard let own = taken[sender] else { return }
            taken[sender] = own > 1 ? own - 1 : nil
        }
    }
}

/// Why there is no place.
enum GateRefusal: Sendable, Hashable {
    /// All are taken.
    case full
    /// The sender has taken its share.
    case shareTaken
}
