import PaymentCore
import Testing

/// What two people decide about a payment that waits for them.
@Suite struct RepairTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A payment whose void was declined after its caller canceled it: it is held, and shall not be.
    private func undoRefused() throws -> Stage {
        var stage = try fixture.stage([.reference], .manual) { $0.declines[.void] = 1 }
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.legs[0].quarantine?.cause == .undoRefused)
        return stage
    }

    /// A hold of which its provider showed another amount.
    private func contradicted() throws -> Stage {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        stage.handle(
            .inquired(
                leg: 0,
                Observation(
                    .authorized, began: stage.now, source: .inquiry, key: stage.durable.legs[0].primary.key,
                    amount: try fixture.amount(7))))
        #expect(stage.durable.legs[0].quarantine?.cause == .contradiction)
        return stage
    }

    private func refusal(_ body: () throws(RepairRefusal) -> some Any) -> RepairRefusal? {
        do throws(RepairRefusal) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a proposal moves nothing, and is in the trail`() throws {
        var stage = try undoRefused()
        let before = stage.durable
        let repair = try stage.propose(stage.request(.undoneOutside, against: true))
        #expect(Repair.isID(repair.id) && repair.state(at: stage.now) == .proposed)
        #expect(stage.durable.legs == before.legs && stage.durable.latch == before.latch)
        let entry = try #require(stage.trail.last { $0.type == .operation })
        #expect(entry.fields.contains(AuditField("operation", "repair proposed")))
        #expect(entry.fields.contains(AuditField("requested_by", "ann")))
        #expect(entry.fields.contains(AuditField("against_provider", "yes")))
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
    }

    @Test func `nobody approves what they proposed, and somebody else does`() throws {
        var stage = try undoRefused()
        let repair = try stage.propose(stage.request(.undoneOutside, against: true))
        #expect(refusal { () throws(RepairRefusal) in try stage.decide(repair, by: "ann") } == .ownProposal)
        #expect(stage.durable.state == .quarantined)
        try stage.decide(repair)
        #expect(stage.durable.state == .canceled)
        let entry = try #require(stage.trail.last { $0.type == .resolved })
        #expect(entry.fields.contains(AuditField("approved_by", "ben")))
        #expect(ReplayedDecision(entry) == .same(row: "repair.undone"))
    }

    @Test func `a rejected proposal is over, and may be rejected by whoever made it`() throws {
        for person in ["ann", "ben"] {
            var stage = try undoRefused()
            let repair = try stage.propose(stage.request(.undoneOutside, against: true))
            let rejected = try stage.decide(repair, approves: false, by: person)
            #expect(rejected.state(at: stage.now) == .rejected && stage.durable.state == .quarantined)
            #expect(refusal { () throws(RepairRefusal) in try stage.decide(rejected) } == .decided)
        }
    }

    @Test func `a proposal ends by itself`() throws {
        var stage = try undoRefused()
        let repair = try stage.propose(stage.request(.resume, lasts: .hours(1)))
        stage.now = stage.now + .hours(1)
        #expect(repair.state(at: stage.now) == .expired)
        #expect(refusal { () throws(RepairRefusal) in try stage.decide(repair) } == .expired)
        #expect(refusal { () throws(RepairRefusal) in try stage.decide(repair, approves: false) } == .expired)
    }

    @Test func `what became known since ends a proposal, and the same read again does not`() throws {
        var stage = try undoRefused()
        let leg = stage.durable.legs[0]
        let repair = try stage.propose(stage.request(.undoneOutside, against: true))
        func shown(_ status: Observation.Status) -> PaymentEvent {
            .inquired(
                leg: 0,
                Observation(status, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount))
        }
        stage.now = stage.now + .minutes(1)
        stage.handle(shown(.authorized))
        #expect(stage.durable.version > repair.version)
        var same = stage
        try same.decide(repair)
        stage.handle(shown(.notFound))
        #expect(refusal { () throws(RepairRefusal) in try stage.decide(repair) } == .changed)
    }

    @Test func `a proposal names the version that was read`() throws {
        var stage = try undoRefused()
        var request = stage.request(.resume)
        request.version -= 1
        #expect(refusal { () throws(RepairRefusal) in try stage.propose(request) } == .changed)
    }

    @Test func `what does not wait for people is not repaired`() throws {
        var stage = try fixture.stage([.reference, .reference])
        stage.run()
        #expect(stage.durable.state == .succeeded)
        for action in Repair.Action.allCases {
            let balance = DiscrepancySubject.balance(stage.durable.amount.currency)
            let elsewhere = Repair.Target.discrepancy(
                DiscrepancyID(provider: stage.durable.legs[0].provider, subject: balance))
            for target in [Repair.Target.leg(0), .leg(1), elsewhere] {
                let request = stage.request(action, target, against: true)
                #expect(refusal { () throws(RepairRefusal) in try stage.propose(request) } == .notWaiting)
            }
        }
        var nowhere = stage.request(.resume)
        nowhere.target = .leg(7)
        #expect(refusal { () throws(RepairRefusal) in try stage.propose(nowhere) } == .notWaiting)
        nowhere.target = .refund(0, leg: 0)
        #expect(refusal { () throws(RepairRefusal) in try stage.propose(nowhere) } == .notWaiting)
    }

    @Test func `each action comes to its end`() throws {
        for action in Repair.Action.allCases {
            var stage = try undoRefused()
            try stage.repair(action, against: true)
            stage.run(steps: 40)
            let state = stage.durable.state
            switch action {
            case .undoneOutside, .neverCharged, .writeOff: #expect(state == .canceled, "\(action)")
            // The void was declined once: asked again, it is done. By the word of people alone nothing is given back:
            // the provider shows a hold, whose void was declined, and people are asked again (seed 14691216571).
            case .undo, .sendAgain: #expect(state == .canceled, "\(action)")
            case .charged:
                #expect(stage.sent(.refund).isEmpty)
                #expect(state == .quarantined, "\(stage.durable.legs[0])")
            case .resume: #expect(state == .quarantined, "it is as it was")
            }
            #expect(stage.judge.faults.isEmpty, "\(action): \(stage.judge.faults)")
        }
    }

    /// Seed 13140475516452: it was looked at a day later, as rarely as what waits for people.
    @Test(arguments: [false, true])
    func `what people decided is looked at soon`(_ isRecovering: Bool) throws {
        var stage = try fixture.stage([.reference, .reference]) {
            if $0.name == 0 { $0.declines[.refund] = 1 } else { $0.declines[.capture] = 1 }
        }
        stage.run(while: { !$0.awaitsPeople })
        let window = RecoveryWindow(readsCountFrom: stage.now, latestNotAfter: stage.now)
        if isRecovering { stage.handle(.recoveryOpened(window)) }
        stage.run(steps: 60)
        #expect(stage.durable.legs[0].inquiries >= stage.context.policy.inquirySchedule.delays.count - 1)
        try stage.repair(.charged, against: true)
        let decided = stage.now
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.now < decided + .minutes(1), "\(stage.durable.legs[0])")
    }

    @Test func `what the provider shows is not explained away in silence`() throws {
        var stage = try undoRefused()
        for action in [Repair.Action.undoneOutside, .neverCharged, .writeOff] {
            let request = stage.request(action)
            #expect(refusal { () throws(RepairRefusal) in try stage.propose(request) } == .againstProvider)
        }
        var bare = stage.request(.undoneOutside, against: true, reference: nil)
        #expect(refusal { () throws(RepairRefusal) in try stage.propose(bare) } == .evidenceMissing)
        bare = stage.request(.charged, against: true, amount: try fixture.amount(7))
        #expect(refusal { () throws(RepairRefusal) in try stage.propose(bare) } == .otherAmount)
    }

    @Test func `what a provider shows after people had it asked again is its own word`() throws {
        var stage = try contradicted()
        try stage.repair(.sendAgain)
        stage.now = stage.now + .minutes(1)
        stage.handle(
            .inquired(
                leg: 0,
                Observation(.voided, began: stage.now, source: .inquiry, key: stage.durable.legs[0].primary.key)))
        #expect(stage.durable.legs[0].gone?.status == .voided)
        let leg = PaymentMachine.explain(stage.durable, stage.context).legs[0]
        #expect(leg.sentences.contains { $0.contains("the provider showed it as voided") }, "\(leg.sentences)")
    }

    @Test func `an explanation says what people decided, and not that the provider said it`() throws {
        let words: [(Repair.Action, String)] = [
            (.charged, "Two people decided at"), (.neverCharged, "two people decided so"),
            (.undoneOutside, "two people decided so"), (.writeOff, "two people wrote it off"),
        ]
        for (action, said) in words {
            var stage = action == .charged ? try contradicted() : try undoRefused()
            try stage.repair(action, against: true)
            let leg = PaymentMachine.explain(stage.durable, stage.context).legs[0]
            #expect(leg.sentences.contains { $0.contains(said) }, "\(action): \(leg.sentences)")
            #expect(!leg.sentences.contains { $0.contains("The provider showed it as captured") })
        }
    }

    /// Else the comparison would find both sides alike, and nobody would see that they were wrong.
    @Test func `what people say was never charged is not in our books`() throws {
        var stage = try undoRefused()
        stage.handle(.inquired(leg: 0, captured(stage, stage.durable.amount)))
        #expect(stage.durable.legs[0].capturedAmount == stage.durable.amount)
        try stage.repair(.neverCharged, against: true)
        let position = try #require(stage.durable.bookedPositions.first)
        #expect(position.captured.isZero && position.standing == .ended, "\(position)")
    }

    @Test func `an amount that nobody asked for does not get into our books`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        #expect(stage.durable.state == .succeeded)
        let asked = stage.durable.amount
        stage.now = stage.now + .minutes(1)
        var observation = captured(stage, asked)
        observation.amount = try fixture.amount(asked.value + 1)
        observation.captures[0].amount = try fixture.amount(asked.value + 1)
        stage.handle(.inquired(leg: 0, observation))
        #expect(stage.durable.legs[0].capturedAmount == asked)
    }

    private func captured(_ stage: Stage, _ amount: Money) -> Observation {
        let leg = stage.durable.legs[0]
        return Observation(
            .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [Observation.Movement(key: leg.primary.key, amount: amount, state: .succeeded)])
    }

    /// Whoever says that it never was may be wrong: what appears afterwards is given back, except after a write-off.
    @Test func `a charge that people denied is given back when it shows, and one that they wrote off is left`() throws {
        for action in [Repair.Action.neverCharged, .writeOff] {
            var stage = try undoRefused()
            try stage.repair(action, against: true)
            #expect(stage.durable.state == .canceled)
            let leg = stage.durable.legs[0]
            stage.now = stage.now + .minutes(1)
            stage.handle(
                .inquired(
                    leg: 0,
                    Observation(
                        .authorized, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount)))
            #expect((stage.durable.legs[0].gone == nil) == (action == .neverCharged))
        }
    }

    @Test func `what people take away is a loss of the payment, with their word as the reason`() throws {
        for latched in [false, true] {
            var stage = latched ? try undoRefused() : try contradicted()
            try stage.repair(.neverCharged, against: true)
            let loss = stage.durable.legs[0].loss.map { "\($0)" }
            #expect(loss?.contains("decided by people") ?? false == !latched, "\(loss ?? "none")")
        }
    }
}
