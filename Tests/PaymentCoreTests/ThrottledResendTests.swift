import PaymentCore
import Testing

/// Providers that cannot be asked, and throttle: a copy of the request may yet be executed.
@Suite struct ThrottledResendTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// Seed 136 in the surroundings of a planted bug: nobody asked for the hold, and the payment ended without it.
    @Test(arguments: [ProviderContract.unaskable, .unaskableEnforcing])
    func `what was throttled is sent again before it counts as never made, since a copy may come`(
        _ contract: ProviderContract
    ) throws {
        var stage = try fixture.stage([contract], plug: true, send: [.throttledBeforeCopy(.seconds(10))])
        stage.run(while: { $0.durable.legs[0].primary.worst != .throttled })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.sent(.void).count == 1 && !stage.isHeld(0), "\(stage.rows)")
    }

    /// Found by the search: the refusal of the resend says nothing of the copy that comes after it.
    @Test func `a refusal soon after a throttled request does not settle it`() throws {
        var stage = try fixture.stage(
            [.unaskable], plug: true, send: [.throttledBeforeCopy(.seconds(60)), .refused])
        stage.run(while: { $0.durable.legs[0].primary.worst != .throttled })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.sent(.void).count == 1 && !stage.isHeld(0), "\(stage.rows)")
    }
}
