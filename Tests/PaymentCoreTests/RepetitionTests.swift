import PaymentCore
import Testing

/// After rows were lost with what callers were told: what had no effect so far begins only when its caller asks again.
@Suite struct RepetitionTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func context(after span: Span, mayBegin: Bool = true) throws -> MachineContext {
        var context = MachineContext(now: fixture.start + span, contracts: try fixture.byName([.reference]))
        context.mayBegin = mayBegin
        return context
    }

    /// A row that outlived a loss: nothing was sent yet, or what was sent is in doubt.
    private func survivor(sent: Bool, _ loss: RecoveryWindow.Loss) throws -> PaymentMachine {
        let made = PaymentMachine.create(
            try fixture.request([.reference]), try context(after: .zero, mayBegin: sent)
        ).machine
        let now = try context(after: .minutes(1))
        var machine = PaymentMachine(payment: made.payment)
        var window = RecoveryWindow.opened(by: loss, at: now.now, contracts: [.reference], listingCompared: true)
        window.readsCountFrom = now.now
        _ = machine.handle(.claimedAfterLoss(window), now)
        return machine
    }

    /// Reads that nothing is there, as often as it is asked about.
    private func readNothing(_ machine: inout PaymentMachine, after span: Span) throws -> [SendOrder] {
        var sent: [SendOrder] = []
        for round in 0..<3 {
            let now = try context(after: span + .minutes(Int64(round)))
            let nothing = Observation(
                .notFound, began: now.now, source: .inquiry, key: machine.payment.legs[0].primary.key)
            let actions = machine.handle(.inquired(leg: 0, nothing), now) + machine.handle(.woke, now)
            sent += actions.compactMap { if case .send(let order) = $0 { order } else { nil } }
            guard sent.isEmpty else { return sent }
        }
        return sent
    }

    @Test(arguments: [false, true], [RecoveryWindow.Loss.asynchronousPromotion, .restore])
    func `what had no effect so far is begun once its caller asks again`(sent: Bool, loss: RecoveryWindow.Loss) throws {
        var machine = try survivor(sent: sent, loss)
        #expect(machine.payment.isBeingConfirmed && !machine.payment.awaitsCaller)
        #expect(try readNothing(&machine, after: .minutes(2)).isEmpty)
        #expect(machine.payment.awaitsCaller && !machine.payment.isBeingConfirmed)
        #expect(machine.payment.dueAt == machine.payment.deadline)

        _ = machine.handle(.callerRepeated, try context(after: .minutes(6)))
        #expect(machine.payment.recovery?.repetition == .heard && !machine.payment.awaitsCaller)
        let orders = try readNothing(&machine, after: .minutes(7))
        #expect(orders.count == 1 && orders.first?.effect == .primary)
    }

    @Test func `what nobody asks for again is given up at its deadline, and nothing was sent`() throws {
        var machine = try survivor(sent: false, .asynchronousPromotion)
        _ = try readNothing(&machine, after: .minutes(2))
        let late = machine.payment.deadline - fixture.start + .minutes(1)
        let sent = try readNothing(&machine, after: late)
        #expect(sent.allSatisfy { $0.kind != .authorize }, "\(sent)")
        #expect(machine.payment.latch == .back)
    }

    @Test func `a promotion that keeps what was acknowledged asks nobody`() throws {
        var machine = try survivor(sent: false, .promotion)
        #expect(machine.payment.recovery?.repetition == nil)
        #expect(try readNothing(&machine, after: .minutes(2)).count == 1)
        #expect(!machine.payment.awaitsCaller)
    }

    @Test func `a caller that was heard is not asked again because the listings were compared, but after another loss`()
        throws
    {
        var machine = try survivor(sent: false, .restore)
        _ = machine.handle(.callerRepeated, try context(after: .minutes(6)))
        var window = try #require(machine.payment.recovery)
        window.repetition = .awaited
        #expect(window.needed(by: machine.payment) == nil)
        window.readsCountFrom = window.readsCountFrom + .hours(1)
        #expect(window.needed(by: machine.payment)?.repetition == .awaited)
        window.repetition = nil
        #expect(window.needed(by: machine.payment)?.repetition == .heard)
    }

    @Test func `a new payment comes from its caller`() throws {
        let now = try context(after: .zero)
        let window = RecoveryWindow.opened(by: .restore, at: now.now, contracts: [.reference])
        let made = PaymentMachine.create(try fixture.request([.reference]), now, recovery: window).machine.payment
        #expect(window.repetition == .awaited && made.recovery == window.heard)
        #expect(made.isBeingConfirmed)
    }

    @Test func `a capture or a refund is judged once the payment was read, and refused for nothing that its row says`()
        throws
    {
        for taken in [false, true] {
            var stage = try fixture.stage([.reference], taken ? .automatic : .manual)
            stage.run(while: { taken ? $0.durable.latch == .none : !$0.durable.isResting })
            let now = try context(after: .minutes(1))
            var machine = PaymentMachine(payment: stage.durable)
            _ = machine.handle(.claimedAfterLoss(RecoveryWindow(readsCountFrom: now.now, latestNotAfter: now.now)), now)
            let key = try IdempotencyKey("later-1")
            #expect(throws: OperationRefusal.beingConfirmed(from: now.now)) {
                if taken {
                    _ = try machine.refund(key: key, amounts: nil, reason: nil, now)
                } else {
                    _ = try machine.capture(key: key, amounts: nil, now)
                }
            }
            let leg = machine.payment.legs[0]
            let moved = Observation.Movement(key: leg.primary.key, amount: leg.amount, state: .succeeded)
            _ = machine.handle(
                .inquired(
                    leg: 0,
                    Observation(
                        taken ? .captured : .authorized, began: now.now, source: .inquiry, key: leg.primary.key,
                        amount: leg.amount, captures: taken ? [moved] : [])), now)
            if taken {
                _ = try machine.refund(key: key, amounts: nil, reason: nil, now)
                #expect(machine.payment.refunds.count == 1)
            } else {
                _ = try machine.capture(key: key, amounts: nil, now)
                #expect(machine.payment.latch == .forward)
            }
        }
    }
}
