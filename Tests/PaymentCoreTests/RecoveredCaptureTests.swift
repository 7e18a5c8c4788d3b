import PaymentCore
import Testing

/// Captures whose requests were lost with their rows, while the providers show what they did.
extension RecoveredPaymentTests {
    /// A caller that was told never asks again (a partition of two sites: two payments went on for ever).
    @Test func `a capture of every leg is taken into the row, though its request was lost`() throws {
        let contracts = [ProviderContract.reference, .reference]
        var machine = try recovering(contracts, .manual, .awaited)
        let now = try context(contracts, after: .minutes(1))
        _ = machine.handle(read(.captured, machine, leg: 0, now), now)
        #expect(machine.payment.latch == .none)
        _ = machine.handle(read(.captured, machine, leg: 1, now), now)
        #expect(machine.payment.state == .succeeded)
        #expect(machine.payment.capture?.isFound == true)
        #expect(machine.payment.captured == machine.payment.amount)
    }

    @Test func `the caller of a capture that was found asks again and is told; another one came too late`() throws {
        var machine = try recovering([.reference], .manual, .awaited)
        let now = try context([.reference], after: .minutes(1))
        let leg = machine.payment.legs[0]
        let key = try IdempotencyKey("capture-1")
        let lost = EffectKey(
            EffectKey.Source(
                caller: machine.payment.caller, payment: machine.payment.id, operation: key, leg: 0, effect: .capture),
            format: ProviderContract.reference.keyFormat)
        let part = try fixture.amount(400)
        let seen = Observation(
            .captured, began: now.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [Observation.Movement(key: lost, amount: part, state: .succeeded)])
        _ = machine.handle(.inquired(leg: 0, seen), now)
        #expect(machine.payment.state == .succeeded && machine.payment.captured == part)
        #expect(throws: OperationRefusal.tooLate(state: .succeeded)) {
            try machine.capture(key: IdempotencyKey("capture-2"), amounts: nil, now)
        }
        let refusal = OperationRefusal.invalid(
            field: "legs", detail: "under this key 400 JPY was captured; the same is allowed")
        #expect(throws: refusal, "other amounts under the same key") {
            try machine.capture(key: key, amounts: nil, now)
        }
        _ = try machine.capture(key: key, amounts: [0: part], now)
        #expect(machine.payment.capture?.key == key && machine.payment.capture?.isFound == nil)
        #expect(machine.payment.state == .succeeded)
    }

    @Test func `where acknowledged rows are kept, a capture that no row asked for is not its caller's`() throws {
        var machine = try recovering([.reference], .manual)
        let now = try context([.reference], after: .minutes(1))
        _ = machine.handle(read(.captured, machine, leg: 0, now), now)
        #expect(machine.payment.capture == nil && machine.payment.state == .processing)
    }

    /// A caller asks, in a window, for the capture of a hold that was read.
    private func capture(readAfter: Span, askedAfter: Span) throws -> (PaymentMachine, [PaymentAction]) {
        let contracts = [forgetful]
        var machine = try recovering(contracts, .manual)
        let window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start + .minutes(20))
        _ = machine.handle(.claimedAfterLoss(window), try context(contracts))
        let early = try context(contracts, after: readAfter)
        _ = machine.handle(read(.authorized, machine, leg: 0, early), early)
        #expect(machine.payment.state == .authorized && machine.payment.recovery?.listingCompared == false)
        let late = try context(contracts, after: askedAfter)
        let actions = try machine.capture(key: IdempotencyKey("capture-1"), amounts: nil, late)
        return (machine, actions)
    }

    private var forgetful: ProviderContract {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(24)
        return contract
    }

    private func sends(_ actions: [PaymentAction]) -> Bool {
        actions.contains { if case .send(let order) = $0 { order.kind == .capture } else { false } }
    }

    /// Seed 1453030877: a line stayed hidden in the listing, so the capture waited until the hold ran out.
    @Test func `a hold that a read shows is captured without a comparison of the listings`() throws {
        #expect(try sends(capture(readAfter: .minutes(1), askedAfter: .minutes(2)).1))
        #expect(try sends(capture(readAfter: .minutes(1), askedAfter: .hours(23)).1))
        #expect(
            try sends(capture(readAfter: .hours(1), askedAfter: .days(3)).1),
            "no request of a lost row could arrive after the read")
    }

    @Test func `a hold that was read too early is read again once the key of its capture may be forgotten`() throws {
        var (machine, actions) = try capture(readAfter: .minutes(1), askedAfter: .hours(25))
        #expect(!sends(actions))
        let due = try #require(machine.payment.dueAt)
        let then = try context([forgetful], after: due - fixture.start)
        actions = machine.handle(.woke, then)
        #expect(actions.contains { if case .inquire = $0 { true } else { false } })
        #expect(sends(machine.handle(read(.authorized, machine, leg: 0, then), then)))
    }
}
