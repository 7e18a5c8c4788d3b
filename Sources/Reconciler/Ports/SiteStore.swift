public import PaymentCore

/// Where the site's row lives, beside the payments. Every store passes the same contract suite.
///
/// Each write of a store names the term under which it is made, and is refused with the code `inactive` if that is not
/// the current one, or over. A term begins only when no transaction of an older one runs any more.
public protocol SiteStore: Sendable {
    /// The row as it is here, and what the database is.
    func siteReading() async throws(StoreFailure) -> SiteReading

    /// Prolongs the lease in the row, by the store's clock, and writes down what the active site sees; `nil` if the
    /// term is not that of the row any more, or over.
    ///
    /// With the proof `standby` it is done only if a synchronous standby confirmed it. The lease never ends earlier
    /// than it did.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable` if there is no synchronous standby, `indeterminate` if it
    ///   is not known whether it confirmed: neither proves anything.
    func renewSite(_ renewal: SiteRenewal) async throws(StoreFailure) -> SiteReading?

    /// Writes down that the site acts in this term although nobody follows, by the store's clock. It waits for no
    /// standby. Does nothing if the term is not that of the row any more, or over.
    func noteAlive(epoch: Int64) async throws(StoreFailure)

    /// Begins a term after the newest, under which this store writes from then on; `nil` if another was first. Leases
    /// on payments end with it. Numbers may be left out: a witness gave the right to a term that never began.
    ///
    /// - Parameters:
    ///   - term: the term; its `since` is the store's clock's.
    ///   - epoch: the number of the newest term that was seen, which is below the new one.
    ///   - loss: opens a recovery window.
    /// - Throws: ``StoreFailure`` with the code `incompatible` if the store cannot have a second site.
    func beginTerm(
        _ term: SiteTerm, after epoch: Int64, loss: RecoveryWindow.Loss?
    ) async throws(StoreFailure) -> SiteRow?

    /// Changes the row of a term; `nil` if the term is not that of the row any more.
    func changeSite(_ change: SiteChange, epoch: Int64) async throws(StoreFailure) -> SiteRow?

    /// The terms, newest first.
    func siteTerms(limit: Int) async throws(StoreFailure) -> [SiteTerm]

    /// How many payments are leased to somebody whose lease runs.
    func paymentsInWork() async throws(StoreFailure) -> Int

    /// Makes the database a primary, and waits until it is one.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` if it cannot become one, `unavailable` if it did not in
    ///   time.
    func promoteDatabase(within limit: Span) async throws(StoreFailure)

    /// From now on, writes are made under this term; without one they are refused.
    func write(under epoch: Int64?)

    /// Tells the number of each term under which a write was refused.
    func endedTerms() -> AsyncStream<Int64>
}

extension SiteStore {
    /// Begins the term whose number is one above the newest.
    public func beginTerm(_ term: SiteTerm, loss: RecoveryWindow.Loss?) async throws(StoreFailure) -> SiteRow? {
        try await beginTerm(term, after: term.epoch - 1, loss: loss)
    }
}

/// The other site's daemon, as far as it can be asked.
public protocol SitePeer: Sendable {
    /// The newest term that it knows.
    func newestTerm() async -> PeerAnswer
}

/// What was read of a site.
public struct SiteReading: Sendable, Hashable {
    /// The row.
    public var row: SiteRow
    /// The store's clock.
    public var now: Timestamp
    /// What the database is.
    public var database: SiteDatabase
    /// The store's identity, the same at both sites.
    public var store: StoreID?

    /// What was read.
    public init(row: SiteRow, now: Timestamp, database: SiteDatabase, store: StoreID? = nil) {
        self.store = store
        self.row = row
        self.now = now
        self.database = database
    }
}

/// A database, as it shows itself.
public struct SiteDatabase: Sendable, Hashable {
    /// Whether it takes writes.
    public var isWritable: Bool
    /// Whether it follows another whose log arrives.
    public var isStreaming: Bool
    /// Up to where the other's log arrived.
    public var received: LogPosition?
    /// Up to where it was replayed.
    public var replayed: LogPosition?
    /// Up to where its own log is written.
    public var written: LogPosition?
    /// How it passes on what it commits.
    public var replication: SiteReplication
    /// How much of its log the slowest follower has not on disk, in bytes; or, of a follower, has not replayed.
    public var lagBytes: Int64?
    /// How long ago what was replayed last was committed, while more is there; or how long the slowest follower takes.
    public var lag: Span?

    /// A database that takes writes and has no followers.
    public init(isWritable: Bool = true, replication: SiteReplication = .none) {
        self.isWritable = isWritable
        isStreaming = false
        self.replication = replication
    }

    /// What it is to the one that the active site writes to.
    public var evidence: PromotionEvidence.Database {
        isWritable ? .primary : .standby(isStreaming: isStreaming, received: received, replayed: replayed)
    }
}

/// A renewal of a site's lease.
public struct SiteRenewal: Sendable, Hashable {
    /// The term.
    public var epoch: Int64
    /// From where the right to act comes.
    public var proof: SiteProofKind
    /// How long it lasts.
    public var lease: Span

    /// A renewal.
    public init(epoch: Int64, proof: SiteProofKind, lease: Span) {
        self.epoch = epoch
        self.proof = proof
        self.lease = lease
    }
}

/// A change of the site's row within a term.
public enum SiteChange: Sendable, Hashable {
    /// To another phase. What is over stays over.
    case phase(SitePhase)
    /// To another mode.
    case mode(SiteMode)
    /// The listings of both sides over the time of a loss were compared.
    case compared(epochOfLoss: Int64)
    /// The recovery window of a loss is closed: no caller repeats any more what was asked before it.
    case recovered(epochOfLoss: Int64)
    /// From now on, this witness proves the right to act.
    case witness(KnownWitness)
    /// From now on, the site sends in these key spaces.
    case keySpaces(KeySpaces)
}

extension SiteRow {
    /// The row after a change; `nil` if it does not take it.
    public func changed(by change: SiteChange, at position: LogPosition?) -> SiteRow? {
        var row = self
        switch change {
        case .phase(let phase):
            guard !self.phase.isOver || phase == self.phase else { return nil }
            row.phase = phase
            if phase.isOver, !self.phase.isOver { row.finalPosition = position }
        case .mode(let mode):
            row.mode = mode
        case .compared(let epoch):
            guard let index = recoveries.firstIndex(where: { $0.epoch == epoch }) else { return nil }
            row.recoveries[index].listingCompared = true
        case .recovered(let epoch):
            guard recoveries.contains(where: { $0.epoch == epoch }) else { return nil }
            row.recoveries.removeAll { $0.epoch == epoch }
        case .witness(let known):
            row.witness = known
        case .keySpaces(let spaces):
            row.keySpaces = spaces.added(to: keySpaces)
        }
        return row
    }

    /// The row that a new term begins with.
    ///
    /// - Parameter newest: When the payment of this store changed that changed last; `nil` if there is none.
    public func began(_ term: SiteTerm, loss: RecoveryWindow.Loss?, newest: Timestamp?) -> SiteRow {
        var row = SiteRow(
            term: term, mode: mode, recoveries: recoveries, witness: witness, aliveAt: term.since,
            keySpaces: keySpaces)
        if let loss {
            // Commits are lost from the newest back, without gaps: what came before one that is here is here too.
            let kept = [newest, self.term?.since].compactMap { $0 }.max().map { min($0, term.since) }
            row.recoveries.append(SiteRecovery(epoch: term.epoch, loss: loss, at: term.since, keptUntil: kept))
        }
        return row
    }
}

/// A third place in which a site's right to act is kept: it and no database of a site says who has it.
///
/// Whoever asks says which witness its site's row knows. Another one, or one that lost what it knew, gives no right: it
/// throws ``StoreFailure`` with the code `incompatible`.
public protocol SiteWitness: Sendable {
    /// Gives the witness an identity if it has none; returns what is there then.
    func found(skew: Span) async throws(StoreFailure) -> WitnessContent

    /// What is there.
    func look(skew: Span) async throws(StoreFailure) -> WitnessContent

    /// Prolongs the right of a site in a term; `false` if another has it. It never ends earlier than it did.
    func renew(_ claim: WitnessClaim) async throws(StoreFailure) -> Bool

    /// Takes the right for a new term; `false` if another has it. With `isFenced`, whoever has it.
    func take(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool

    /// Gives the right back.
    func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure)
}

/// What a site asks of a witness: the right to act.
public struct WitnessClaim: Sendable, Hashable {
    /// The site.
    public var site: SiteName
    /// The term.
    public var epoch: Int64
    /// For how long.
    public var lease: Span
    /// The most by which clocks differ.
    public var skew: Span
    /// The witness that the site's row knows.
    public var witness: WitnessID?

    /// A claim.
    public init(_ site: SiteName, epoch: Int64, lease: Span, skew: Span, witness: WitnessID?) {
        self.site = site
        self.epoch = epoch
        self.lease = lease
        self.skew = skew
        self.witness = witness
    }
}

extension WitnessDoubt {
    /// What a witness throws that gives no right for this reason.
    public var failure: StoreFailure { StoreFailure(.incompatible, operation: "witness", cause: "\(self)") }
}
