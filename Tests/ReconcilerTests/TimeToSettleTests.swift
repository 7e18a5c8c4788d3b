import MemoryStore
import StoreContract
import Testing

@testable import PaymentCore
@testable import Reconciler

/// How long a payment took, for the objective: from what its caller asked for, without the time at rest.
@Suite struct TimeToSettleTests {
    private let scenario: Scenario

    init() {
        let clock = ManualClock()
        scenario = Scenario(store: MemoryStore(clock: { clock.now() }), clock: clock)
    }

    private func work(_ capture: CaptureMode) async throws -> Work {
        var order = Scenario.Order("a")
        order.capture = capture
        return try await scenario.settle(order)
    }

    @Test func `an automatic payment counts from its creation`() async throws {
        // Each answer takes a millisecond: the hold, and the capture.
        #expect(try await work(.automatic).payment.timeToSettle == .milliseconds(2))
    }

    @Test func `a manual payment counts from its capture, not its rest`() async throws {
        var work = try await work(.manual)
        #expect(work.payment.state == .authorized && work.payment.timeToSettle == nil)
        scenario.clock.advance(by: .hours(50))
        let actions = try work.machine.capture(key: IdempotencyKey("capture-1"), amounts: nil, scenario.context())
        scenario.clock.advance(by: .seconds(3))
        try await scenario.answer(&work, actions)
        #expect(work.payment.state == .succeeded)
        #expect(work.payment.timeToSettle == .milliseconds(3_001))
    }

    @Test func `a manual payment that is canceled counts from the cancel`() async throws {
        var work = try await work(.manual)
        scenario.clock.advance(by: .hours(50))
        let cancel = CancelRequest(key: try IdempotencyKey("cancel-1"), at: scenario.clock.now())
        let actions = try work.machine.cancel(cancel, scenario.context())
        try await scenario.answer(&work, actions)
        #expect(work.payment.state == .canceled)
        #expect(work.payment.timeToSettle == .milliseconds(1))
    }

    /// What cannot happen to a payment that rests began with its creation; all else may end a rest of days.
    @Test(arguments: Reason.Code.allCases)
    func `a manual payment that fails counts only if it never rested`(_ code: Reason.Code) async throws {
        var payment = try await work(.manual).payment
        payment.conclusion = Conclusion(
            state: .failed, reason: Reason(code), at: payment.createdAt + .hours(50))
        let neverRested: Set<Reason.Code> = [.declined, .refused, .deadlinePassed]
        #expect(payment.timeToSettle == (neverRested.contains(code) ? .hours(50) : nil))
    }

    @Test func `a hold that runs into its deadline was asked by nobody`() async throws {
        var work = try await work(.manual)
        scenario.clock.advance(by: .hours(24 * 30))
        let actions = try await scenario.save(&work, .woke)
        try await scenario.answer(&work, actions)
        #expect(work.payment.conclusion != nil)
        #expect(work.payment.timeToSettle == nil)
    }
}
