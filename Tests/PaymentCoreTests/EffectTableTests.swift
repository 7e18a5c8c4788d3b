import PaymentCore
import Testing

/// The effect table's rows for an authorization or sale (table A in docs/protocol.md), over the whole product of what
/// they look at.
@Suite struct EffectTableTests {
    private static let table = EffectTable(rows: EffectTable.shipped.rows.filter { !$0.name.hasPrefix("own.") })

    private static func forEachFacts(_ visit: (EffectFacts) -> Void) {
        let flags = [false, true]
        for goal in EffectGoal.allCases {
            for worst in WorstAttempt.allCases {
                for status in StatusFact.allCases where status != .denied {
                    var facts = EffectFacts(goal: goal, worst: worst, status: status)
                    for trust in EffectFacts.Trust.allCases {
                        facts.trust = trust
                        for age in EffectFacts.ResendAge.allCases {
                            facts.age = age
                            for proof in EffectFacts.Proof.allCases {
                                facts.proof = proof
                                for visibility in EffectFacts.Visibility.allCases {
                                    facts.visibility = visibility
                                    for bits in 0..<64 {
                                        facts.latchAcknowledged = flags[bits & 1]
                                        facts.isOnePhase = flags[bits >> 1 & 1]
                                        facts.declinesBound = flags[bits >> 2 & 1]
                                        facts.tombstoneOffered = flags[bits >> 3 & 1]
                                        facts.plugAllowed = flags[bits >> 4 & 1]
                                        facts.lastRefused = flags[bits >> 5 & 1]
                                        // The last outcome is never worse than the worst.
                                        guard !facts.lastRefused || worst >= .refused else { continue }
                                        forEachRest(facts, visit)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What matters only for some of the other facts.
    private static func forEachRest(_ facts: EffectFacts, _ visit: (EffectFacts) -> Void) {
        var facts = facts
        let accepted = facts.worst == .indeterminate ? [false, true] : [facts.worst == .accepted]
        let cancels = facts.goal == .undo && facts.tombstoneOffered ? 4 : 1
        // Varied with what is of no matter where it matters.
        facts.refusedForGood = facts.visibility == .lagging
        facts.keyConflicts = facts.isOnePhase
        facts.capturedByOthers = facts.plugAllowed
        facts.isDisputed = facts.goal == .undo && facts.declinesBound
        facts.awaitsCaller = facts.goal == .do && facts.tombstoneOffered
        let ends: [(EffectFacts.Memory, Bool, Bool)] =
            facts.goal == .undo
            ? [(.whole, false, true), (.whole, true, true), (.mayBeLost, false, true), (.mayBeLost, true, false)]
            : [(.whole, false, true)]
        for resend in resends(facts) {
            resend.put(into: &facts)
            forEachEnd(facts, accepted, cancels, ends, visit)
        }
    }

    /// What is learned by sending again, and what of it.
    struct Resend {
        var isAskedByResend = false
        var isInDoubt = false
        var isUnconfirmed = false

        func put(into facts: inout EffectFacts) {
            facts.isAskedByResend = isAskedByResend
            facts.isInDoubt = isInDoubt
            facts.isUnconfirmed = isUnconfirmed
        }
    }

    static func resends(_ facts: EffectFacts) -> [Resend] {
        switch facts.status {
        case .pending, .unavailable: return [Resend(), Resend(isAskedByResend: true, isUnconfirmed: true)]
        case .notAsked:
            // A refusal of our credentials says nothing of the key, and a copy of what was throttled may come.
            let isDoubtful = facts.worst > .unsent && !facts.keyConflicts
            let known = [Resend(), Resend(isAskedByResend: true)]
            return known + (isDoubtful ? [Resend(isAskedByResend: true, isInDoubt: true)] : [])
        default: return [Resend()]
        }
    }

    private static func forEachEnd(
        _ facts: EffectFacts, _ accepted: [Bool], _ cancels: Int, _ ends: [(EffectFacts.Memory, Bool, Bool)],
        _ visit: (EffectFacts) -> Void
    ) {
        var facts = facts
        for wasAccepted in accepted {
            facts.wasAccepted = wasAccepted
            for bits in 0..<cancels {
                facts.cancelReversesSale = bits & 1 != 0
                facts.traceWanted = bits & 2 != 0
                for (memory, lifeIsOver, declinesStay) in ends {
                    facts.memory = memory
                    facts.lifeIsOver = lifeIsOver
                    facts.declinesStay = declinesStay
                    visit(facts)
                }
            }
        }
    }

    @Test func `every combination has one first row, and every row is the first of some`() {
        var first: [String: Int] = [:]
        var wrong: [String] = []
        var count = 0
        Self.forEachFacts { facts in
            let verdict = Self.table.decide(facts)
            first[verdict.row, default: 0] += 1
            count += 1
            if let broken = Self.violation(facts, verdict.decision), wrong.count < 10 {
                wrong.append("\(broken): \(verdict) for \(facts)")
            }
        }
        #expect(count > 1_000_000)
        #expect(first["no-row"] == nil)
        let names = Self.table.rows.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(first.keys) == Set(names), "unreached: \(Set(names).subtracting(first.keys))")
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    }

    /// What no row may decide, whatever the rows say.
    private static func violation(_ facts: EffectFacts, _ decision: EffectDecision) -> String? {
        let sends = [EffectDecision.sendFirst, .sendAgain, .plug].contains(decision)
        let undoes = [EffectDecision.void, .cancel, .refund].contains(decision)
        if let broken = violationOfSending(facts, decision, sends: sends) { return broken }
        if let broken = violationOfGone(facts, decision) { return broken }
        let isLearned = facts.isAskedByResend && facts.isInDoubt && facts.status == .notAsked
        if decision == .inquire, isLearned { return "asks a provider that cannot be asked, and would for ever" }
        if sends, facts.goal == .do, facts.awaitsCaller { return "begins what its caller was not heard about" }
        if undoes, facts.goal == .do { return "undoes what shall be done" }
        if decision == .refund, !facts.latchAcknowledged { return "a refund under an unacknowledged latch" }
        if decision == .refund, facts.status != .taken { return "a refund of what was not taken" }
        if decision == .refund, facts.isDisputed { return "a refund beside a dispute" }
        if decision == .refund, facts.capturedByOthers { return "a refund of what others captured" }
        if decision == .done, facts.status != .asAsked || facts.goal != .do { return "done, though not as asked" }
        if facts.status == .contradiction, decision != .quarantine(.contradiction) { return "a contradiction goes on" }
        if decision == .quarantine(.contradiction), facts.goal == .do,
            ![.contradiction, .held, .taken].contains(facts.status), !facts.keyConflicts
        {
            return "a contradiction that is none"
        }
        if decision == .cancel, !facts.tombstoneOffered { return "a cancel that leaves no tombstone" }
        if decision == .cancel, facts.memory == .mayBeLost { return "a tombstone on a key that may be forgotten" }
        if decision == .cancel, facts.cancelReversesSale, facts.isOnePhase, !facts.latchAcknowledged {
            return "a cancel that may reverse a sale, under an unacknowledged latch"
        }
        if decision == .quarantine(.unconfirmed) {
            return facts.status == .pending && facts.isUnconfirmed ? nil : "unconfirmed, though it is not"
        }
        let undecided = facts.status == .pending || facts.status == .unavailable
        if undecided, decision != .keep { return "decides on what is undecided" }
        return nil
    }

    private static func violationOfSending(
        _ facts: EffectFacts, _ decision: EffectDecision, sends: Bool
    ) -> String? {
        guard sends else { return nil }
        let isLearned = facts.isAskedByResend && facts.isInDoubt && facts.status == .notAsked
        // A decline that is not bound is plugged, so that it can be voided.
        let open: Set<StatusFact> = facts.goal == .undo ? [.notFound, .declinedUnbound] : [.notAsked, .notFound]
        if !open.contains(facts.status), !isLearned { return "sends what is \(facts.status)" }
        if facts.worst == .indeterminate, facts.age == .past { return "sends an old key in doubt" }
        if facts.worst == .throttled, facts.age == .past, facts.goal == .do { return "sends an old key after a 429" }
        if facts.worst == .indeterminate, facts.status == .notAsked, !isLearned { return "sends without asking" }
        if isLearned, facts.trust == .recovering { return "sends what lost rows may have ended" }
        if facts.goal == .do, !isLearned, [.refused, .declined, .accepted].contains(facts.worst) {
            return "sends again unasked"
        }
        // What is in doubt was not refused by an answer that names its key.
        if facts.goal == .do, !isLearned, facts.lastRefused || facts.keyConflicts && facts.worst == .indeterminate {
            return "sends unchanged what was refused"
        }
        if facts.trust == .recovering, facts.age == .past, facts.worst <= .throttled {
            return "sends a key of unknown age"
        }
        if decision == .plug, !facts.plugAllowed || facts.goal != .undo { return "a plug that is not allowed" }
        if decision != .plug, facts.goal == .undo { return "sends what shall not be" }
        if decision == .sendFirst, facts.worst != .none { return "a first time after others" }
        if facts.trust != .trusted, facts.status == .notAsked, !isLearned {
            return "sends on untrusted rows without asking"
        }
        if facts.trust == .recovering, facts.isOnePhase, facts.worst <= .throttled, facts.goal == .do {
            return "sells before the listings are compared"
        }
        return nil
    }

    private static func violationOfGone(_ facts: EffectFacts, _ decision: EffectDecision) -> String? {
        guard case .gone(let cause) = decision else { return nil }
        switch cause {
        case .neverSent:
            if facts.trust != .trusted || !facts.latchAcknowledged { return "never sent, on rows that may be lost" }
            if facts.worst > .unsent { return "never sent, though it was" }
            if facts.goal != .undo { return "gone, though it could be sent" }
            if facts.traceWanted { return "gone without a trace" }
        case .refused:
            if facts.worst != .refused || facts.trust != .trusted { return "refused, though more was sent" }
            if !facts.refusedForGood { return "refused, though another copy may not be" }
        case .neverHappened:
            let isDeclineOver = facts.lifeIsOver && facts.declinesStay && facts.goal == .undo
            let wasDeclined = facts.status == .declinedUnbound || facts.lastRefused
            if facts.proof != .proven, !(isDeclineOver && wasDeclined) { return "never, without a proof" }
            if facts.wasAccepted, facts.status == .notFound { return "never, though it was accepted" }
            if ![.notFound, .declinedUnbound].contains(facts.status) { return "never, against the status" }
        case .status:
            let byStatus: Set<StatusFact> = [.declinedBound, .voided, .tombstoned, .expired, .refunded]
            let byDecline = facts.worst == .declined && facts.declinesBound
            if !byStatus.contains(facts.status), !byDecline { return "gone, against the status" }
        }
        let isDoubtful = facts.worst == .indeterminate || facts.worst == .accepted
        if isDoubtful, facts.status == .notFound, facts.proof != .proven, !(facts.lifeIsOver && facts.lastRefused) {
            return "not found taken for never"
        }
        if [.asAsked, .held, .taken].contains(facts.status) { return "gone, though it is there" }
        return nil
    }

    @Test func `a table with a hole stops money`() {
        let verdict = EffectTable(rows: []).decide(EffectFacts(goal: .do, worst: .none, status: .notAsked))
        #expect(verdict.row == "no-row")
        #expect(verdict.decision == .quarantine(.contradiction))
    }

    @Test func `the worst of all outcomes counts, not the last`() {
        for first in OutcomeClass.allCases {
            for second in OutcomeClass.allCases {
                let worst = WorstAttempt.none.worsened(by: first).worsened(by: second)
                #expect(worst.rawValue == max(first, second).rawValue)
            }
        }
    }
}
