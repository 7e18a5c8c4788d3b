import PaymentCore
import Testing

/// The effect table's rows for what has a key of its own (table C in docs/protocol.md), over the whole product of what
/// they look at.
@Suite struct OwnKeyRowsTests {
    private static let statuses: [StatusFact] = StatusFact.allCases.filter { $0 != .held && $0 != .taken }

    private static func forEachFacts(_ visit: (EffectFacts) -> Void) {
        for purpose in EffectPurpose.allCases {
            for worst in WorstAttempt.allCases {
                for status in statuses {
                    var facts = EffectFacts(goal: .do, worst: worst, status: status)
                    facts.purpose = purpose
                    for trust in EffectFacts.Trust.allCases {
                        facts.trust = trust
                        for age in EffectFacts.ResendAge.allCases {
                            facts.age = age
                            for visibility in EffectFacts.Visibility.allCases {
                                facts.visibility = visibility
                                forEachFlags(facts, visit)
                            }
                        }
                    }
                }
            }
        }
    }

    private static func forEachFlags(_ facts: EffectFacts, _ visit: (EffectFacts) -> Void) {
        var facts = facts
        for bits in 0..<512 {
            facts.isDisputed = bits & 256 != 0
            facts.memory = bits & 128 != 0 ? .mayBeLost : .whole
            facts.declinesBound = bits & 1 != 0
            facts.lastRefused = bits & 2 != 0
            facts.refusedForGood = bits & 4 != 0
            facts.lifeIsOver = bits & 8 != 0
            facts.declinesStay = bits & 16 != 0
            facts.keyConflicts = bits & 32 != 0
            facts.refusalNamesKey = bits & 64 != 0
            // Only what gives back is beside a dispute.
            guard !facts.isDisputed || facts.purpose != .capture else { continue }
            // The last outcome is never worse than the worst.
            guard !facts.lastRefused || facts.worst >= .refused else { continue }
            for resend in EffectTableTests.resends(facts) {
                resend.put(into: &facts)
                visit(facts)
            }
        }
    }

    @Test func `every combination has one first row, and every row is the first of some`() {
        var rows: Set<String> = []
        var wrong: [String] = []
        Self.forEachFacts { facts in
            let verdict = EffectTable.shipped.decide(facts)
            rows.insert(verdict.row)
            if wrong.count < 10, let broken = Self.violation(facts, verdict.decision) {
                wrong.append("\(broken): \(verdict) for \(facts)")
            }
        }
        let names = EffectTable.shipped.rows.map(\.name).filter { $0.hasPrefix("own.") }
        #expect(rows == Set(names), "\(rows.symmetricDifference(names))")
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    }

    /// What no row may decide, whatever the rows say.
    private static func violation(_ facts: EffectFacts, _ decision: EffectDecision) -> String? {
        switch decision {
        case .sendFirst, .sendAgain: return violationOfSending(facts, decision)
        case .gone(let cause): return violationOfGone(facts, cause)
        case .goneAfterUndo: return facts.purpose == .capture ? nil : "gives up what must be certain"
        case .done: return facts.status == .asAsked ? nil : "done, though not as asked"
        case .void, .refund, .cancel, .plug: return "undoes what shall be done"
        case .quarantine(.unconfirmed):
            return facts.status == .pending && facts.isUnconfirmed ? nil : "unconfirmed, though it is not"
        case .quarantine:
            return facts.status == .pending || facts.status == .unavailable ? "decides on what is undecided" : nil
        case .keep, .inquire, .awaitListing, .awaitCaller, .awaitVisibility, .awaitProof, .awaitLife,
            .awaitAcknowledgement, .awaitDispute:
            return facts.status == .contradiction ? "a contradiction goes on" : nil
        }
    }

    private static func violationOfSending(_ facts: EffectFacts, _ decision: EffectDecision) -> String? {
        let isLearned = facts.isAskedByResend && facts.isInDoubt && facts.status == .notAsked
        if ![.notAsked, .notFound, .denied].contains(facts.status) { return "sends what is \(facts.status)" }
        if facts.worst == .indeterminate, facts.status == .notAsked, !isLearned { return "sends without asking" }
        if isLearned, facts.trust == .recovering { return "sends what lost rows may have ended" }
        if facts.worst == .indeterminate, facts.age == .past { return "sends an old key in doubt" }
        if facts.worst == .throttled, facts.age == .past { return "sends an old key after a 429" }
        // What is in doubt was not refused by an answer that names its key.
        if facts.lastRefused, !isLearned, facts.refusalNamesKey || facts.purpose != .undo {
            return "sends what was refused"
        }
        if facts.isDisputed { return "gives back beside a dispute" }
        if facts.keyConflicts, facts.worst > .throttled { return "sends under a key that is bound to another request" }
        if facts.trust != .trusted, facts.status == .notAsked, !isLearned {
            return "sends on untrusted rows without asking"
        }
        if !isLearned, [.refused, .declined, .accepted].contains(facts.worst) { return "sends again unasked" }
        return decision == .sendFirst && facts.worst != .none ? "a first time after others" : nil
    }

    private static func violationOfGone(_ facts: EffectFacts, _ cause: GoneCause) -> String? {
        if facts.purpose == .undo { return "gives up what must not fail" }
        if [.asAsked, .contradiction, .pending, .unavailable].contains(facts.status) { return "against the status" }
        switch cause {
        case .status:
            let isShown = ![.notAsked, .notFound].contains(facts.status)
            let isBoundDecline = facts.worst == .declined && facts.declinesBound
            if !isShown, !isBoundDecline { return "by a status that was not shown" }
            let mayChange = facts.status == .declinedUnbound && !(facts.lifeIsOver && facts.declinesStay)
            return mayChange ? "by a decline that may change" : nil
        case .refused:
            let isKnown = facts.worst == .refused && facts.refusedForGood && facts.trust == .trusted
            return isKnown ? nil : "by a refusal of which another copy may be executed"
        case .neverHappened:
            if !facts.lifeIsOver { return "before its requests are dead" }
            return facts.visibility == .lagging ? "by a read that may be stale" : nil
        case .neverSent:
            let isNot = facts.worst <= .unsent && (facts.trust == .trusted || facts.lifeIsOver)
            return isNot && facts.isDisputed ? nil : "never sent is for what is undone, or disputed before it was sent"
        }
    }
}
