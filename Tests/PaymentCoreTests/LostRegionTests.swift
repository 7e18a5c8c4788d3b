import PaymentCore
import Testing

/// A region that never comes back, or a provider that was taken out of the configuration: two people say what it did.
@Suite struct LostRegionTests {
    private let regions: RegionFixture

    init() throws { regions = try RegionFixture() }

    private var fixture: Fixture { regions.payments }
    private var west: KeySpace { regions.west }
    private var east: KeySpace { regions.east }

    private var contract: ProviderContract { regions.contract(west) }

    /// How a provider can be missing.
    enum Loss: CaseIterable { case region, provider }

    /// The provider of a leg is missing from now on, and its holder is started anew.
    private func lose(_ loss: Loss, _ stage: inout Stage) {
        let provider = stage.provider(0)
        switch loss {
        case .region:
            stage.contracts[provider]?.keySpace = east
            stage.ledgers[provider] = Ledger(stage.contracts[provider] ?? .reference)
        case .provider: stage.contracts[provider] = nil
        }
        stage.crash()
    }

    /// A charge whose answer is lost together with its region.
    private func inDoubt(_ loss: Loss, after: Span = .minutes(5)) throws -> Stage {
        var stage = try fixture.stage([contract], send: [.lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.worst != .indeterminate })
        lose(loss, &stage)
        stage.run(until: stage.now + after)
        #expect(stage.durable.state == .processing && stage.durable.legs[0].quarantine == nil)
        return stage
    }

    private func refusal(_ stage: Stage, _ request: RepairRequest) -> RepairRefusal? {
        var stage = stage
        do throws(RepairRefusal) {
            _ = try stage.propose(request)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Loss.allCases)
    func `what two people say of it ends the payment, and sends nothing`(_ loss: Loss) throws {
        for (action, state) in [
            (Repair.Action.charged, PaymentState.succeeded), (.neverCharged, .failed), (.undoneOutside, .failed),
            (.writeOff, .failed),
        ] {
            var stage = try inDoubt(loss)
            let sent = stage.sent.count
            try stage.repair(action)
            stage.run(steps: 20)
            #expect(stage.durable.conclusion?.state == state, "\(action)")
            #expect(stage.sent.count == sent && stage.durable.dueAt == nil, "\(action)")
            let entry = try #require(stage.trail.last { $0.type == .resolved })
            #expect(entry.value("facts")?.contains("provider_missing=yes") == true)
            #expect(ReplayedDecision(entry) == .same(row: entry.value("row") ?? "-"))
            #expect(stage.judge.faults.isEmpty, "\(action): \(stage.judge.faults)")
        }
    }

    @Test(arguments: Loss.allCases) func `past the deadline, a charge there is to be undone, and people say when it is`(
        _ loss: Loss
    ) throws {
        var stage = try fixture.stage([contract], send: [.lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.worst != .indeterminate })
        lose(loss, &stage)
        stage.run(until: stage.now + .hours(1))
        #expect(stage.durable.state == .canceling)
        let sent = stage.sent.count
        try stage.repair(.charged)
        stage.run(steps: 20)
        #expect(stage.durable.conclusion == nil, "it is charged, and its caller was not told in time")
        try stage.repair(.undoneOutside, against: true)
        stage.run(steps: 20)
        #expect(stage.durable.state == .failed && stage.durable.dueAt == nil && stage.sent.count == sent)
    }

    @Test(arguments: Loss.allCases) func `nothing can be sent or asked there`(_ loss: Loss) throws {
        let stage = try inDoubt(loss)
        for action in [Repair.Action.sendAgain, .undo, .resume] {
            #expect(refusal(stage, stage.request(action)) == .providerMissing, "\(action)")
        }
        #expect(refusal(stage, stage.request(.charged, reference: nil)) == .evidenceMissing)
    }

    @Test(arguments: Loss.allCases) func `nothing is said of it while a request may still arrive`(_ loss: Loss) throws {
        let life = contract.maxRequestLife + contract.clockSkew
        let early = try inDoubt(loss, after: .seconds(1))
        let sent = try #require(early.durable.legs[0].primary.lastIntentAt)
        #expect(early.now < sent + life)
        #expect(refusal(early, early.request(.neverCharged)) == .underWay)
        var late = early
        late.now = sent + life
        #expect(refusal(late, late.request(.neverCharged)) == nil)
    }

    @Test func `a region that is back ends a proposal, and the payment goes on by itself`() throws {
        var stage = try fixture.stage([contract], send: [.lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.worst != .indeterminate })
        let before = try #require(stage.ledgers[stage.provider(0)])
        lose(.region, &stage)
        stage.run(until: stage.now + .minutes(5))
        let repair = try stage.propose(stage.request(.neverCharged))
        stage.contracts[stage.provider(0)]?.keySpace = west
        stage.ledgers[stage.provider(0)] = before
        stage.crash()
        #expect(throws: RepairRefusal.notWaiting) { try stage.decide(repair) }
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.net(0) == 1_000)
    }

    @Test func `a refund that waits for its region is ended, and the payment is not`() throws {
        for (action, state) in [(Repair.Action.charged, RefundState.succeeded), (.neverCharged, .failed)] {
            var stage = try fixture.stage([contract])
            stage.run()
            stage.sendScript = [.lostAnswer]
            try stage.refund()
            stage.run(while: { $0.durable.refunds[0].parts[0].effect.worst != .indeterminate })
            lose(.region, &stage)
            stage.run(until: stage.now + .hours(1))
            #expect(refusal(stage, stage.request(.neverCharged, .leg(0), against: true)) == .notWaiting)
            #expect(refusal(stage, stage.request(.resume, .refund(0, leg: 0))) == .providerMissing)
            let sent = stage.sent.count
            try stage.repair(action, .refund(0, leg: 0))
            stage.run(steps: 20)
            #expect(stage.durable.refunds[0].state == state)
            #expect(stage.durable.conclusion?.state == .succeeded && stage.sent.count == sent)
        }
    }

    @Test func `a charge that is to be undone there is undone by people`() throws {
        var stage = try fixture.stage([contract, .reference])
        stage.run(while: { $0.durable.legs[0].knowledge?.status != .authorized })
        lose(.region, &stage)
        try stage.cancel()
        stage.run(until: stage.now + .hours(1))
        #expect(stage.durable.state == .canceling)
        #expect(refusal(stage, stage.request(.undoneOutside)) == .againstProvider, "its newest answer was a hold")
        try stage.repair(.undoneOutside, against: true)
        stage.run(steps: 40)
        #expect(stage.durable.state == .canceled)
    }

    @Test func `the explanation says what people can do`() throws {
        for loss in Loss.allCases {
            let stage = try inDoubt(loss)
            let explained = PaymentMachine.explain(stage.durable, stage.context)
            #expect(explained.remedies == [loss == .region ? .configureKeySpace : .configureProvider, .decideLost])
        }
    }
}
