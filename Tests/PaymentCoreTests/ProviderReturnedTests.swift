import PaymentCore
import Testing

/// After an outage what waits for the provider is done at its return, not at the next entry of a schedule.
@Suite struct ProviderReturnedTests {
    private let card: ProviderName
    private let amount: Money
    private static let start = Timestamp(milliseconds: 1_700_000_000_000)

    init() throws {
        card = try ProviderName("card")
        amount = try Money(1_200, #require(Currency(code: "JPY")))
    }

    private func context(_ now: Timestamp) -> MachineContext {
        MachineContext(now: now, contracts: [card: .reference])
    }

    private func created(_ now: Timestamp) throws -> PaymentMachine {
        let request = try CreateRequest(
            caller: CallerID("shop"), key: IdempotencyKey("create-1"), amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            deadline: now + .days(7), contracts: [card: .reference])
        return PaymentMachine.create(request, context(now)).machine
    }

    /// A payment whose provider went away, after so many tries that it waits for hours.
    private func waiting(_ outcome: OutcomeClass) throws -> (machine: PaymentMachine, now: Timestamp) {
        var now = Self.start
        var machine = try created(now)
        _ = machine.handle(
            .attempted(leg: 0, effect: .primary, number: 1, AttemptReport(outcome, code: "down")), context(now))
        for _ in 0..<7 {
            now = try #require(machine.payment.dueAt)
            for action in machine.handle(.woke, context(now)) {
                switch action {
                case .send(let order):
                    let report = AttemptReport(.unsent, code: "down")
                    _ = machine.handle(
                        .attempted(leg: 0, effect: .primary, number: order.number, report), context(now))
                case .inquire:
                    let nothing = Observation(.unavailable, began: now, source: .inquiry)
                    _ = machine.handle(.inquired(leg: 0, nothing), context(now))
                case .alert: break
                }
            }
        }
        return (machine, now)
    }

    @Test(arguments: [OutcomeClass.indeterminate, .unsent])
    func `what waited for hours is asked about, or sent, at once`(outcome: OutcomeClass) throws {
        var (machine, now) = try waiting(outcome)
        let due = try #require(machine.payment.dueAt)
        #expect(due > now + .minutes(30))
        now = now + .minutes(5)
        let actions = machine.handle(.providerReturned(card), context(now))
        #expect(actions.count == 1)
        switch (outcome, actions.first) {
        case (.indeterminate, .inquire?), (.unsent, .send?): break
        default: Issue.record("unexpected: \(actions)")
        }
        // If it is away again, it is looked at soon, as at the beginning of an outage.
        let nothing = Observation(.unavailable, began: now, source: .inquiry)
        guard outcome == .indeterminate else { return }
        _ = machine.handle(.inquired(leg: 0, nothing), context(now))
        #expect(try #require(machine.payment.dueAt) < now + .minutes(1))
    }

    @Test func `what waits for something else stays as it is`() throws {
        var (machine, now) = try waiting(.indeterminate)
        let before = machine.payment
        #expect(machine.handle(.providerReturned(try ProviderName("wallet")), context(now)).isEmpty)
        #expect(machine.payment.dueAt == before.dueAt)
        now = Self.start
        var throttled = try created(now)
        let later = now + .minutes(30)
        let report = AttemptReport(.throttled, code: "http_429", retryAfter: later)
        _ = throttled.handle(.attempted(leg: 0, effect: .primary, number: 1, report), context(now))
        #expect(throttled.handle(.providerReturned(card), context(now + .minutes(1))).isEmpty)
        #expect(try #require(throttled.payment.dueAt) >= later)
    }
}
