import PaymentCore
import Testing

/// Why a payment is in its state: the row that decides now, what it waits for, and what a person may do.
@Suite struct ExplanationTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func explain(_ stage: Stage) -> PaymentExplanation { PaymentMachine.explain(stage.durable, stage.context) }

    @Test func `a request under way is waited for by whoever sent it`() throws {
        let stage = try fixture.stage([.reference])
        let explained = explain(stage)
        #expect(explained.legs[0].wait == .answer(effect: .primary, attempt: 1, since: fixture.start))
        #expect(explained.legs[0].decision == nil)
        #expect(explained.legs[0].sentences.last?.contains("Attempt 1 of its authorization has been under way") == true)
        #expect(explained.remedies.isEmpty)
    }

    @Test func `a lost answer is asked about, and the facts say why`() throws {
        var stage = try fixture.stage(
            [.reference], send: [.lostAnswer], read: Array(repeating: .unavailable, count: 40))
        stage.run(while: { $0.durable.legs[0].knowledge == nil })
        let explained = explain(stage)
        let leg = explained.legs[0]
        #expect(leg.decision?.verdict.row == "do.undecided")
        #expect(leg.decision?.facts.worst == .indeterminate)
        guard case .moment(.keep, let moment) = leg.wait else {
            Issue.record("it waits for \(leg.wait)")
            return
        }
        #expect(moment > stage.now)
        #expect(leg.sentences.contains { $0.contains("nobody knows what became of it") }, "\(leg.sentences)")
        #expect(explained.remedies == [.reconcile])
        #expect(explained.nextLook == stage.durable.dueAt)
    }

    @Test func `a payment that rests waits for its caller, and for nothing else`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        let explained = explain(stage)
        #expect(explained.decision?.verdict.row == "none.rest")
        #expect(explained.legs.allSatisfy { $0.wait == .nothing && $0.standing == .held })
        #expect(explained.sentences.contains { $0.contains("its caller captures or cancels") })
        #expect(explained.remedies.isEmpty)
    }

    @Test func `what people decide about says so, and since when`() throws {
        var stage = try fixture.stage([.reference], send: [.lostAnswer])
        let other = Observation(
            .authorized, began: stage.now, source: .inquiry, amount: try fixture.amount(999))
        stage.run(while: { $0.durable.legs[0].primary.open != nil })
        stage.handle(.inquired(leg: 0, other))
        let explained = explain(stage)
        guard case .people(.contradiction, let row, _) = explained.legs[0].wait else {
            Issue.record("it waits for \(explained.legs[0].wait)")
            return
        }
        #expect(row == "do.contradiction")
        #expect(explained.legs[0].sentences.contains { $0.contains("People decide about it since") })
        #expect(explained.remedies == [.decide])
    }

    @Test func `what has ended waits for nothing`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        let explained = explain(stage)
        #expect(explained.decision == nil && explained.nextLook == nil)
        #expect(explained.legs[0].wait == .nothing && explained.remedies.isEmpty)
        #expect(explained.sentences.first?.hasPrefix("It ended as succeeded at ") == true)
    }

    @Test func `a provider that is not configured is named as what is missing`() throws {
        var stage = try fixture.stage(
            [.reference], send: [.lostAnswer], read: Array(repeating: .unavailable, count: 40))
        stage.run(while: { $0.durable.legs[0].knowledge == nil })
        let context = MachineContext(now: stage.now, contracts: [:])
        let explained = PaymentMachine.explain(stage.durable, context)
        #expect(explained.legs[0].wait == .configuration(.notConfigured(stage.provider(0))))
        #expect(explained.remedies == [.configureProvider, .decideLost])
    }

    @Test func `a direction that the standby has not confirmed is waited for`() throws {
        var stage = try fixture.stage([.reference], .manual, acknowledged: false)
        stage.standby = Stage.Rows()
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        stage.run(while: { $0.durable.legs[0].gone == nil })
        let explained = explain(stage)
        #expect(explained.decision?.verdict.row == "back.unacknowledged")
        #expect(explained.remedies == [.bringStandbyBack])
    }

    @Test func `nothing is done by explaining`() throws {
        var stage = try fixture.stage([.reference, .referenceSale], send: [.lostAnswer, .lostRequest])
        for _ in 0..<6 {
            let before = stage.durable
            let (first, second) = (explain(stage), explain(stage))
            #expect(first == second && stage.durable == before)
            let version = stage.durable.version
            stage.run(while: { $0.durable.version == version })
        }
    }
}
