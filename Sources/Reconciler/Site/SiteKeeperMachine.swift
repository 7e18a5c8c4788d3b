public import PaymentCore

/// Keeps a process's part of its site: says when the row is read, when the lease is renewed, and what everybody is to
/// be told: a synchronous machine. What may be done is decided by ``SiteMachine``, behind ``SiteRight``.
///
/// A lease counts from before its renewal was asked for, so every answer comes with the moment at which its question
/// began.
public struct SiteKeeperMachine: Sendable {
    /// What the operator decided.
    public struct Settings: Sendable {
        /// The site, its proof and its lease.
        public var machine: SiteMachine.Settings
        /// How often the row is read.
        public var readEvery: Span
        /// The window that the configuration opens, whatever the terms say.
        public var recovery: RecoveryWindow?
        /// The contracts of the providers.
        public var contracts: [ProviderContract]
        /// In which key spaces the site sends.
        public var keySpaces: KeySpaces

        /// Settings. The row is read twice a second, which is how soon a promotion takes effect.
        public init(
            machine: SiteMachine.Settings, recovery: RecoveryWindow?, contracts: [ProviderName: ProviderContract],
            readEvery: Span = .milliseconds(500)
        ) {
            self.machine = machine
            self.readEvery = readEvery
            self.recovery = recovery
            self.contracts = Array(contracts.values)
            keySpaces = KeySpaces(contracts)
        }
    }

    /// What it is told.
    public enum Input: Sendable {
        /// The pause between two readings is over.
        case readingIsDue
        /// What the row was, by a question that began at a moment.
        case read(Result<SiteReading, StoreFailure>, began: SteadyMoment)
        /// Whether the witness prolonged the right of a term.
        case witnessed(epoch: Int64, Result<Bool, StoreFailure>, began: SteadyMoment)
        /// What the other site says.
        case peerAnswered(PeerAnswer)
        /// What came of a renewal at the store; nothing if the term is over.
        case renewed(epoch: Int64, Result<SiteReading?, StoreFailure>, began: SteadyMoment)
        /// The store refused a write of a term.
        case termEnded(epoch: Int64)
        /// The store writes under a term, and the engine knows of it.
        case applied(SiteStanding, RecoveryWindow?)
        /// The row of a term says in which key spaces the site sends.
        case keySpacesNoted(epoch: Int64)
    }

    /// What is to be done.
    public enum Job: Sendable {
        /// Read the row.
        case read
        /// Ask the witness to prolong the right of a term.
        case askWitness(epoch: Int64, known: WitnessID?)
        /// Prolong the lease at the store. It counts from `began`, where that is given, or from when it is asked for.
        case renew(SiteRenewal, began: SteadyMoment?)
        /// Ask the other site which term it knows.
        case askPeer
        /// Write down that the site acts in a term although nobody follows.
        case noteAlive(epoch: Int64)
        /// Write down in which key spaces the site sends in a term.
        case noteKeySpaces(KeySpaces, epoch: Int64)
        /// Let the store write under a term, and tell the engine of it and of the recovery window.
        case apply(SiteStanding, RecoveryWindow?)
        /// Look for what is due.
        case look
        /// Say something to the operator.
        case note(Note)
    }

    /// What the operator reads in the log.
    public enum Note: Sendable {
        /// The role changed.
        case standing(SiteStanding, RecoveryWindow?)
        /// The store refused a write of a term.
        case termOver(epoch: Int64)
        /// The row cannot be read. Said once for each cause.
        case unread(StoreFailure)
        /// The lease was not renewed. Said once for each cause.
        case unrenewed(StoreFailure)
    }

    private let settings: Settings
    private var renewalBegan: SteadyMoment?
    private var isRenewing = false
    private var peerAskedAt: SteadyMoment?
    private var isAskingPeer = false
    private var notedAliveAt: SteadyMoment?
    private var isApplying = false
    private var keySpacesNotedIn: Int64?
    private var complaint = ""
    /// What was read last.
    public private(set) var reading: SiteReading?

    /// A keeper that has read nothing yet.
    public init(_ settings: Settings) { self.settings = settings }

    /// Takes in what happened; returns what is to be done, in order.
    public mutating func handle(_ input: Input, _ right: inout SiteRight, at now: SteadyMoment) -> [Job] {
        var jobs: [Job] = []
        switch input {
        case .readingIsDue:
            // What changed is told once the answer is there: it may be good again by then, as after a standstill.
            return [.read]
        case .read(.success(let reading), let began):
            take(reading, &right, began)
            complaint = ""
            noteKeySpaces(right.told, &jobs)
            askPeer(&jobs, now)
            askForRenewal(&jobs, now)
        case .read(.failure(let failure), _):
            complain(failure, &jobs, Note.unread)
            // The last row that was read stands until the lease ends; it is renewed for as long as that can be tried.
            askForRenewal(&jobs, now)
        case .witnessed(let epoch, let result, let began):
            witnessed(epoch, result, began, &right, &jobs)
            askForRenewal(&jobs, now)
        case .peerAnswered(let answer):
            isAskingPeer = false
            right.take(.peer(answer))
        case .renewed(let epoch, let result, let began):
            isRenewing = false
            renewed(epoch, result, began, &right, &jobs)
            // One that was slow may have used up the time for the next one.
            askForRenewal(&jobs, now)
        case .termEnded(let epoch):
            jobs.append(.note(.termOver(epoch: epoch)))
            right.take(.refused(epoch: epoch))
        case .keySpacesNoted(let epoch): keySpacesNotedIn = epoch
        case .applied(let standing, let window):
            isApplying = false
            right.tell(standing)
            jobs.append(.note(.standing(standing, window)))
            if standing.maySettle { jobs.append(.look) }
        }
        noteAlive(right, &jobs, now)
        tellChange(right, &jobs, now)
        return jobs
    }

    /// How long it is until the row is read again. Who is active hears of the end of its role by its next write, too;
    /// who is not waits for a promotion.
    public func pause(_ right: SiteRight, at now: SteadyMoment) -> Span {
        right.standing(at: now).isActive ? settings.readEvery + settings.readEvery : settings.readEvery
    }

    // MARK: The lease

    private mutating func take(_ reading: SiteReading, _ right: inout SiteRight, _ began: SteadyMoment) {
        self.reading = reading
        right.take(
            .read(reading.row, isWritable: reading.database.isWritable, began: began, now: reading.now))
    }

    /// Whether the row calls this site active, in a database that takes writes.
    private var isNamed: Bool {
        guard let reading, let term = reading.row.term else { return false }
        return term.site == settings.machine.site && !reading.row.phase.isOver && reading.database.isWritable
    }

    private var thirdOfLease: Span { Span(milliseconds: settings.machine.lease.milliseconds / 3) }

    /// The other site is asked before anything is done, and each third of a lease after that: it may be active in a
    /// newer term, of which this site's database knows nothing.
    private mutating func askPeer(_ jobs: inout [Job], _ now: SteadyMoment) {
        guard settings.machine.peer != nil, isNamed, !isAskingPeer else { return }
        if let peerAskedAt, now - peerAskedAt < thirdOfLease - settings.readEvery { return }
        (peerAskedAt, isAskingPeer) = (now, true)
        jobs.append(.askPeer)
    }

    /// Whoever acts without a lease says so: a copy of this database that is started later can be told from it.
    private mutating func noteAlive(_ right: SiteRight, _ jobs: inout [Job], _ now: SteadyMoment) {
        guard settings.machine.proof == .standby, settings.machine.peer != nil, isNamed, let reading,
            reading.row.leaseUntil == nil, right.told.isActive, right.told.epoch == reading.row.epoch
        else { return }
        if let notedAliveAt, now - notedAliveAt < thirdOfLease { return }
        notedAliveAt = now
        jobs.append(.noteAlive(epoch: reading.row.epoch))
    }

    private mutating func askForRenewal(_ jobs: inout [Job], _ now: SteadyMoment) {
        guard let epoch = wantedRenewal(now) else { return }
        (renewalBegan, isRenewing) = (now, true)
        let isWitnessed = settings.machine.proof.isWitness
        let known = reading?.row.witness?.identity
        jobs.append(isWitnessed ? .askWitness(epoch: epoch, known: known) : .renew(renewal(epoch), began: nil))
    }

    /// The term whose lease is to be renewed: this site's, a third of a lease after the last try.
    private func wantedRenewal(_ now: SteadyMoment) -> Int64? {
        guard !isRenewing, settings.machine.proof != .none, isNamed, let reading, let term = reading.row.term else {
            return nil
        }
        // As long as nobody follows, there is nobody to confirm anything, and nobody who could be promoted.
        let isAlone = reading.row.leaseUntil == nil && reading.database.replication != .synchronous
        if settings.machine.proof == .standby, isAlone { return nil }
        if let renewalBegan, now - renewalBegan < thirdOfLease - settings.readEvery { return nil }
        return term.epoch
    }

    private func renewal(_ epoch: Int64) -> SiteRenewal {
        SiteRenewal(epoch: epoch, proof: settings.machine.proof, lease: settings.machine.lease)
    }

    private mutating func witnessed(
        _ epoch: Int64, _ result: Result<Bool, StoreFailure>, _ began: SteadyMoment, _ right: inout SiteRight,
        _ jobs: inout [Job]
    ) {
        switch result {
        case .success(true):
            right.take(.proven(epoch: epoch, began: began))
            // The row says until when, for whoever reads it; the right is the witness's.
            jobs.append(.renew(renewal(epoch), began: began))
        case .success(false):
            isRenewing = false
            right.take(.unproven("the witness gave the right to another site"))
        case .failure(let failure):
            isRenewing = false
            unproven(failure, &right, &jobs)
        }
    }

    private mutating func renewed(
        _ epoch: Int64, _ result: Result<SiteReading?, StoreFailure>, _ began: SteadyMoment,
        _ right: inout SiteRight, _ jobs: inout [Job]
    ) {
        switch result {
        case .success(let reading?):
            take(reading, &right, began)
            if !settings.machine.proof.isWitness { right.take(.proven(epoch: epoch, began: began)) }
        case .success(nil): right.take(.unproven("the term is over"))
        case .failure(let failure): unproven(failure, &right, &jobs)
        }
    }

    private mutating func unproven(_ failure: StoreFailure, _ right: inout SiteRight, _ jobs: inout [Job]) {
        right.take(.unproven("\(failure.code.rawValue): \(failure.cause)"))
        complain(failure, &jobs, Note.unrenewed)
    }

    private mutating func complain(_ failure: StoreFailure, _ jobs: inout [Job], _ note: (StoreFailure) -> Note) {
        guard complaint != failure.cause else { return }
        complaint = failure.cause
        jobs.append(.note(note(failure)))
    }

    // MARK: Taking effect

    /// Has everybody told what changed; one change after the other.
    private mutating func tellChange(_ right: SiteRight, _ jobs: inout [Job], _ now: SteadyMoment) {
        guard !isApplying, let standing = right.change(at: now) else { return }
        isApplying = true
        let window = RecoveryWindow.covering(
            settings.recovery, standing.recoveries, contracts: settings.contracts)
        noteKeySpaces(standing, &jobs)
        jobs.append(.apply(standing, window))
    }

    /// The row says where it sends, if the store takes it before the first request: a site that takes over after lost
    /// rows is asked to send there too.
    /// It is said once in a term, so that two daemons with different configurations do not contradict each other for
    /// ever, and again where the store did not take it.
    private func noteKeySpaces(_ standing: SiteStanding, _ jobs: inout [Job]) {
        guard standing.isActive, let epoch = standing.epoch, keySpacesNotedIn != epoch, let row = reading?.row,
            row.epoch == epoch, settings.keySpaces.added(to: row.keySpaces) != row.keySpaces
        else { return }
        jobs.append(.noteKeySpaces(settings.keySpaces, epoch: epoch))
    }
}
