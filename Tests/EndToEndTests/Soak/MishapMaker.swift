import PostgresServers

/// Makes the mishaps of a plan, and waits after each until payments end again.
actor MishapMaker {
    /// A daemon that was not killed has ended.
    struct DiedByItself: Error, CustomStringConvertible {
        let daemon: Int
        let end: String
        var description: String { "daemon \(daemon) ended by itself: \(end)" }
    }

    /// How long a daemon that lost its leases stands still, where they last two seconds.
    private static let pause = 2.3...4.5
    /// How long the primary is away, and how long the standby stands still: also longer than a round trip may take.
    private static let absence = 0.0...2.0
    private static let freeze = 0.3...4.5
    /// How long nothing may end after a mishap.
    private static let recovery = Duration.seconds(60)

    private let world: World
    private let pair: PostgresPair
    private let record: SoakRecord
    /// How many payments ended.
    private let finished: @Sendable () async -> Int
    /// The server that takes writes.
    private var writer = PostgresPair.Side.primary
    /// Daemons that were killed and are not back yet.
    private var down: Set<Int> = []

    init(
        _ world: World, _ pair: PostgresPair, _ record: SoakRecord,
        finished: @escaping @Sendable () async -> Int
    ) {
        self.world = world
        self.pair = pair
        self.record = record
        self.finished = finished
    }

    /// Makes them all: those of the daemons and those of the database at the same time.
    func make(_ plan: SoakPlan) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for steps in [plan.ofDaemons, plan.ofDatabase] {
                group.addTask { for step in steps { try await self.make(step) } }
            }
            for try await _ in group {}
        }
    }

    private func make(_ step: SoakPlan.Step) async throws {
        let start = ContinuousClock.now
        try await carryOut(step)
        await record.happened(step.mishap)
        let before = await finished()
        try await Polling.until("a payment ends after: \(step.mishap.rawValue)", within: MishapMaker.recovery) {
            try await requireAlive()
            return await finished() > before
        }
        await record.recovered(from: step.mishap, after: ContinuousClock.now - start)
        try await Polling.until("payments end after: \(step.mishap.rawValue)", within: MishapMaker.recovery) {
            try await requireAlive()
            return await finished() >= before + step.payments
        }
    }

    private func carryOut(_ step: SoakPlan.Step) async throws {
        switch step.mishap {
        case .kill: try await kill(step.daemon)
        case .pause: try await pause(step.daemon, within(MishapMaker.pause, step.share))
        case .terminate: try await terminate(step.share)
        case .stopPrimary:
            try await pair.stopPrimary()
            try await Polling.hold(for: within(MishapMaker.absence, step.share))
            try await pair.restartPrimary()
            try await pair.untilSynchronous()
        case .killPrimary:
            try await pair.killPrimary()
            try await Polling.hold(for: within(MishapMaker.absence, step.share))
            try await pair.restartPrimary()
            try await pair.untilSynchronous()
        case .freezeStandby:
            try await pair.freezeStandby()
            try await Polling.hold(for: within(MishapMaker.freeze, step.share))
            try pair.thawStandby()
            try await pair.untilSynchronous()
        case .failover:
            try await pair.killPrimary()
            try await pair.promoteStandby()
            writer = .standby
        }
    }

    private func within(_ range: ClosedRange<Double>, _ share: Double) -> Duration {
        .milliseconds(Int(1_000 * (range.lowerBound + share * (range.upperBound - range.lowerBound))))
    }

    /// Every daemon must be running, unless it was killed and is just being started again.
    func requireAlive() async throws {
        for number in 0..<SoakRound.daemons where !down.contains(number) {
            let daemon = await world.daemon(number)
            let end = daemon.map(\.end) ?? "it is not there"
            if let end, !down.contains(number) { throw DiedByItself(daemon: number, end: end) }
        }
    }

    private func kill(_ number: Int) async throws {
        try await requireAlive()
        down.insert(number)
        defer { down.remove(number) }
        await world.kill(number)
        try await Polling.until("daemon \(number) is back", within: MishapMaker.recovery) {
            do {
                try await world.start(number)
                return true
            } catch is DaemonProcess.NotStarted {
                // The database may be away; who runs daemons starts them again.
                await record.startedInVain()
                try await Polling.hold(for: .milliseconds(200))
                return false
            }
        }
    }

    private func pause(_ number: Int, _ duration: Duration) async throws {
        try await requireAlive()
        guard let daemon = await world.daemon(number) else { return }
        daemon.freeze()
        defer { daemon.thaw() }
        try await Polling.hold(for: duration)
    }

    private func terminate(_ share: Double) async throws {
        let ending = """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = 'reconciled' AND backend_type = 'client backend' AND random() <= \(share)
            """
        try await Polling.until("a connection is ended") { try await pair.psql(on: writer, ending) != "0" }
    }
}
