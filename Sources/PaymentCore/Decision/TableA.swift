/// Table A of the protocol: what to do about one effect. The first row that matches wins, and every combination of
/// facts has one.
public struct TableA: Sendable {
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
    public static let shipped = TableA(rows: doRows + undoRows)

    /// The first row that matches decides. Facts that no row knows are quarantined: a table with a hole stops money,
    /// it does not move it. (A test shows that the shipped table has none.)
    public func decide(_ facts: EffectFacts) -> Verdict {
        for row in rows where row.matches(facts) {
            return Verdict(row: row.name, decision: row.decision(facts))
        }
        return Verdict(row: "no-row", decision: .quarantine(.contradiction))
    }
}

private func row(
    _ name: String, _ decision: EffectDecision, when matches: @escaping @Sendable (EffectFacts) -> Bool
) -> TableA.Row {
    TableA.Row(name, when: matches, then: { _ in decision })
}

extension TableA {
    static let doRows: [Row] = [
        row("do.contradiction", .quarantine(.contradiction)) {
            $0.goal == .do && ($0.status == .contradiction || $0.status == .held || $0.status == .taken)
        },
        row("do.done", .done) { $0.goal == .do && $0.status == .asAsked },
        row("do.gone", .gone(.status)) { $0.goal == .do && $0.status.isGoneForGood },
        row("do.declined-unbound", .goneAfterUndo) { $0.goal == .do && $0.status == .declinedUnbound },
        row("do.undecided", .keep) {
            $0.goal == .do && ($0.status == .pending || $0.status == .unavailable)
        },
        row("do.recovery-ask-first", .inquire) {
            $0.goal == .do && $0.worst <= .throttled && $0.trust != .trusted && $0.status == .notAsked
        },
        row("do.recovery-compare-first", .awaitListing) {
            $0.goal == .do && $0.worst <= .throttled && $0.trust == .recovering
                && ($0.isOnePhase || $0.age == .past)
        },
        row("do.first", .sendFirst) { $0.goal == .do && $0.worst == .none },
        row("do.had-no-effect", .sendAgain) {
            // A copy of what was throttled may yet be executed; past the retention another would be executed as well.
            $0.goal == .do && ($0.worst == .unsent || $0.worst == .throttled && $0.age == .safe)
        },
        row("do.refused", .gone(.refused)) {
            $0.goal == .do && $0.worst == .refused && $0.trust == .trusted && $0.refusedForGood
        },
        row("do.refused-and-may-change", .goneAfterUndo) { $0.goal == .do && $0.worst == .refused },
        row("do.declined", .gone(.status)) { $0.goal == .do && $0.worst == .declined && $0.declinesBound },
        row("do.declined-and-may-change", .goneAfterUndo) { $0.goal == .do && $0.worst == .declined },
        row("do.ask", .inquire) { $0.goal == .do && $0.status == .notAsked },
        row("do.accepted-lagging", .awaitVisibility) {
            $0.goal == .do && $0.worst == .accepted && $0.visibility == .lagging
        },
        row("do.accepted-missing", .quarantine(.acceptedButMissing)) {
            $0.goal == .do && $0.worst == .accepted
        },
        row("do.refused-after-doubt", .goneAfterUndo) { $0.goal == .do && $0.lastRefused },
        row("do.not-found-send-again", .sendAgain) { $0.goal == .do && $0.age == .safe },
        row("do.not-found-proven", .gone(.neverHappened)) { $0.goal == .do && $0.proof == .proven && !$0.wasAccepted },
        row("do.not-found-await-proof", .awaitProof) { $0.goal == .do && $0.proof == .notYet },
        row("do.not-found-too-old", .quarantine(.keyTooOld)) { $0.goal == .do },
    ]

    static let undoRows: [Row] = [
        row("undo.contradiction", .quarantine(.contradiction)) {
            $0.goal == .undo && ($0.status == .contradiction || $0.status == .asAsked)
        },
        row("undo.gone", .gone(.status)) { $0.goal == .undo && $0.status.isGoneForGood },
        row("undo.held", .void) { $0.goal == .undo && $0.status == .held },
        row("undo.taken", .refund) {
            $0.goal == .undo && $0.status == .taken && $0.latchAcknowledged
        },
        row("undo.taken-latch-unacknowledged", .awaitAcknowledgement) {
            $0.goal == .undo && $0.status == .taken
        },
        row("undo.undecided", .keep) {
            $0.goal == .undo && ($0.status == .pending || $0.status == .unavailable)
        },
        row("undo.never-sent", .gone(.neverSent)) {
            $0.goal == .undo && $0.worst <= .unsent && $0.trust == .trusted && $0.latchAcknowledged && !$0.traceWanted
        },
        row("undo.refused", .gone(.refused)) {
            $0.goal == .undo && $0.worst == .refused && $0.refusedForGood && $0.trust == .trusted
                && $0.latchAcknowledged && !$0.traceWanted
        },
        row("undo.ask", .inquire) { $0.goal == .undo && $0.status == .notAsked },
        row("undo.cancel-latch-unacknowledged", .awaitAcknowledgement) {
            // It may land on a completed sale, and is then a refund.
            $0.goal == .undo && $0.tombstoneOffered && $0.cancelReversesSale && $0.isOnePhase && !$0.latchAcknowledged
        },
        row("undo.cancel-key", .cancel) { $0.goal == .undo && $0.tombstoneOffered },
        row("undo.proven", .gone(.neverHappened)) {
            $0.goal == .undo && $0.proof == .proven && !($0.wasAccepted && $0.status == .notFound)
        },
        row("undo.await-proof", .awaitProof) { $0.goal == .undo && $0.proof == .notYet },
        row("undo.accepted-lagging", .awaitVisibility) {
            $0.goal == .undo && $0.wasAccepted && $0.status == .notFound && $0.visibility == .lagging
        },
        row("undo.accepted-missing", .quarantine(.acceptedButMissing)) {
            // What is accepted and not shown is not brought nearer to its end by sending it again.
            $0.goal == .undo && $0.wasAccepted && $0.status == .notFound
        },
        row("undo.plug", .plug) { $0.goal == .undo && $0.plugAllowed && $0.age == .safe },
        row("undo.too-old", .quarantine(.keyTooOld)) { $0.goal == .undo && $0.plugAllowed },
        row("undo.impossible", .quarantine(.undoImpossible)) { $0.goal == .undo },
    ]
}
