@testable import Lab

/// What happens to the daemons and to their database.
enum Mishap: String, CaseIterable, Sendable {
    /// A daemon is killed with `kill -9` and started again.
    case kill = "daemon killed"
    /// A daemon is stopped for longer than its leases last, and goes on.
    case pause = "daemon frozen past its lease"
    /// Some of the daemons' connections are ended by the server.
    case terminate = "connections ended"
    /// The primary is shut down and started again.
    case stopPrimary = "primary restarted"
    /// The primary loses its power and is started again.
    case killPrimary = "primary killed"
    /// The standby stands still; commits wait for it.
    case freezeStandby = "standby frozen"
    /// The primary loses its power for good, and the standby takes its place.
    case failover = "failover"

    /// Whether it happens to a daemon; the others happen to the database, at the same time.
    var isOfDaemons: Bool { self == .kill || self == .pause }

    /// Whether it takes both servers, which are there only before the failover.
    var needsPair: Bool { self == .stopPrimary || self == .killPrimary || self == .freezeStandby }
}

/// The mishaps of one round, which depend on the seed alone.
struct SoakPlan: Sendable, Equatable {
    /// One mishap.
    struct Step: Sendable, Equatable {
        let mishap: Mishap
        /// Which daemon it happens to.
        let daemon: Int
        /// How much of the range of its duration it takes, or how many of the connections.
        let share: Double
        /// How many payments must end before the next one.
        let payments: Int
    }

    /// Those that happen to daemons, in order.
    let ofDaemons: [Step]
    /// Those that happen to the database, in order, at the same time.
    let ofDatabase: [Step]

    /// How many mishaps a round has at most.
    static let largest = 25
    /// How often each happens among so many; the failover, once in a round, comes on top.
    private static let deck: [Mishap] = [
        .kill, .kill, .kill, .pause, .pause, .terminate, .terminate, .terminate, .stopPrimary, .killPrimary,
        .freezeStandby,
    ]

    /// - Parameter count: how many mishaps there are; a failover is among them from four.
    init(count: Int, daemons: Int, seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let hasFailover = count >= 4
        var dealt: [Mishap] = []
        while dealt.count < count - (hasFailover ? 1 : 0) { dealt += SoakPlan.deck.shuffled(using: &numbers) }
        dealt = Array(dealt.prefix(max(0, count - (hasFailover ? 1 : 0))))
        func step(_ mishap: Mishap) -> Step {
            Step(
                mishap: mishap, daemon: Int.random(in: 0..<daemons, using: &numbers),
                share: Double.random(in: 0...1, using: &numbers), payments: Int.random(in: 5...40, using: &numbers))
        }
        ofDaemons = dealt.filter(\.isOfDaemons).map(step)
        var before = dealt.filter { !$0.isOfDaemons }
        var after: [Mishap] = []
        if hasFailover {
            // What does not take both servers may come before or after.
            let later = before.map { !$0.needsPair && Bool.random(using: &numbers) }
            after = zip(before, later).filter(\.1).map(\.0)
            before = zip(before, later).filter { !$0.1 }.map(\.0) + [.failover]
        }
        ofDatabase = (before + after).map(step)
    }

    /// The rounds that have so many mishaps together.
    static func rounds(mishaps: Int, daemons: Int, seed: UInt64) -> [SoakPlan] {
        let count = max(1, (mishaps + largest - 1) / largest)
        return (0..<count).map { round in
            let own = mishaps / count + (round < mishaps % count ? 1 : 0)
            return SoakPlan(count: own, daemons: daemons, seed: seed &* 1_000_003 &+ UInt64(round))
        }
    }
}
