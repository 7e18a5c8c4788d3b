/// Lets only so many worlds run at a time: each has a daemon and a simulator, and time limits mean nothing on a machine
/// that runs a hundred of them at once.
actor Places {
    static let shared = Places(4)

    /// How many there are in all.
    nonisolated let count: Int
    private var free: Int
    private var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ count: Int) {
        self.count = count
        free = count
    }

    /// Takes so many places, after those who came before.
    func enter(_ places: Int = 1) async {
        if waiting.isEmpty, free >= places {
            free -= places
            return
        }
        await withCheckedContinuation { waiting.append((places, $0)) }
    }

    /// Gives so many places back.
    func leave(_ places: Int = 1) {
        free += places
        while let first = waiting.first, free >= first.places {
            free -= first.places
            waiting.removeFirst().continuation.resume()
        }
    }
}
