import PaymentCore
import Testing

/// Cancels and deadlines, at every moment.
@Suite struct CancelTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private static let casts: [[ProviderContract]] = [
        [.reference], [.reference, .reference], [.referenceSale], [.reference, .referenceSale],
        [.enforcing, .reference],
    ]

    private static let faults: [Stage.SendFault] = [
        .none, .lostRequest, .lostAnswer, .late(.seconds(100)), .duplicated(.seconds(100)), .crashAfter,
    ]

    /// Plays until `moment` steps have passed, lets somebody intervene, and plays to the end.
    private func play(
        _ contracts: [ProviderContract], fault: Stage.SendFault, moment: Int, mode: CaptureMode = .automatic,
        deadline: Timestamp? = nil, _ intervene: (inout Stage) throws -> Void
    ) throws -> Stage {
        var stage = try fixture.stage(contracts, mode, deadline: deadline, send: [fault])
        for _ in 0..<moment where !stage.isAtRest { _ = stage.step() }
        try intervene(&stage)
        stage.run()
        stage.judge.atRest(stage)
        return stage
    }

    @Test(arguments: faults) func `a cancel at any moment wins whole or comes too late`(_ fault: Stage.SendFault) throws
    {
        var ends: Set<PaymentState> = []
        for contracts in Self.casts {
            for moment in 0..<14 {
                for isBeside in [false, true] {
                    var isTooLate = false
                    let stage = try play(contracts, fault: fault, moment: moment) { stage in
                        do {
                            if isBeside { try stage.cancelBeside() } else { try stage.cancel() }
                        } catch OperationRefusal.tooLate {
                            isTooLate = true
                        }
                    }
                    #expect(stage.judge.faults.isEmpty, "after \(moment) steps: \(stage.judge.faults)")
                    #expect(stage.durable.state == (isTooLate ? .succeeded : .canceled), "after \(moment) steps")
                    ends.insert(stage.durable.state)
                }
            }
        }
        #expect(ends == [.succeeded, .canceled])
    }

    @Test(arguments: faults) func `a deadline at any moment ends whole`(_ fault: Stage.SendFault) throws {
        for contracts in Self.casts {
            for milliseconds in [1, 30, 49, 50, 51, 80, 100, 160, 5_000, 10_040, 12_100] as [Int64] {
                let deadline = fixture.start + .milliseconds(milliseconds)
                let stage = try play(contracts, fault: fault, moment: 0, deadline: deadline) { _ in }
                #expect(stage.judge.faults.isEmpty, "deadline after \(milliseconds) ms: \(stage.judge.faults)")
                #expect([.succeeded, .failed].contains(stage.durable.state), "\(stage.durable.summary)")
                if stage.durable.state == .failed {
                    #expect(stage.durable.conclusion?.reason?.code == .deadlinePassed)
                    #expect(stage.sent(.capture).isEmpty)
                }
            }
        }
    }

    /// Seed 3285512734: the other hold stood in our rows for ever.
    @Test func `a hold beside a leg in quarantine ends when it would have ended without it`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        let other = stage.durable.legs[1]
        let contradiction = Observation(
            .authorized, began: stage.now, source: .inquiry, key: other.primary.key, amount: try fixture.amount(7))
        stage.handle(.inquired(leg: 1, contradiction))
        #expect(stage.durable.state == .quarantined)
        stage.now = stage.now + .days(6)
        stage.handle(.woke)
        #expect(stage.durable.stopReason == nil)
        stage.now = stage.now + .days(2)
        stage.handle(.woke)
        #expect(stage.durable.stopReason?.code == .authorizationExpired)
        stage.run(steps: 40)
        #expect(stage.durable.legs[0].gone != nil)
    }

    /// Seeds 1828033407 and 3641239319: it was captured at the provider's console while the other leg was in doubt.
    @Test func `a hold beside what others captured is read when its life is over, and ends by what is read`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual, send: [.none, .lostAnswer])
        stage.run(while: { $0.durable.legs.contains { $0.primary.open != nil } })
        let leg = stage.durable.legs[1]
        let captured = Observation(
            .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [.init(key: EffectKey(reported: "console"), amount: leg.amount, state: .succeeded)])
        stage.handle(.inquired(leg: 1, captured))
        #expect(stage.durable.legs[1].quarantine?.cause == .captureRequestLost)
        let hold = stage.durable.legs[0]
        stage.now = stage.now + .days(6)
        stage.handle(.woke)
        #expect(stage.durable.legs[0].knowledge == hold.knowledge && stage.durable.legs[0].readWantedSince == nil)
        let sent = stage.sent.count
        stage.now = stage.now + .days(2)
        stage.handle(.woke)
        #expect(stage.durable.legs[0].readWantedSince == stage.now)
        func read(_ status: Observation.Status) {
            stage.handle(
                .inquired(
                    leg: 0,
                    Observation(
                        status, began: stage.now, source: .inquiry, key: hold.primary.key, amount: hold.amount)))
        }
        read(.authorized)
        #expect(stage.durable.latch == .none && stage.durable.legs[0].readWantedSince == nil)
        stage.now = stage.now + .days(2)
        stage.handle(.woke)
        #expect(stage.durable.legs[0].readWantedSince == stage.now, "what stands longer is read again")
        read(.expired)
        #expect(stage.durable.latch == .back && stage.durable.legs[0].gone != nil)
        #expect(stage.durable.state == .quarantined && stage.sent.count == sent)
    }

    @Test func `a payment that rests does not mind its deadline, and can be canceled`() throws {
        var stage = try fixture.stage([.reference], .manual, deadline: fixture.start + .seconds(10))
        stage.run(while: { !$0.durable.isResting })
        stage.now = fixture.start + .hours(1)
        stage.handle(.woke)
        #expect(stage.durable.state == .authorized)
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled)
        #expect(!stage.isHeld(0))
    }

    @Test func `nothing is undone before the latch is durable`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        let types = stage.trail.map(\.type)
        let latch = try #require(types.firstIndex(of: .latch))
        let firstVoid = try #require(
            stage.trail.firstIndex { $0.fields.contains(AuditField("kind", "void")) })
        #expect(latch < firstVoid)
        #expect(stage.durable.state == .canceling)
    }

    @Test func `a cancel of what failed is refused, and of what was canceled repeats its end`() throws {
        var failed = try fixture.stage([.reference]) { $0.declines[.authorize] = 1 }
        failed.run()
        #expect(throws: OperationRefusal.self) { try failed.cancel() }
        var canceled = try fixture.stage([.reference])
        try canceled.cancel()
        canceled.run()
        let end = canceled.durable.conclusion
        try canceled.cancel(key: "again")
        #expect(canceled.durable.conclusion == end)
        #expect(canceled.durable.cancel?.key.text == "cancel-1")
    }

    @Test func `a sale that is canceled in doubt is given back`() throws {
        var stage = try fixture.stage([.referenceSale], send: [.lostAnswer])
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled)
        #expect(stage.sent.map(\.kind) == [.sale, .refund])
        #expect(stage.net(0) == 0 && stage.durable.captured == stage.durable.refunded)
    }

    @Test func `where a cancel reverses a sale it is reversed, and after the cancel deadline refunded`() throws {
        var soon = try fixture.stage([.payPay], plug: true, send: [.lostAnswer])
        try soon.cancel()
        soon.run()
        #expect(soon.durable.state == .canceled && soon.net(0) == 0)
        #expect(soon.sent.map(\.kind) == [.sale, .void])
        #expect(soon.durable.captured == soon.durable.refunded)

        let outage = Array(repeating: Stage.ReadFault.unavailable, count: 6)
        var late = try fixture.stage([.payPay], plug: true, send: [.lostAnswer], read: outage)
        try late.cancel()
        late.run()
        #expect(late.durable.state == .canceled && late.net(0) == 0)
        #expect(late.sent.map(\.kind) == [.sale, .refund])
    }

    @Test func `a request that cannot be canceled by key is plugged, then voided`() throws {
        var stage = try fixture.stage([.gmoPG], plug: true, send: [.late(.seconds(100))])
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled && !stage.isHeld(0))
        #expect(stage.sent.map(\.kind) == [.authorize, .authorize, .void])
        #expect(Set(stage.sent(.authorize).map(\.key)).count == 1)
    }

    @Test func `a cancel beside the holder does not call an attempt under way never sent`() throws {
        var stage = try fixture.stage([.referenceSale])
        try stage.cancelBeside()
        #expect(stage.durable.state == .canceling)
        stage.run()
        stage.judge.atRest(stage)
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
        #expect(stage.durable.state == .canceled && stage.net(0) == 0)
    }
}
