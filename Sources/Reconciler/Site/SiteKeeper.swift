public import Logging
public import PaymentCore

/// Keeps a process's part of its site: reads the row, renews the lease, and lets engine and store know when the process
/// may act and when not. It decides nothing itself (``SiteMachine``).
///
/// Losing the role works at once, by ``SiteGate``; getting it takes effect once the store writes under the term and the
/// engine knows the recovery window.
public actor SiteKeeper {
    /// What the operator decided.
    public struct Settings: Sendable {
        /// The site, its proof and its lease.
        public var machine: SiteMachine.Settings
        /// The most by which clocks differ.
        public var skew: Span
        /// How often the row is read.
        public var readEvery: Span
        /// The window that the configuration opens, whatever the terms say.
        public var recovery: RecoveryWindow?
        /// The contracts of the providers.
        public var contracts: [ProviderContract]

        /// Settings. The row is read twice a second, which is how soon a promotion takes effect.
        public init(
            machine: SiteMachine.Settings, skew: Span, recovery: RecoveryWindow?, contracts: [ProviderContract]
        ) {
            self.machine = machine
            self.skew = skew
            readEvery = .milliseconds(500)
            self.recovery = recovery
            self.contracts = contracts
        }
    }

    private let store: any SiteStore
    private let witness: (any SiteWitness)?
    private let engine: SettlementEngine
    private let gate: SiteGate
    private let settings: Settings
    private let clock: any WallClock
    private let logger: Logger
    private var renewalBegan: SteadyMoment?
    private var isApplying = false
    private var complaint = ""
    private let renewals: AsyncStream<Int64>
    private let renewalSink: AsyncStream<Int64>.Continuation
    /// What was read last, for metrics.
    public private(set) var reading: SiteReading?

    /// A keeper.
    public init(
        store: any SiteStore, witness: (any SiteWitness)?, engine: SettlementEngine, gate: SiteGate,
        settings: Settings, clock: any WallClock, logger: Logger
    ) {
        self.store = store
        self.witness = witness
        self.engine = engine
        self.gate = gate
        self.settings = settings
        self.clock = clock
        self.logger = logger
        (renewals, renewalSink) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Finds out what may be done, before anybody is told that this process is there.
    public func begin() async {
        await read()
        if let epoch = wantedRenewal() { await renew(epoch) }
    }

    /// Works until the task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.readAgainAndAgain() }
            // Apart from the reading: a renewal waits as long as the standby does.
            group.addTask { for await epoch in self.renewals { await self.renew(epoch) } }
            group.addTask { for await epoch in self.store.endedTerms() { await self.ended(epoch) } }
        }
        renewalSink.finish()
    }

    private func readAgainAndAgain() async {
        while !Task.isCancelled {
            await read()
            if let epoch = wantedRenewal() { renewalSink.yield(epoch) }
            // Who is active hears of the end of its role by its next write, too; who is not waits for a promotion.
            let pause = gate.standing.isActive ? settings.readEvery + settings.readEvery : settings.readEvery
            do {
                try await clock.sleep(until: clock.now() + pause)
            } catch {
                return renewalSink.finish()
            }
        }
    }

    private func read() async {
        let began = gate.moment
        do {
            let reading = try await store.siteReading()
            take(reading, began)
            complaint = ""
        } catch {
            complain("the site's row cannot be read", error)
        }
        await apply()
    }

    private func take(_ reading: SiteReading, _ began: SteadyMoment) {
        self.reading = reading
        gate.take(.read(reading.row, isWritable: reading.database.isWritable, began: began))
    }

    private func ended(_ epoch: Int64) async {
        logger.error("the store refused a write: this site's term is over", metadata: ["epoch": "\(epoch)"])
        gate.take(.refused(epoch: epoch))
        await apply()
    }

    // MARK: The lease

    /// The term whose lease is to be renewed: this site's, a third of a lease after the last try.
    private func wantedRenewal() -> Int64? {
        guard settings.machine.proof != .none, let reading, let term = reading.row.term,
            term.site == settings.machine.site, !reading.row.phase.isOver, reading.database.isWritable
        else { return nil }
        // As long as nobody follows, there is nobody to confirm anything, and nobody who could be promoted.
        let isAlone = reading.row.leaseUntil == nil && reading.database.replication != .synchronous
        if settings.machine.proof == .standby, isAlone { return nil }
        let third = Span(milliseconds: settings.machine.lease.milliseconds / 3)
        if let renewalBegan, gate.moment - renewalBegan < third - settings.readEvery { return nil }
        return term.epoch
    }

    private func renew(_ epoch: Int64) async {
        let began = gate.moment
        renewalBegan = began
        do {
            try await prove(epoch, began)
        } catch {
            gate.take(.unproven("\(error.code.rawValue): \(error.cause)"))
            complain("the site's lease was not renewed", error)
        }
        await apply()
    }

    private func prove(_ epoch: Int64, _ began: SteadyMoment) async throws(StoreFailure) {
        let machine = settings.machine
        if let witness {
            let isOurs = try await witness.renew(
                machine.site, epoch: epoch, lease: machine.lease, skew: settings.skew)
            guard isOurs else { return gate.take(.unproven("the witness gave the right to another site")) }
            gate.take(.proven(epoch: epoch, began: began))
            await apply()
        }
        let renewal = SiteRenewal(epoch: epoch, proof: machine.proof, lease: machine.lease)
        guard let reading = try await store.renewSite(renewal) else {
            return gate.take(.unproven("the term is over"))
        }
        take(reading, began)
        if witness == nil { gate.take(.proven(epoch: epoch, began: began)) }
    }

    // MARK: Taking effect

    /// Lets everybody know what changed; one change after the other.
    private func apply() async {
        guard !isApplying else { return }
        isApplying = true
        while let standing = gate.change() {
            store.write(under: standing.epoch)
            let window = RecoveryWindow.covering(
                settings.recovery, standing.recoveries, contracts: settings.contracts)
            await engine.enter(standing.epoch, recovery: window)
            gate.tell(standing)
            log(standing, window)
            if standing.maySettle { await engine.look() }
        }
        isApplying = false
    }

    private func log(_ standing: SiteStanding, _ window: RecoveryWindow?) {
        var metadata: Logger.Metadata = [
            "site": "\(settings.machine.site)", "epoch": "\(standing.epoch ?? 0)",
            "mode": "\(standing.mode.rawValue)",
        ]
        if let window { metadata["reads_count_from"] = "\(window.readsCountFrom.rfc3339)" }
        if let refusal = standing.refusal {
            metadata["reason"] = "\(refusal)"
            return logger.warning("the site is not active", metadata: metadata)
        }
        guard !standing.isDraining else { return logger.notice("the site is being drained", metadata: metadata) }
        logger.notice("the site is active", metadata: metadata)
    }

    /// Once for each cause, not at each try.
    private func complain(_ what: Logger.Message, _ failure: StoreFailure) {
        guard complaint != failure.cause else { return }
        complaint = failure.cause
        logger.warning(what, metadata: ["error": "\(failure)"])
    }
}
