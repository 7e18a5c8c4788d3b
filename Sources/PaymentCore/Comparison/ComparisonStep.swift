/// What a run found of one discrepancy, kept with the run so that it can be read again. A dry run has nothing else.
public struct RunFinding: Sendable, Hashable, Codable {
    /// What became of it in the run.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// It was opened, or came back. In a dry run: it would.
        case opened
        /// It was seen again.
        case seen
        /// What the policy says was begun. In a dry run: it would.
        case acted
        /// It closed by itself. In a dry run: it would.
        case closed
    }

    /// The run.
    public let run: ComparisonRunID
    /// The discrepancy.
    public let discrepancy: DiscrepancyID
    /// When, by the store's clock.
    public let at: Timestamp
    /// What was found, with both sides.
    public let evidence: ComparisonFinding
    /// The money in question.
    public let atRisk: Money?
    /// What became of it.
    public let outcome: Outcome
    /// What the policy says is to be done.
    public let action: ComparisonAction
    /// Why it closed.
    public let closeReason: Discrepancy.CloseReason?

    /// A finding.
    public init(
        run: ComparisonRunID, discrepancy: DiscrepancyID, at: Timestamp, evidence: ComparisonFinding, atRisk: Money?,
        outcome: Outcome, action: ComparisonAction, closeReason: Discrepancy.CloseReason?
    ) {
        self.run = run
        self.discrepancy = discrepancy
        self.at = at
        self.evidence = evidence
        self.atRisk = atRisk
        self.outcome = outcome
        self.action = action
        self.closeReason = closeReason
    }
}

/// One step of a run: everything that becomes durable together, or not at all.
public struct ComparisonStep: Sendable, Hashable {
    /// The run after the step. Its `version` is the one that was read; the store writes the next.
    public var run: ComparisonRun
    /// Positions to be written in the place of those with the same provider and key. No key comes twice.
    public var positions: [ComparedPosition]
    /// Discrepancies after their change. The `version` of each is the one that was read, 0 for one that is not stored;
    /// the store writes the next. None comes twice.
    public var discrepancies: [Discrepancy]
    /// Findings to be written in the place of those with the same run and discrepancy. None comes twice.
    public var findings: [RunFinding]
    /// What the positions move: added to what stands at the provider.
    public var moved: NetSums

    /// A step.
    public init(
        run: ComparisonRun, positions: [ComparedPosition] = [], discrepancies: [Discrepancy] = [],
        findings: [RunFinding] = [], moved: NetSums = NetSums()
    ) {
        self.run = run
        self.positions = positions
        self.discrepancies = discrepancies
        self.findings = findings
        self.moved = moved
    }
}

/// What became of a step.
public enum StepResult: Sendable, Hashable {
    /// It is durable; the run has this version now.
    case recorded(version: Int64)
    /// The lease is not held any more, or the run is final; nothing was written.
    case leaseLost
    /// The run is of another version; nothing was written.
    case versionConflict
    /// A discrepancy is of another version: a person was first; nothing was written.
    case discrepancyConflict
}

/// A position that is asked for by what the provider shows of it.
public struct PositionQuestion: Sendable, Hashable {
    /// The key of the authorization or sale.
    public var key: EffectKey
    /// The payment that the transaction names.
    public var payment: PaymentID?
    /// The leg that it names; without it the payment's first leg at the provider is meant.
    public var leg: Int?

    /// A question.
    public init(key: EffectKey, payment: PaymentID? = nil, leg: Int? = nil) {
        self.key = key
        self.payment = payment
        self.leg = leg
    }

    /// The question that a remembered position asks.
    public init(_ row: ComparedPosition) {
        self.init(key: row.key, payment: row.theirs?.payment, leg: row.theirs?.leg)
    }

    /// The question that a transaction asks.
    public init(_ theirs: ListedPosition) {
        self.init(key: theirs.key, payment: theirs.payment, leg: theirs.leg)
    }
}

/// What a store knows of a key at a provider.
public struct KnownPosition: Sendable, Hashable {
    /// The key.
    public var key: EffectKey
    /// The leg of ours that has the key.
    public var ours: BookedPosition?
    /// Where no leg has it: the leg that the transaction names.
    public var named: BookedPosition?
    /// What was remembered when it was compared last.
    public var row: ComparedPosition?
    /// Where no leg has it, nor is named: the payment that the transaction names was ours, and was pruned.
    public var isPruned: Bool

    /// A position.
    public init(
        key: EffectKey, ours: BookedPosition?, named: BookedPosition? = nil, row: ComparedPosition?,
        isPruned: Bool = false
    ) {
        self.key = key
        self.ours = ours
        self.named = named
        self.row = row
        self.isPruned = isPruned
    }

    /// Whether both sides agreed when they were compared last, and our books say exactly what they said then. There is
    /// nothing to judge anew: what the provider shows later comes with its listing.
    public var isUnchanged: Bool {
        guard let row, let ours else { return false }
        return row.isAgreed && row.ours == ours
    }
}

/// A page of our legs whose payment changed in a window, in the order of ``BookedPlace``.
public struct BookedPage: Sendable, Hashable {
    /// The legs that are to be judged.
    public var positions: [KnownPosition]
    /// How many legs of the page are unchanged (``KnownPosition/isUnchanged``), which is nearly all of them. They are
    /// not told of.
    public var unchanged: Int
    /// The place of its last leg, after which the next page begins; `nil` on the last.
    public var next: BookedPlace?

    /// A page.
    public init(positions: [KnownPosition], unchanged: Int, next: BookedPlace?) {
        self.positions = positions
        self.unchanged = unchanged
        self.next = next
    }

    /// A page of the legs that were found, at most `limit`.
    public init(_ found: [KnownPosition], limit: Int) {
        let positions = found.filter { !$0.isUnchanged }
        self.init(
            positions: positions, unchanged: found.count - positions.count,
            next: found.count < limit ? nil : found.last?.ours.map { BookedPlace($0) })
    }
}
