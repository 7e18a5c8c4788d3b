/// What the store says of its site, replicated with everything else: one row.
public struct SiteRow: Sendable, Hashable {
    /// The newest term; `nil` if no daemon ever worked on the store.
    public var term: SiteTerm?
    /// How much the site does.
    public var mode: SiteMode
    /// Where the term stands.
    public var phase: SitePhase
    /// Until when the site's right to act was proven, by the database's clock. `nil` while it acts without: no standby
    /// that could be promoted has confirmed anything in this term.
    public var leaseUntil: Timestamp?
    /// From where the right was renewed last.
    public var proof: SiteProofKind
    /// How the database passed on what it committed, as the active site saw it last.
    public var replication: SiteReplication
    /// How far the log had been written when the site was drained or demoted.
    public var finalPosition: LogPosition?
    /// Losses of rows whose recovery window is still open.
    public var recoveries: [SiteRecovery]
    /// The witness that proves the right to act; `nil` if none was founded.
    public var witness: KnownWitness?
    /// When the site said last that it acts without a lease, by the database's clock; `nil` if it never did.
    public var aliveAt: Timestamp?
    /// In which key spaces the active site sends, where providers keep more than one.
    public var keySpaces: KeySpaces

    /// A row.
    public init(
        term: SiteTerm?, mode: SiteMode = .full, phase: SitePhase = .active, leaseUntil: Timestamp? = nil,
        proof: SiteProofKind = .none, replication: SiteReplication = .unknown, finalPosition: LogPosition? = nil,
        recoveries: [SiteRecovery] = [], witness: KnownWitness? = nil, aliveAt: Timestamp? = nil,
        keySpaces: KeySpaces = KeySpaces()
    ) {
        self.term = term
        self.mode = mode
        self.phase = phase
        self.leaseUntil = leaseUntil
        self.proof = proof
        self.replication = replication
        self.finalPosition = finalPosition
        self.recoveries = recoveries
        self.witness = witness
        self.aliveAt = aliveAt
        self.keySpaces = keySpaces
    }

    /// The number of the newest term; 0 if there is none.
    public var epoch: Int64 { term?.epoch ?? 0 }

    /// Whether no commit of this term is acknowledged without a standby: the store refuses to write otherwise. It is
    /// promised from the first lease on that was proven on a synchronous database.
    public var isSynchronousByPromise: Bool { leaseUntil != nil && replication == .synchronous }

    /// The row after the right to act was renewed.
    ///
    /// The lease never ends earlier than it did: another replica of the site may hold it for longer, because its
    /// configuration is another, or because the database's clock was set back.
    ///
    /// - Parameters:
    ///   - lease: for how long it was renewed.
    ///   - proof: what confirmed it.
    ///   - seen: how the database passes on what it commits. What was promised once in a term stays promised.
    ///   - now: the database's clock.
    public func renewed(
        for lease: Span, by proof: SiteProofKind, seen: SiteReplication, at now: Timestamp
    ) -> SiteRow {
        var row = self
        row.replication = isSynchronousByPromise ? .synchronous : seen
        row.leaseUntil = leaseUntil.map { max($0, now + lease) } ?? now + lease
        row.proof = proof
        return row
    }
}

/// Rows were lost at the beginning of a term, and payments are read before anything is decided about them.
public struct SiteRecovery: Sendable, Hashable, Codable {
    /// The term that began with it.
    public var epoch: Int64
    /// How they were lost.
    public var loss: RecoveryWindow.Loss
    /// The first moment at which nobody wrote to the lost rows' store any more.
    public var at: Timestamp
    /// The newest moment of which a row is still here: whatever is lost was written after it. `nil` in rows of a
    /// version that did not note it.
    public var keptUntil: Timestamp?
    /// Whether the listings of both sides over the time of the loss were compared.
    public var listingCompared: Bool

    /// A loss.
    public init(
        epoch: Int64, loss: RecoveryWindow.Loss, at: Timestamp, keptUntil: Timestamp? = nil,
        listingCompared: Bool = false
    ) {
        self.epoch = epoch
        self.loss = loss
        self.at = at
        self.keptUntil = keptUntil
        self.listingCompared = listingCompared
    }

    /// What is claimed of the loss.
    public var claim: RecoveryClaim {
        var claim = RecoveryClaim(loss, at: at)
        claim.listingCompared = listingCompared
        return claim
    }
}

extension RecoveryWindow {
    /// The window that covers every loss: that of the configuration and those of the site's terms. `nil` if there is
    /// none.
    public static func covering(
        _ configured: RecoveryWindow?, _ recoveries: [SiteRecovery], contracts: [ProviderContract]
    ) -> RecoveryWindow? {
        let windows = [configured].compactMap { $0 } + recoveries.map { $0.claim.window(contracts: contracts) }
        guard var window = windows.first else { return nil }
        for other in windows.dropFirst() {
            window.readsCountFrom = max(window.readsCountFrom, other.readsCountFrom)
            window.latestNotAfter = max(window.latestNotAfter, other.latestNotAfter)
            window.listingCompared = window.listingCompared && other.listingCompared
            window.repetition = window.repetition ?? other.repetition
        }
        return window
    }
}
