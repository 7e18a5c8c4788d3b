public import PaymentCore

/// Invariant 16. A replica that is told to stop finishes what it has within its time and then stops, a site
/// that is to be given back is given back; meanwhile all other invariants are judged as ever.
public struct DrainsFinish: Invariant {
    /// Its number in the protocol.
    public static let number = 16
    /// What holds.
    public static let sentence =
        "drain, rolling upgrade and failback finish, and mixed versions keep the other invariants"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// How long a replica may take to stop in good order; one that hands its site over waits for the link to
    /// the other.
    public static let stopsWithin = Span.hours(2)
    /// How long a failback may take, with the two sites' leases and the links between them.
    public static let failsBackWithin = Span.days(2)

    private struct Drain {
        let replica: Int
        let since: Timestamp
    }

    private var drains: [Drain] = []
    private var failbackAsked: Timestamp?
    private var failbackSince: Timestamp?

    /// The invariant.
    public init() {}

    /// Judges what becomes of a replica.
    public mutating func replica(_ replica: Int, _ change: ReplicaChange, at: Timestamp) {
        switch change {
        case .stopping:
            guard !drains.contains(where: { $0.replica == replica }) else { return }
            drains.append(Drain(replica: replica, since: at))
            // A failback begins with the first replica that is told to stop; one that was refused never
            // began.
            if failbackAsked == at, failbackSince == nil { failbackSince = at }
        case .stopped(let kept):
            findings.require(
                kept.isEmpty, at, kept.first, "replica \(replica) stopped in order and kept \(kept.count) leases")
            finish(replica, at)
        case .started:
            // A replica that was killed while it stopped has stopped.
            finish(replica, at)
        }
    }

    private mutating func finish(_ replica: Int, _ at: Timestamp) {
        guard let index = drains.firstIndex(where: { $0.replica == replica }) else { return }
        let took = at - drains.remove(at: index).since
        findings.require(
            took <= DrainsFinish.stopsWithin, at, nil,
            "replica \(replica) took \(took.milliseconds) ms to stop")
    }

    /// Notes a fault.
    public mutating func fault(_ kind: FaultKind, at: Timestamp) {
        if kind == .failback { failbackAsked = at }
    }

    /// Judges a change of the active site.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        // Whatever still ran at the other site is over: a replica that was killed while it stopped has
        // stopped.
        drains.removeAll()
        guard let since = failbackSince else { return }
        findings.require(
            at - since <= DrainsFinish.failsBackWithin, at, nil,
            "the failback took \((at - since).milliseconds / 60_000) minutes")
        failbackSince = nil
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for drain in drains {
            findings.require(
                false, evidence.now, nil, "replica \(drain.replica) was told to stop and never did")
        }
        findings.require(failbackSince == nil, evidence.now, nil, "a failback never finished")
    }
}
