/// Everything that the decision about a repair may depend on. Nothing else does.
public struct RepairFacts: Sendable, Hashable {
    /// What the provider's own newest answer says of the target.
    public enum Shown: String, Sendable, Hashable, CaseIterable {
        /// Nothing that counts: it was not asked, or could not be.
        case nothing
        /// It is not there.
        case denied
        /// It is not decided.
        case undecided
        /// It is held.
        case held
        /// It was taken as asked; a refund was made.
        case taken
        /// It was there and stands no more, or never will: declined, released, tombstoned, given back.
        case over
        /// Something else than was asked.
        case other
    }

    /// What is proposed.
    public var action: Repair.Action
    /// Whether it is about a refund.
    public var isRefund = false
    /// Whether it is about a discrepancy.
    public var isDiscrepancy = false
    /// Whether the discrepancy is about a transaction that the provider has beyond our books, and that can be undone.
    public var isUndoable = false
    /// Whether the target waits for people.
    public var isWaiting = true
    /// Whether the target is known as it was when it was proposed.
    public var isUnchanged = true
    /// Whether the time is over in which it may be approved.
    public var isExpired = false
    /// Whether somebody decided about it before.
    public var isDecided = false
    /// Whether the one who approves it proposed it.
    public var isOwn = false
    /// What the provider shows.
    public var shown = Shown.nothing
    /// Whether the proposer said to know that the provider's own answers say something else.
    public var isAgainstProvider = false
    /// Whether the provider's reference is named.
    public var namesReference = true
    /// Whether the amount is named, and is the one that was asked for.
    public var namesAmount = true
    /// Whether the same key may still be sent again.
    public var age = EffectFacts.ResendAge.safe
    /// Whether its caller never asked for what was taken of every leg, so that nobody knows what it wants.
    public var isUnasked = false

    /// Whether it is a transaction that no request of ours made, and that is being undone.
    public var isOthers = false
    /// Whether nobody can act at its provider as that is configured: the provider is missing, or has other keys.
    public var isProviderMissing = false
    /// Whether a request of ours may still arrive at the provider.
    public var mayBeUnderWay = false

    /// Facts in which nothing stands in the way.
    public init(action: Repair.Action) { self.action = action }
}

/// What the repair table decides.
public enum RepairDecision: Sendable, Hashable {
    /// It is done.
    case carryOut
    /// It is not.
    case refuse(RepairRefusal)
}

/// Why a repair is not carried out.
public enum RepairRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// The same person cannot approve it.
    case ownProposal = "own_proposal"
    /// Somebody decided before.
    case decided
    /// Nobody decided in time.
    case expired
    /// Nothing there waits for people.
    case notWaiting = "not_waiting"
    /// Something became known of it since it was proposed.
    case changed
    /// The provider's reference, or the amount, is not named.
    case evidenceMissing = "evidence_missing"
    /// The amount is another one than was asked for.
    case otherAmount = "other_amount"
    /// The provider's own answers say something else.
    case againstProvider = "against_provider"
    /// The key may be forgotten: sent again, it may be executed a second time.
    case keyForgotten = "key_forgotten"
    /// The provider shows it: there is nothing to be sent.
    case isThere = "is_there"
    /// No request of ours made it, so that there is nothing to be sent again.
    case notOurs = "not_ours"
    /// It shows something else than was asked: what would be given back is not known.
    case notAsAsked = "not_as_asked"
    /// Its caller did not ask for it, and other legs are not taken.
    case unasked
    /// A refund has nothing that could be done so.
    case notForRefunds = "not_for_refunds"
    /// A discrepancy has nothing that could be done so.
    case notForDiscrepancies = "not_for_discrepancies"
    /// The provider has nothing there beyond our books that could be undone from here.
    case notUndoable = "not_undoable"
    /// Nothing can be sent or asked there: its provider is missing, or is configured where its keys are unknown.
    case providerMissing = "provider_missing"
    /// A request of ours may still arrive there: what the provider shows now is not the end.
    case underWay = "under_way"
    /// Its provider is not compared: nobody would begin it.
    case notCompared = "not_compared"
    /// So many entries are in a discrepancy's history that no more proposals are taken.
    case historyFull = "history_full"
}

/// The repair table (table D in docs/protocol.md): whether what one person proposed and another one approves is carried
/// out. The first row that matches wins. A person may be wrong or lie: whatever a row lets through, nothing is sent
/// that could charge twice.
public struct RepairTable: Sendable {
    /// One row of the table.
    public struct Row: Sendable {
        /// The name under which the audit trail and the documentation know it.
        public let name: String
        let matches: @Sendable (RepairFacts) -> Bool
        let decision: RepairDecision

        /// A row; other tables than the shipped one are made only by checkers that plant a change.
        public init(
            _ name: String, _ decision: RepairDecision, when matches: @escaping @Sendable (RepairFacts) -> Bool
        ) {
            self.name = name
            self.decision = decision
            self.matches = matches
        }
    }

    /// A decision and the row that made it.
    public struct Verdict: Sendable, Hashable {
        /// The row's name.
        public let row: String
        /// What to do.
        public let decision: RepairDecision
    }

    /// The rows, in order.
    public let rows: [Row]

    /// A table of the given rows.
    public init(rows: [Row]) { self.rows = rows }

    /// The first row that matches decides. Facts that no row knows change nothing.
    public func decide(_ facts: RepairFacts) -> Verdict {
        for row in rows where row.matches(facts) { return Verdict(row: row.name, decision: row.decision) }
        return Verdict(row: "no-row", decision: .refuse(.notWaiting))
    }

    /// The table that the daemon ships.
    public static let shipped = RepairTable(rows: [
        Row("repair.decided", .refuse(.decided)) { $0.isDecided },
        Row("repair.expired", .refuse(.expired)) { $0.isExpired },
        Row("repair.own", .refuse(.ownProposal)) { $0.isOwn },
        Row("repair.not-waiting", .refuse(.notWaiting)) { !$0.isWaiting },
        Row("repair.changed", .refuse(.changed)) { !$0.isUnchanged },

        // Where nobody can act, people say what became of it. Nothing else ends it where a region is lost for good.
        Row("repair.missing-sends", .refuse(.providerMissing)) {
            $0.isProviderMissing && [.sendAgain, .undo, .resume].contains($0.action)
        },
        Row("repair.missing-under-way", .refuse(.underWay)) { $0.isProviderMissing && $0.mayBeUnderWay },

        Row("repair.discrepancy-other-action", .refuse(.notForDiscrepancies)) {
            $0.isDiscrepancy && $0.action != .undo && $0.action != .writeOff
        },
        Row("repair.discrepancy-not-undoable", .refuse(.notUndoable)) {
            $0.isDiscrepancy && $0.action == .undo && !$0.isUndoable
        },
        Row("repair.discrepancy-undo", .carryOut) { $0.isDiscrepancy && $0.action == .undo },
        Row("repair.discrepancy-write-off", .carryOut) { $0.isDiscrepancy },

        Row("repair.charged-without-reference", .refuse(.evidenceMissing)) {
            $0.action == .charged && !$0.namesReference
        },
        Row("repair.charged-another-amount", .refuse(.otherAmount)) { $0.action == .charged && !$0.namesAmount },
        // A success is what its caller asked for. Where the request is lost, only what was taken of every leg tells it.
        Row("repair.charged-unasked", .refuse(.unasked)) { $0.action == .charged && $0.isUnasked },
        Row("repair.charged-against-provider", .refuse(.againstProvider)) {
            $0.action == .charged && !$0.isAgainstProvider && ![.nothing, .taken].contains($0.shown)
        },
        Row("repair.charged", .carryOut) { $0.action == .charged },

        Row("repair.never-against-provider", .refuse(.againstProvider)) {
            $0.action == .neverCharged && !$0.isAgainstProvider
                && [.undecided, .held, .taken, .other].contains($0.shown)
        },
        Row("repair.never", .carryOut) { $0.action == .neverCharged },

        Row("repair.undone-without-reference", .refuse(.evidenceMissing)) {
            $0.action == .undoneOutside && !$0.namesReference
        },
        Row("repair.undone-against-provider", .refuse(.againstProvider)) {
            $0.action == .undoneOutside && !$0.isAgainstProvider && [.undecided, .held, .taken].contains($0.shown)
        },
        Row("repair.undone", .carryOut) { $0.action == .undoneOutside },

        // Nobody here asked for it, and with which instrument it was made is not known.
        Row("repair.again-others", .refuse(.notOurs)) { $0.action == .sendAgain && $0.isOthers },
        Row("repair.again-too-old", .refuse(.keyForgotten)) { $0.action == .sendAgain && $0.age == .past },
        Row("repair.again-is-there", .refuse(.isThere)) { $0.action == .sendAgain && $0.shown == .taken },
        Row("repair.again", .carryOut) { $0.action == .sendAgain },

        Row("repair.undo-refund", .refuse(.notForRefunds)) { $0.action == .undo && $0.isRefund },
        Row("repair.undo-not-as-asked", .refuse(.notAsAsked)) { $0.action == .undo && $0.shown == .other },
        Row("repair.undo", .carryOut) { $0.action == .undo },

        Row("repair.resume", .carryOut) { $0.action == .resume },

        Row("repair.write-off-against-provider", .refuse(.againstProvider)) {
            $0.action == .writeOff && !$0.isAgainstProvider && [.undecided, .held, .taken, .other].contains($0.shown)
        },
        Row("repair.write-off", .carryOut) { $0.action == .writeOff },
    ])
}
