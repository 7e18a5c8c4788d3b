/// Lets only so many worlds run at a time: each has a daemon and a simulator, and time limits mean nothing on a machine
/// that runs a hundred of them at once.
actor Places {
    static let shared = Places(4)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func enter() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
