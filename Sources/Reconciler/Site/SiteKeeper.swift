public import Logging
public import PaymentCore

/// Keeps a process's part of its site: reads the row, renews the lease, and lets engine and store know when the process
/// may act and when not. It decides nothing itself (``SiteKeeperMachine``).
///
/// Losing the role works at once, by ``SiteGate``; getting it takes effect once the store writes under the term and the
/// engine knows the recovery window.
public actor SiteKeeper {
    /// What the operator decided.
    public struct Settings: Sendable {
        /// What the machine goes by.
        public var machine: SiteKeeperMachine.Settings
        /// The most by which clocks differ.
        public var skew: Span

        /// Settings.
        public init(machine: SiteKeeperMachine.Settings, skew: Span) {
            self.machine = machine
            self.skew = skew
        }

        var site: SiteMachine.Settings { machine.machine }
    }

    private let store: any SiteStore
    private let witness: (any SiteWitness)?
    private let peer: (any SitePeer)?
    private let engine: SettlementEngine
    private let gate: SiteGate
    private let settings: Settings
    private let clock: any WallClock
    private let logger: Logger
    private var machine: SiteKeeperMachine
    private let renewals: AsyncStream<SiteKeeperMachine.Job>
    private let renewalSink: AsyncStream<SiteKeeperMachine.Job>.Continuation
    private let questions: AsyncStream<SiteKeeperMachine.Job>
    private let questionSink: AsyncStream<SiteKeeperMachine.Job>.Continuation
    /// Whether renewals are carried out beside the reading.
    private var isRunning = false

    /// What was read last, for metrics.
    public var reading: SiteReading? { machine.reading }

    /// A keeper.
    public init(
        store: any SiteStore, witness: (any SiteWitness)?, peer: (any SitePeer)? = nil, engine: SettlementEngine,
        gate: SiteGate, settings: Settings, clock: any WallClock, logger: Logger
    ) {
        self.store = store
        self.witness = witness
        self.peer = peer
        self.engine = engine
        self.gate = gate
        self.settings = settings
        self.clock = clock
        self.logger = logger
        machine = SiteKeeperMachine(settings.machine)
        (renewals, renewalSink) = AsyncStream.makeStream(of: SiteKeeperMachine.Job.self)
        (questions, questionSink) = AsyncStream.makeStream(of: SiteKeeperMachine.Job.self)
    }

    /// Finds out what may be done, before anybody is told that this process is there.
    public func begin() async { await take(.readingIsDue) }

    /// Works until the task is cancelled.
    public func run() async {
        isRunning = true
        await withDiscardingTaskGroup { group in
            group.addTask { await self.readAgainAndAgain() }
            // Apart from the reading: a renewal waits as long as the standby does.
            group.addTask { for await job in self.renewals { await self.renew(job) } }
            // Apart from both: the other site may take its time, or never answer.
            group.addTask { for await _ in self.questions { await self.askPeer() } }
            group.addTask { for await epoch in self.store.endedTerms() { await self.take(.termEnded(epoch: epoch)) } }
        }
        renewalSink.finish()
        questionSink.finish()
    }

    private func readAgainAndAgain() async {
        while !Task.isCancelled {
            await take(.readingIsDue)
            let pause = gate.update { right, now in machine.pause(right, at: now) }
            do {
                try await clock.sleep(until: clock.now() + pause)
            } catch {
                break
            }
        }
        renewalSink.finish()
        questionSink.finish()
    }

    /// Tells the machine what happened, and carries out what it wants done.
    private func take(_ input: SiteKeeperMachine.Input) async {
        let jobs = gate.update { right, now in machine.handle(input, &right, at: now) }
        for job in jobs { await carryOut(job) }
    }

    private func carryOut(_ job: SiteKeeperMachine.Job) async {
        switch job {
        case .read:
            let began = gate.moment
            let reading = await stored { () async throws(StoreFailure) in try await store.siteReading() }
            await take(.read(reading, began: began))
        case .askWitness, .renew, .noteAlive:
            if isRunning { renewalSink.yield(job) } else { await renew(job) }
        case .askPeer:
            if isRunning { questionSink.yield(job) } else { await askPeer() }
        case .noteKeySpaces(let spaces, let epoch): await note(spaces, epoch)
        case .apply(let standing, let window):
            store.write(under: standing.epoch)
            await engine.enter(standing.epoch, recovery: window)
            await take(.applied(standing, window))
        case .look: await engine.look()
        case .note(let note): log(note)
        }
    }

    private func renew(_ job: SiteKeeperMachine.Job) async {
        let began = gate.moment
        switch job {
        case .askWitness(let epoch, let known):
            let answer = await stored { () async throws(StoreFailure) in
                guard let witness else {
                    throw StoreFailure(.unavailable, operation: "witness", cause: "none is configured")
                }
                return try await witness.renew(
                    WitnessClaim(
                        settings.site.site, epoch: epoch, lease: settings.site.lease, skew: settings.skew,
                        witness: known))
            }
            await take(.witnessed(epoch: epoch, answer, began: began))
        case .renew(let renewal, let before):
            let reading = await stored { () async throws(StoreFailure) in try await store.renewSite(renewal) }
            await take(.renewed(epoch: renewal.epoch, reading, began: before ?? began))
        case .noteAlive(let epoch):
            do throws(StoreFailure) {
                try await store.noteAlive(epoch: epoch)
            } catch {
                // It is said again, and nothing is done by it but at a start.
                logger.debug("that the site acts was not written down", metadata: ["error": "\(error)"])
            }
        case .read, .noteKeySpaces, .apply, .look, .note, .askPeer: await carryOut(job)
        }
    }

    private func note(_ spaces: KeySpaces, _ epoch: Int64) async {
        do throws(StoreFailure) {
            _ = try await store.changeSite(.keySpaces(spaces), epoch: epoch)
            await take(.keySpacesNoted(epoch: epoch))
        } catch {
            logger.error("the site's key spaces were not written down", metadata: ["error": "\(error)"])
        }
    }

    private func askPeer() async {
        let answer = await peer?.newestTerm() ?? .silent("it cannot be asked")
        await take(.peerAnswered(answer))
    }

    private func stored<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async -> Result<Value, StoreFailure> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    private func log(_ note: SiteKeeperMachine.Note) {
        switch note {
        case .standing(let standing, let window): log(standing, window)
        case .termOver(let epoch):
            logger.error("the store refused a write: this site's term is over", metadata: ["epoch": "\(epoch)"])
        case .unread(let failure):
            logger.warning("the site's row cannot be read", metadata: ["error": "\(failure)"])
        case .unrenewed(let failure):
            logger.warning("the site's lease was not renewed", metadata: ["error": "\(failure)"])
        }
    }

    private func log(_ standing: SiteStanding, _ window: RecoveryWindow?) {
        var metadata: Logger.Metadata = [
            "site": "\(settings.site.site)", "epoch": "\(standing.epoch ?? 0)",
            "mode": "\(standing.mode.rawValue)",
        ]
        if let window { metadata["reads_count_from"] = "\(window.readsCountFrom.rfc3339)" }
        if let refusal = standing.refusal {
            metadata["reason"] = "\(refusal)"
            // Each start begins with it.
            if case .peerNotAsked = refusal { return logger.debug("the site is not active", metadata: metadata) }
            return logger.warning("the site is not active", metadata: metadata)
        }
        guard !standing.isDraining else { return logger.notice("the site is being drained", metadata: metadata) }
        logger.notice("the site is active", metadata: metadata)
    }
}
