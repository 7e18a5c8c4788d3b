/// The effect table (tables A and C in docs/protocol.md): what to do about one effect. The first row that matches wins,
/// and every combination of facts has one. The rows of table A are for the authorization or sale, those of table C
/// (`ownKeyRows`) for what has a key of its own.
public struct EffectTable: Sendable {
    /// One row of the table.
    public struct Row: Sendable {
        /// The name under which the audit trail and the documentation know it.
        public let name: String
        let matches: @Sendable (EffectFacts) -> Bool
        let decision: @Sendable (EffectFacts) -> EffectDecision

        /// A row; other tables than the shipped one are made only by checkers that plant a change.
        public init(
            _ name: String, when matches: @escaping @Sendable (EffectFacts) -> Bool,
            then decision: @escaping @Sendable (EffectFacts) -> EffectDecision
        ) {
            self.name = name
            self.matches = matches
            self.decision = decision
        }

        /// Whether the row is for these facts.
        public func applies(to facts: EffectFacts) -> Bool { matches(facts) }
    }

    /// A decision and the row that made it.
    public struct Verdict: Sendable, Hashable {
        /// The row's name.
        public let row: String
        /// What to do.
        public let decision: EffectDecision
    }

    /// The rows, in order.
    public let rows: [Row]

    /// A table of the given rows.
    public init(rows: [Row]) { self.rows = rows }

    /// The table that the daemon ships.
    public static let shipped = EffectTable(rows: ownKeyRows + doRows + undoRows)

    /// The first row that matches decides. Facts that no row knows are quarantined: a table with a hole stops money,
    /// it does not move it. (A test shows that the shipped table has none.)
    public func decide(_ facts: EffectFacts) -> Verdict {
        for row in rows where row.matches(facts) {
            return Verdict(row: row.name, decision: row.decision(facts))
        }
        return Verdict(row: "no-row", decision: .quarantine(.contradiction))
    }
}

extension EffectTable.Row {
    /// A row that always decides the same.
    init(
        _ name: String, _ decision: EffectDecision, when matches: @escaping @Sendable (EffectFacts) -> Bool
    ) {
        self.init(name, when: matches, then: { _ in decision })
    }
}

extension EffectTable {
    /// The rows of table A for an authorization or sale that shall be done.
    static let doRows: [Row] = [
        Row("do.contradiction", .quarantine(.contradiction)) {
            $0.goal == .do && ($0.status == .contradiction || $0.status == .held || $0.status == .taken)
        },
        Row("do.done", .done) { $0.goal == .do && $0.status == .asAsked },
        Row("do.gone", .gone(.status)) { $0.goal == .do && $0.status.isGoneForGood },
        Row("do.declined-unbound", .goneAfterUndo) { $0.goal == .do && $0.status == .declinedUnbound },
        Row("do.unconfirmed", .quarantine(.unconfirmed)) {
            $0.goal == .do && $0.status == .pending && $0.isUnconfirmed
        },
        Row("do.undecided", .keep) {
            $0.goal == .do && ($0.status == .pending || $0.status == .unavailable)
        },
        Row("do.resend-await-listing", .awaitListing) { $0.goal == .do && $0.mayNotLearn },
        Row("do.recovery-ask-first", .inquire) {
            $0.goal == .do && $0.worst <= .throttled && $0.trust != .trusted && $0.status == .notAsked
                && !$0.isLearnedByResend
        },
        Row("do.recovery-compare-first", .awaitListing) {
            $0.goal == .do && $0.worst <= .throttled && $0.trust == .recovering
                && ($0.isOnePhase || $0.age == .past)
        },
        Row("do.recovery-await-caller", .awaitCaller) {
            $0.goal == .do && $0.awaitsCaller
                && ($0.worst <= .unsent || $0.worst == .throttled && $0.age == .safe)
        },
        Row("do.first", .sendFirst) { $0.goal == .do && $0.worst == .none },
        Row("do.had-no-effect", .sendAgain) {
            // A copy of what was throttled may yet be executed; past the retention another would be executed as well.
            $0.goal == .do && ($0.worst == .unsent || $0.worst == .throttled && $0.age == .safe)
        },
        Row("do.refused", .gone(.refused)) {
            $0.goal == .do && $0.worst == .refused && $0.trust == .trusted && $0.refusedForGood
        },
        Row("do.resend-await-caller", .awaitCaller) {
            $0.goal == .do && $0.isLearnedByResend && $0.awaitsCaller && $0.age == .safe
        },
        Row("do.resend-to-ask", .sendAgain) { $0.goal == .do && $0.isLearnedByResend && $0.age == .safe },
        Row("do.resend-too-old", .quarantine(.keyTooOld)) { $0.goal == .do && $0.isLearnedByResend },
        Row("do.refused-and-may-change", .goneAfterUndo) { $0.goal == .do && $0.worst == .refused },
        Row("do.declined", .gone(.status)) { $0.goal == .do && $0.worst == .declined && $0.declinesBound },
        Row("do.declined-and-may-change", .goneAfterUndo) { $0.goal == .do && $0.worst == .declined },
        Row("do.ask", .inquire) { $0.goal == .do && $0.status == .notAsked },
        Row("do.accepted-lagging", .awaitVisibility) {
            $0.goal == .do && $0.worst == .accepted && $0.visibility != .missedTwice
        },
        Row("do.accepted-missing", .quarantine(.acceptedButMissing)) {
            $0.goal == .do && $0.worst == .accepted
        },
        Row("do.doubt-lagging", .awaitVisibility) {
            // A stale read would turn back what is there.
            $0.goal == .do && ($0.lastRefused || $0.keyConflicts) && $0.visibility == .lagging
        },
        Row("do.refused-after-doubt", .goneAfterUndo) { $0.goal == .do && $0.lastRefused },
        Row("do.key-conflict", .quarantine(.contradiction)) { $0.goal == .do && $0.keyConflicts },
        Row("do.not-found-await-caller", .awaitCaller) {
            $0.goal == .do && $0.awaitsCaller && $0.age == .safe
        },
        Row("do.not-found-send-again", .sendAgain) { $0.goal == .do && $0.age == .safe },
        Row("do.not-found-proven", .gone(.neverHappened)) { $0.goal == .do && $0.proof == .proven && !$0.wasAccepted },
        Row("do.not-found-await-proof", .awaitProof) { $0.goal == .do && $0.proof == .notYet },
        Row("do.not-found-too-old", .quarantine(.keyTooOld)) { $0.goal == .do },
    ]

    /// The rows of table A for an authorization or sale that shall not be done, or be undone.
    static let undoRows: [Row] = [
        Row("undo.contradiction", .quarantine(.contradiction)) {
            $0.goal == .undo && ($0.status == .contradiction || $0.status == .asAsked)
        },
        Row("undo.gone", .gone(.status)) { $0.goal == .undo && $0.status.isGoneForGood },
        Row("undo.held", .void) { $0.goal == .undo && $0.status == .held },
        // Whoever captured it may want to keep it.
        Row("undo.captured-outside", .quarantine(.captureRequestLost)) {
            $0.goal == .undo && $0.status == .taken && $0.latchAcknowledged && $0.capturedByOthers
        },
        // Given back beside a dispute that is lost, it is paid twice.
        Row("undo.disputed", .awaitDispute) {
            $0.goal == .undo && $0.status == .taken && $0.latchAcknowledged && $0.isDisputed
        },
        Row("undo.taken", .refund) {
            $0.goal == .undo && $0.status == .taken && $0.latchAcknowledged
        },
        Row("undo.taken-latch-unacknowledged", .awaitAcknowledgement) {
            $0.goal == .undo && $0.status == .taken
        },
        Row("undo.unconfirmed", .quarantine(.unconfirmed)) {
            $0.goal == .undo && $0.status == .pending && $0.isUnconfirmed
        },
        Row("undo.undecided", .keep) {
            $0.goal == .undo && ($0.status == .pending || $0.status == .unavailable)
        },
        Row("undo.never-sent", .gone(.neverSent)) {
            $0.goal == .undo && $0.worst <= .unsent && $0.trust == .trusted && $0.latchAcknowledged && !$0.traceWanted
        },
        Row("undo.refused", .gone(.refused)) {
            $0.goal == .undo && $0.worst == .refused && $0.refusedForGood && $0.trust == .trusted
                && $0.latchAcknowledged && !$0.traceWanted
        },
        Row("undo.resend-await-listing", .awaitListing) { $0.goal == .undo && $0.mayNotLearn },
        Row("undo.resend-cancel-key", .cancel) {
            $0.goal == .undo && $0.isLearnedByResend && $0.tombstoneOffered && $0.memory == .whole
        },
        Row("undo.resend-to-ask", .plug) {
            $0.goal == .undo && $0.isLearnedByResend && $0.plugAllowed && $0.age == .safe
        },
        Row("undo.resend-too-old", .quarantine(.keyTooOld)) { $0.goal == .undo && $0.isLearnedByResend },
        Row("undo.ask", .inquire) { $0.goal == .undo && $0.status == .notAsked },
        Row("undo.cancel-latch-unacknowledged", .awaitAcknowledgement) {
            // It may land on a completed sale, and is then a refund.
            $0.goal == .undo && $0.tombstoneOffered && $0.cancelReversesSale && $0.isOnePhase && !$0.latchAcknowledged
        },
        Row("undo.cancel-key", .cancel) { $0.goal == .undo && $0.tombstoneOffered && $0.memory == .whole },
        Row("undo.proven", .gone(.neverHappened)) {
            $0.goal == .undo && $0.proof == .proven && !($0.wasAccepted && $0.status == .notFound)
        },
        Row("undo.await-proof", .awaitProof) { $0.goal == .undo && $0.proof == .notYet },
        Row("undo.accepted-lagging", .awaitVisibility) {
            $0.goal == .undo && $0.wasAccepted && $0.status == .notFound && $0.visibility != .missedTwice
        },
        Row("undo.accepted-missing", .quarantine(.acceptedButMissing)) {
            // What is accepted and not shown is not brought nearer to its end by sending it again.
            $0.goal == .undo && $0.wasAccepted && $0.status == .notFound
        },
        Row("undo.declined-settled", .gone(.neverHappened)) {
            $0.goal == .undo && $0.wasDeclined && $0.lifeIsOver && $0.declinesStay
        },
        Row("undo.declined-await-life", .awaitLife) {
            // Sending it again would be declined again, and a copy may yet be executed.
            $0.goal == .undo && $0.wasDeclined && $0.memory == .whole && $0.declinesStay
        },
        Row("undo.plug", .plug) { $0.goal == .undo && $0.plugAllowed && $0.age == .safe },
        Row("undo.too-old", .quarantine(.keyTooOld)) {
            $0.goal == .undo && ($0.plugAllowed || $0.tombstoneOffered)
        },
        Row("undo.impossible", .quarantine(.undoImpossible)) { $0.goal == .undo },
    ]
}

extension EffectFacts {
    /// Whether its status is learned by sending it again.
    var isLearnedByResend: Bool { isAskedByResend && status == .notAsked && isInDoubt }

    /// Whether rows were lost, so that nobody knows what would have to be sent again to learn the status.
    var mayNotLearn: Bool { isAskedByResend && status == .notAsked && trust == .recovering }

    /// Whether the last that was heard of it is a decline that may yet change: shown as one, or answered and not shown.
    fileprivate var wasDeclined: Bool {
        status == .declinedUnbound || status == .notFound && lastRefused && !wasAccepted
    }
}
