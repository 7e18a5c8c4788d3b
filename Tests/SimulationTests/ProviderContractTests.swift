import PaymentCore
import Simulation
import Testing

@Suite struct ProviderContractTests {
    @Test func `the same key is executed once`() throws {
        var story = try Story()
        let order = try story.nextSend()
        #expect(try story.deliver(order).changed)
        let again = try story.deliver(order)
        #expect(!again.changed)
        #expect(again.report.outcome == .accepted)
        #expect(again.report.code == "replayed")
        #expect(figures(story).liveCharges == 1)
    }

    @Test func `a request is not executed after its not_after`() throws {
        var story = try Story()
        let order = try story.nextSend()
        story.now = story.now + .minutes(3)
        let late = try story.deliver(order)
        #expect(late.report.code == "not_after_passed")
        #expect(late.report.outcome == .indeterminate)
        #expect(figures(story).liveCharges == 0)
    }

    @Test func `a provider that does not enforce it executes a request at any time`() throws {
        var story = try Story([.gmoPG])
        let order = try story.nextSend()
        story.now = story.now + .hours(9)
        #expect(try story.deliver(order).changed)
    }

    @Test func `a tombstone outlives every retention`() throws {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(1)
        contract.enforcesNotAfter = false
        var story = try Story([contract])
        let order = try story.nextSend()
        story.answer(order, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400))
        try story.operate { machine, context throws in
            try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
        }
        try story.settle()
        #expect(story.payment.state == .canceled)
        story.now = story.now + .days(9)
        let late = try story.deliver(order)
        #expect(late.report.code == "tombstoned")
        #expect(figures(story).liveCharges == 0)
    }

    @Test func `an unbound decline can become a charge`() throws {
        var story = try Story([.gmoPG])
        let order = try story.nextSend()
        #expect(try story.deliver(order, choices: ProviderChoices(declines: true)).report.outcome == .declined)
        #expect(try story.deliver(order).changed)
        #expect(figures(story).liveCharges == 1)
    }

    @Test func `a bound decline stays`() throws {
        var story = try Story()
        let order = try story.nextSend()
        let first = try story.deliver(order, choices: ProviderChoices(declines: true))
        #expect(first.effective.declines)
        let again = try story.deliver(order)
        #expect(again.report.outcome == .declined)
        #expect(!again.effective.declines)
    }

    @Test func `choices that make no difference are not reported`() throws {
        var story = try Story()
        let order = try story.nextSend()
        try story.deliver(order)
        let effective = try story.deliver(
            order, choices: ProviderChoices(declines: true, pendingFor: .hours(1), contradicts: true)
        ).effective
        #expect(!effective.declines)
        #expect(effective.pendingFor == .zero)
        #expect(!effective.contradicts)
    }

    @Test func `a stale read shows what was, never older than the contract says`() throws {
        var contract = ProviderContract.reference
        contract.visibilityLag = .seconds(30)
        var story = try Story([contract])
        let order = try story.nextSend()
        try story.deliver(order)
        story.now = story.now + .seconds(20)
        #expect(read(&story, staleBy: .seconds(25)).status == .notFound)
        #expect(read(&story, staleBy: .seconds(10)).status == .authorized)
        story.now = story.now + .seconds(20)
        #expect(read(&story, staleBy: .hours(1)).status == .authorized)
        let released = story.providers[0].changeOutside(.void, order.transactionKey, at: story.now)
        #expect(released)
        story.now = story.now + .seconds(5)
        #expect(read(&story, staleBy: .seconds(10)).status == .authorized)
        #expect(read(&story, staleBy: .zero).status == .voided)
    }

    @Test func `what is undecided is decided in time, and a hold ends`() throws {
        var story = try Story()
        let order = try story.nextSend()
        try story.deliver(order, choices: ProviderChoices(pendingFor: .minutes(10)))
        #expect(read(&story).status == .pending)
        #expect(figures(story).liveCharges == 0)
        story.now = story.now + .minutes(10)
        #expect(figures(story).held == 1_000)
        #expect(read(&story).status == .authorized)
        story.now = story.now + .days(7)
        #expect(figures(story).held == 0)
        #expect(read(&story).status == .expired)
    }

    @Test func `a sale is reversed before its deadline only`() throws {
        for (delay, status) in [(Span.minutes(10), Observation.Status.voided), (.minutes(20), .captured)] {
            var story = try Story([.payPay])
            let order = try story.nextSend()
            try story.deliver(order)
            story.answer(order, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400))
            try story.operate { machine, context throws in
                try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
            }
            story.now = story.now + .seconds(3)
            story.handle(.woke)
            // Once to know that it was taken, and once more before all of it is given back.
            for _ in 0..<2 {
                if case .inquire(let inquiry)? = story.actions.popLast() { try story.inquire(inquiry) }
            }
            let void = try story.nextSend()
            #expect(void.kind == .void)
            story.now = story.now + delay
            try story.deliver(void)
            #expect(read(&story).status == status)
        }
    }

    @Test func `sums are shown where refunds are not shown one by one`() throws {
        var story = try Story([.gmoPG])
        try story.settle()
        let key = story.payment.legs[0].primary.key
        for change in [OutsideChange.refundPart, .refundPart] {
            let given = story.providers[0].changeOutside(change, key, at: story.now)
            #expect(given)
        }
        let shown = read(&story)
        #expect(shown.refunds.map(\.amount.value) == [2])
        #expect(figures(story).refundedOutside == 2)
        #expect(story.providers[0].sums(at: story.now).map(\.figures.net) == [998])
    }

    @Test func `a provider that shows another amount shows it in every answer`() throws {
        var story = try Story()
        let order = try story.nextSend()
        let shown = try story.deliver(order, choices: ProviderChoices(contradicts: true)).report.observation
        #expect(shown?.amount?.value == 1_001)
        #expect(read(&story).amount?.value == 1_001)
        #expect(figures(story).held == 1_000)
    }

    private func figures(_ story: Story) -> BookFigures {
        story.providers[0].figures(of: story.payment.id, leg: 0, at: story.now)
    }

    private func read(_ story: inout Story, staleBy: Span = .zero) -> Observation {
        let key = story.payment.legs[0].primary.key
        return story.providers[0].read(key, began: story.now, at: story.now, staleBy: staleBy)
    }
}
