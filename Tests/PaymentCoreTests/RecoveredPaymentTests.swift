import PaymentCore
import Testing

/// Payments that were taken up again on untrusted rows: what was promised before the loss is kept.
@Suite struct RecoveredPaymentTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    func context(_ contracts: [ProviderContract], after span: Span = .zero) throws -> MachineContext {
        MachineContext(now: fixture.start + span, contracts: try fixture.byName(contracts))
    }

    /// A payment whose row is new and untrusted.
    func recovering(
        _ contracts: [ProviderContract], _ capture: CaptureMode = .automatic,
        _ repetition: RecoveryWindow.Repetition? = nil
    ) throws -> PaymentMachine {
        let window = RecoveryWindow(
            readsCountFrom: fixture.start, latestNotAfter: fixture.start, listingCompared: true,
            repetition: repetition)
        return PaymentMachine.create(
            try fixture.request(contracts, capture), try context(contracts), recovery: window
        ).machine
    }

    func read(
        _ status: Observation.Status, _ machine: PaymentMachine, leg: Int, _ context: MachineContext,
        amount: Money? = nil, refunds: [Observation.Movement] = []
    ) -> PaymentEvent {
        let of = machine.payment.legs[leg]
        let taken = Observation.Movement(key: EffectKey(reported: "lost"), amount: of.amount, state: .succeeded)
        return .inquired(
            leg: leg,
            Observation(
                status, began: context.now, source: .inquiry, key: of.primary.key, amount: amount ?? of.amount,
                captures: status == .captured && !of.isOnePhase ? [taken] : [], refunds: refunds))
    }

    @Test func `what is held for the caller outlives its deadline, also when rows become untrusted`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        let late = try context([.reference], after: .hours(2))
        #expect(late.now > stage.durable.deadline)
        var machine = PaymentMachine(payment: stage.durable)
        let window = RecoveryWindow(readsCountFrom: late.now, latestNotAfter: late.now)
        _ = machine.handle(.claimedAfterLoss(window), late)
        #expect(machine.payment.stopReason == nil)
        #expect(machine.payment.dueAt != nil)
        _ = machine.handle(read(.authorized, machine, leg: 0, late), late)
        #expect(machine.payment.state == .authorized)
        _ = try machine.capture(key: IdempotencyKey("capture-1"), amounts: nil, late)
        #expect(machine.payment.latch == .forward)
    }

    @Test(arguments: [
        (Observation.Status.voided, Reason.Code.authorizationVoided), (.expired, .authorizationExpired),
    ])
    func `a hold that ended while its payment waited is a cancel, as its caller may have been told`(
        status: Observation.Status, code: Reason.Code
    ) throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        let late = try context([.reference], after: .minutes(5))
        var machine = PaymentMachine(payment: stage.durable)
        _ = machine.handle(.claimedAfterLoss(RecoveryWindow(readsCountFrom: late.now, latestNotAfter: late.now)), late)
        _ = machine.handle(read(status, machine, leg: 0, late), late)
        #expect(machine.payment.state == .canceled)
        #expect(machine.payment.conclusion?.reason?.code == code)
    }

    @Test func `what may have been captured by a latch that was lost is not turned back by its deadline`() throws {
        var machine = try recovering([.reference])
        let late = try context([.reference], after: .hours(2))
        #expect(late.now > machine.payment.deadline)
        _ = machine.handle(.woke, late)
        #expect(machine.payment.latch == .none, "nobody was asked yet")
        _ = machine.handle(read(.captured, machine, leg: 0, late), late)
        #expect(machine.payment.latch == .forward && machine.payment.state == .succeeded)
    }

    /// Seed 1299504878: succeeded was told, the rows were lost, and one of three providers lost the charge.
    @Test func `what is denied beside a captured leg goes to people, where success may have been told`() throws {
        let contracts = [ProviderContract.reference, .reference, .referenceSale]
        var machine = try recovering(contracts, .automatic, .awaited)
        let now = try context(contracts, after: .minutes(1))
        _ = machine.handle(read(.captured, machine, leg: 1, now), now)
        _ = machine.handle(read(.captured, machine, leg: 2, now), now)
        _ = machine.handle(read(.notFound, machine, leg: 0, now), now)
        #expect(machine.payment.state == .quarantined && machine.payment.latch == .none)
        #expect(machine.payment.legs.map(\.quarantine?.cause) == [.acceptedButMissing, nil, nil])
        let late = try context(contracts, after: .hours(2))
        _ = machine.handle(.woke, late)
        #expect(machine.payment.latch == .none, "its deadline does not give back what was told as taken")
    }

    @Test func `what is denied beside a captured leg is turned back, where nobody was told`() throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        _ = machine.handle(read(.captured, machine, leg: 1, now), now)
        _ = machine.handle(read(.notFound, machine, leg: 0, now), now)
        #expect(machine.payment.latch == .back)
    }

    /// Seed 2776285294: nobody asks for a sale before the holds stand, and one hold was shown to nobody any more.
    @Test func `the deadline of untrusted rows has every leg read, also the sale that waits for the holds`() throws {
        let contracts = [ProviderContract.reference, .referenceSale]
        var machine = try recovering(contracts)
        let late = try context(contracts, after: .hours(2))
        let asked = machine.handle(.woke, late).compactMap { action in
            if case .inquire(let order) = action { order.leg } else { nil }
        }
        #expect(asked == [1], "the hold was asked for when the row was made")
        _ = machine.handle(read(.notFound, machine, leg: 1, late), late)
        #expect(machine.payment.latch == .none)
        _ = machine.handle(read(.notFound, machine, leg: 0, late), late)
        #expect(machine.payment.latch == .back && machine.payment.stopReason?.code == .deadlinePassed)
    }

    @Test func `what is not held counts as late once every leg was read`() throws {
        var machine = try recovering([.reference], .manual)
        let late = try context([.reference], after: .hours(2))
        _ = machine.handle(.woke, late)
        #expect(machine.payment.latch == .none)
        _ = machine.handle(read(.notFound, machine, leg: 0, late), late)
        #expect(machine.payment.latch == .back)
        #expect(machine.payment.stopReason?.code == .deadlinePassed)
    }

    @Test(arguments: [ProviderContract.reference, .listed])
    func `a capture of one leg of two whose request was lost waits for its caller, and then for people`(
        _ contract: ProviderContract
    ) throws {
        let contracts = [contract, contract]
        var machine = try recovering(contracts, .manual)
        let early = try context(contracts, after: .minutes(1))
        _ = machine.handle(read(.captured, machine, leg: 0, early), early)
        _ = machine.handle(read(.authorized, machine, leg: 1, early), early)
        let first = try #require(machine.payment.dueAt)
        #expect(machine.payment.state == .processing && first > early.now)
        let late = try context(contracts, after: .days(30))
        _ = machine.handle(.woke, late)
        #expect(machine.payment.legs[0].quarantine?.cause == .captureRequestLost)
        #expect(machine.payment.latch == .none, "people decide, and not the deadline")
    }

    @Test func `a refund that is not decided yet proves no success`() throws {
        var machine = try recovering([.referenceSale])
        let now = try context([.referenceSale], after: .minutes(1))
        let leg = machine.payment.legs[0]
        func refund(_ state: Observation.Movement.State) -> Observation.Movement {
            let source = EffectKey.Source(
                caller: machine.payment.caller, payment: machine.payment.id, operation: machine.payment.key,
                leg: 0, effect: .refund)
            return Observation.Movement(
                key: EffectKey(source, format: ProviderContract.referenceSale.keyFormat), amount: leg.amount,
                state: state)
        }
        _ = machine.handle(read(.captured, machine, leg: 0, now, refunds: [refund(.pending)]), now)
        #expect(machine.payment.latch == .none)
        #expect(machine.payment.dueAt != nil)
        _ = machine.handle(read(.captured, machine, leg: 0, now, refunds: [refund(.succeeded)]), now)
        #expect(machine.payment.latch == .back)
    }

    @Test func `a captured leg is not given back while people decide about another`() throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        let other = try fixture.amount(7)
        _ = machine.handle(read(.authorized, machine, leg: 1, now, amount: other), now)
        #expect(machine.payment.legs[1].quarantine?.cause == .contradiction)
        let actions = machine.handle(read(.captured, machine, leg: 0, now), now)
        #expect(machine.payment.latch == .none)
        #expect(actions.isEmpty)
    }

    /// Seed 1280174882: its caller had been told that it succeeded, and asked to cancel before that too late. Once the
    /// loss was compared, what was left of it after two refunds was given back.
    @Test func `a cancel turns nothing back that is captured while people decide about it`() throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        _ = try machine.cancel(CancelRequest(key: IdempotencyKey("cancel-1"), at: now.now), now)
        let run = try #require(ComparisonRunID(text: "cmp_" + String(repeating: "0", count: 40)))
        for leg in 0..<2 {
            let difference = ComparedDifference(
                leg: leg, run: run, finding: .statusDiffers, row: "both.status", action: .quarantine)
            _ = machine.handle(.compared(difference), now)
        }
        for leg in 0..<2 { _ = machine.handle(read(.captured, machine, leg: leg, now), now) }
        #expect(machine.payment.latch == .none && machine.payment.state == .quarantined)
        let compared = RecoveryWindow(readsCountFrom: now.now, latestNotAfter: now.now, listingCompared: true)
        _ = machine.handle(.recoveryOpened(compared), now)
        for leg in 0..<2 { _ = machine.handle(read(.captured, machine, leg: leg, now), now) }
        #expect(machine.payment.state == .succeeded)
    }

    @Test func `a leg that is gone turns back what is captured while people decide about it`() throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        let other = try fixture.amount(7)
        _ = machine.handle(read(.captured, machine, leg: 0, now, amount: other), now)
        #expect(machine.payment.legs[0].quarantine?.cause == .contradiction)
        _ = machine.handle(read(.voided, machine, leg: 1, now), now)
        #expect(machine.payment.latch == .back)
    }

    /// The leg in quarantine is read; the other one is not read any more, and does not keep the deadline away.
    @Test(arguments: [Observation.Status.authorized, .captured])
    func `a deadline counts beside a leg in quarantine that was read, and is not what was asked`(
        _ found: Observation.Status
    ) throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        _ = machine.handle(read(found, machine, leg: 1, now, amount: try fixture.amount(7)), now)
        #expect(machine.payment.legs[1].quarantine?.cause == .contradiction)
        let late = try context([.reference, .reference], after: .hours(2))
        _ = machine.handle(.woke, late)
        #expect(machine.payment.stopReason?.code == .deadlinePassed)
        #expect(machine.payment.latch == .none, "people decide first")
        let leg = machine.payment.legs[1]
        let request = RepairRequest(
            payment: machine.payment.id, target: .leg(1), action: .neverCharged,
            evidence: Repair.Evidence(text: "their letter", reference: "theirs-1", amount: leg.amount),
            isAgainstProvider: true, version: machine.payment.version, by: "ann", lasts: .hours(1))
        let proposed = try PaymentMachine.propose(request, of: machine.payment, late)
        let approval = Repair.Decision(isApproved: true, by: "ben", at: late.now, reason: "as they wrote")
        machine = try PaymentMachine.decide(proposed.repair, approval, of: proposed.machine.payment, late).machine
        _ = machine.handle(read(.authorized, machine, leg: 0, late), late)
        #expect(machine.payment.latch == .back)
    }

    @Test func `a deadline does not turn back what a leg in quarantine shows as captured`() throws {
        var machine = try recovering([.reference, .reference])
        let now = try context([.reference, .reference], after: .minutes(1))
        let run = try #require(ComparisonRunID(text: "cmp_" + String(repeating: "1", count: 40)))
        let difference = ComparedDifference(
            leg: 1, run: run, finding: .statusDiffers, row: "both.status", action: .quarantine)
        _ = machine.handle(.compared(difference), now)
        #expect(machine.payment.legs[1].quarantine != nil)
        _ = machine.handle(read(.captured, machine, leg: 1, now), now)
        let late = try context([.reference, .reference], after: .hours(2))
        _ = machine.handle(.woke, late)
        #expect(machine.payment.latch == .none)
        #expect(machine.payment.stopReason == nil)
    }

    @Test func `a quarantine of untrusted rows is judged anew`() throws {
        var machine = try recovering([.reference])
        let now = try context([.reference], after: .minutes(1))
        _ = machine.handle(read(.authorized, machine, leg: 0, now, amount: try fixture.amount(7)), now)
        #expect(machine.payment.state == .quarantined)
        let window = RecoveryWindow(readsCountFrom: now.now, latestNotAfter: now.now, listingCompared: true)
        _ = machine.handle(.claimedAfterLoss(window), now)
        #expect(machine.payment.legs[0].quarantine == nil)
        _ = machine.handle(read(.authorized, machine, leg: 0, now), now)
        #expect(machine.payment.latch == .forward)
    }

    @Test func `a leg in quarantine whose provider is not configured is left alone, and stays due`() throws {
        var machine = try recovering([.reference])
        let now = try context([.reference], after: .minutes(1))
        _ = machine.handle(read(.authorized, machine, leg: 0, now, amount: try fixture.amount(7)), now)
        let without = MachineContext(now: fixture.start + .days(3), contracts: [:])
        #expect(machine.handle(.woke, without).isEmpty)
        #expect(machine.busy.isEmpty)
        #expect(try #require(machine.payment.dueAt) > without.now)
    }

    @Test func `a refund that never left before it was refused has failed`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        stage.sendScript = [.unsent, .unsent, .refused]
        try stage.refund([0: 100])
        stage.run(while: { $0.durable.refunds[0].state == .processing })
        #expect(stage.durable.refunds[0].state == .failed)
        #expect(stage.alerts.isEmpty)
    }

    @Test func `how long one effect was in doubt is no reason to look late at the next`() throws {
        var stage = try fixture.stage(
            [.reference], deadline: fixture.start + .days(3), send: [.lostAnswer, .lostAnswer],
            read: Array(repeating: .unavailable, count: 7))
        stage.run(while: { $0.sent(.capture).isEmpty })
        let captured = stage.now
        stage.run(while: { $0.durable.state != .succeeded })
        #expect(stage.now < captured + .minutes(1))
    }
}
