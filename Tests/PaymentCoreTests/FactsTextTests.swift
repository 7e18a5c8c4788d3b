import PaymentCore
import SeededChance
import Testing

/// The facts of a decision, as the trail keeps them: what is written is read again as it was.
@Suite struct FactsTextTests {
    private func effectFacts(_ chance: inout SeededChance) -> EffectFacts {
        func pick<Value>(_ values: [Value], _ chance: inout SeededChance) -> Value {
            values[chance.below(values.count)]
        }
        var facts = EffectFacts(
            goal: pick(EffectGoal.allCases, &chance), worst: pick(WorstAttempt.allCases, &chance),
            status: pick(StatusFact.allCases, &chance))
        facts.trust = pick(EffectFacts.Trust.allCases, &chance)
        facts.age = pick(EffectFacts.ResendAge.allCases, &chance)
        facts.proof = pick(EffectFacts.Proof.allCases, &chance)
        facts.visibility = pick(EffectFacts.Visibility.allCases, &chance)
        facts.memory = pick(EffectFacts.Memory.allCases, &chance)
        facts.purpose = pick([nil] + EffectPurpose.allCases, &chance)
        let flags: [WritableKeyPath<EffectFacts, Bool>] = [
            \.awaitsCaller, \.lifeIsOver, \.declinesStay, \.keyConflicts, \.refusalNamesKey, \.wasAccepted,
            \.refusedForGood, \.latchAcknowledged, \.capturedByOthers, \.isOnePhase, \.declinesBound,
            \.tombstoneOffered, \.cancelReversesSale, \.plugAllowed, \.traceWanted, \.lastRefused, \.isDisputed,
            \.isAskedByResend, \.isInDoubt, \.isUnconfirmed,
        ]
        for flag in flags { facts[keyPath: flag] = chance.below(2) == 0 }
        return facts
    }

    /// All facts but those of the enumerations above are flags: one that is added and not recorded is noticed here.
    @Test func `every fact is recorded`() {
        let facts = EffectFacts(goal: .undo, worst: .accepted, status: .held)
        let fields = Mirror(reflecting: facts).children.count
        #expect(fields == 29, "a new fact: record it in FactsText.swift, and draw it in this test")
        let payment = PaymentFacts(latch: .none, legs: [PaymentFacts.Leg(isOnePhase: false, standing: .open)])
        #expect(Mirror(reflecting: payment).children.count == 8)
        #expect(Mirror(reflecting: payment.legs[0]).children.count == 7)
    }

    @Test func `the facts of an effect are read as they were written, and decide the same`() {
        var chance = SeededChance(seed: 20_261_126)
        for _ in 0..<3_000 {
            let facts = effectFacts(&chance)
            let read = EffectFacts(text: facts.text)
            #expect(read == facts, "\(facts.text)")
            #expect(read.map { EffectTable.shipped.decide($0) } == EffectTable.shipped.decide(facts))
        }
    }

    @Test func `the facts of a payment are read as they were written`() {
        var chance = SeededChance(seed: 4)
        for _ in 0..<3_000 {
            let legs = (0..<chance.below(4)).map { _ in
                PaymentFacts.Leg(
                    isOnePhase: chance.below(2) == 0,
                    standing: PaymentFacts.Standing.allCases[chance.below(6)],
                    forward: PaymentFacts.Forward.allCases[chance.below(3)],
                    freshlyRead: chance.below(2) == 0, isAsked: chance.below(2) == 0,
                    isCapturedWithPeople: chance.below(2) == 0, isDenied: chance.below(2) == 0)
            }
            let facts = PaymentFacts(
                latch: Latch.allCases[chance.below(4)], legs: legs, stopAsked: chance.below(2) == 0,
                holdOnly: chance.below(2) == 0, inRecovery: chance.below(2) == 0,
                mayHaveLostRequests: chance.below(2) == 0, latchAcknowledged: chance.below(2) == 0,
                hasCaptureRequest: chance.below(2) == 0)
            #expect(PaymentFacts(text: facts.text) == facts, "\(facts.text)")
        }
    }

    /// Trails that were written once are read by every later version.
    @Test func `the text is a format`() {
        var facts = EffectFacts(goal: .undo, worst: .indeterminate, status: .notFound)
        facts.trust = .recoveringCompared
        facts.proof = .notYet
        facts.tombstoneOffered = false
        #expect(
            facts.text == "goal=undo worst=indeterminate status=not_found trust=recovering_compared proof=not_yet "
                + "tombstone_offered=no")
        let legs = [
            PaymentFacts.Leg(isOnePhase: true, standing: .open, isDenied: true),
            PaymentFacts.Leg(isOnePhase: false, standing: .held, freshlyRead: false),
        ]
        #expect(
            PaymentFacts(latch: .none, legs: legs, stopAsked: true).text
                == "latch=none stop_asked=yes legs=open/wanted/one_phase/freshly_read/asked/denied;held/wanted/asked")
    }

    @Test(arguments: [
        "", "goal=do", "goal=do worst=none", "goal=do worst=none status=lost", "goal=do worst=none status=held what=no",
        "goal=do worst=none status=held age=old", "goal=do goal=do worst=none status=held",
        "goal=do worst=none status=held one_phase=maybe", "goal worst=none status=held",
    ])
    func `what is no text of this version is not read`(_ text: String) {
        #expect(EffectFacts(text: text) == nil)
    }

    @Test(arguments: [
        "", "legs=open/wanted", "latch=sideways", "latch=none legs=open", "latch=none legs=open/wanted/x",
    ])
    func `what is no text of a payment's facts is not read`(_ text: String) {
        #expect(PaymentFacts(text: text) == nil)
    }
}

/// A recorded decision is made again by the tables.
@Suite struct ReplayedDecisionTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func entry(_ fields: [AuditField]) throws -> AuditEntry {
        let payment = try fixture.stage([.reference]).durable
        return AuditEntry(
            after: .empty(payment.id), payment: payment.id, at: fixture.start, type: .decision, leg: 0, fields: fields)
    }

    @Test func `the same row, another row, and facts of another version`() throws {
        let facts = EffectFacts(goal: .undo, worst: .indeterminate, status: .tombstoned).text
        let row = AuditField("row", "undo.gone")
        #expect(
            try ReplayedDecision(entry([row, AuditField(AuditField.facts, facts)])) == .same(row: "undo.gone"))
        let planted = EffectTable(rows: [EffectTable.Row("other", when: { _ in true }, then: { _ in .keep })])
        #expect(
            try ReplayedDecision(entry([row, AuditField(AuditField.facts, facts)]), effectTable: planted)
                == .other(recorded: "undo.gone", now: "other"))
        #expect(
            try ReplayedDecision(entry([row, AuditField(AuditField.facts, facts + " moon=full")]))
                == .unreadable(row: "undo.gone"))
        #expect(try ReplayedDecision(entry([row])) == nil)
        #expect(try ReplayedDecision(entry([AuditField(AuditField.facts, facts)])) == nil)
    }

    @Test func `every decision that moves money or ends a payment has its facts in the trail`() throws {
        var stage = try fixture.stage([.reference, .reference])
        stage.run()
        let decided = stage.trail.filter { [.intent, .latch, .decision, .concluded].contains($0.type) }
        #expect(decided.count == 6, "four intents, a latch, an end: \(decided.map(\.type))")
        for entry in decided {
            let row = entry.value("row") ?? "-"
            #expect(ReplayedDecision(entry) == .same(row: row), "\(entry.fields)")
        }
    }
}
