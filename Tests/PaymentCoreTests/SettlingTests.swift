import PaymentCore
import Testing

/// Creating and capturing, and what can happen on the way there.
@Suite struct SettlingTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func `an automatic payment authorizes all legs at once and captures them`() throws {
        var stage = try fixture.stage([.reference, .reference])
        #expect(stage.sent(.authorize).count == 2)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.sent.map(\.kind) == [.authorize, .authorize, .capture, .capture])
        #expect(stage.net(0) == 1_000 && stage.net(1) == 1_100)
        #expect(stage.durable.dueAt == nil)
    }

    @Test func `a manual payment rests until it is captured`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        #expect(stage.durable.state == .authorized)
        #expect(stage.net(0) == 0 && stage.isHeld(0) && stage.isHeld(1))
        #expect(stage.durable.dueAt == fixture.start + .milliseconds(50) + .days(7))
        try stage.capture()
        stage.run()
        stage.expectEnd(.succeeded)
    }

    @Test func `a partial capture takes what was asked and releases a leg of which nothing is`() throws {
        var stage = try fixture.stage([.reference, .reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.capture([0: 400, 2: 1_200])
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.net(0) == 400 && stage.net(1) == 0 && stage.net(2) == 1_200)
        #expect(stage.sent(.void).map(\.leg) == [1])
        #expect(stage.durable.captured.value == 1_600)
    }

    @Test func `what cannot be captured is refused and changes nothing`() throws {
        var stage = try fixture.stage([.reference], .manual)
        #expect(throws: OperationRefusal.self) { try stage.capture() }
        stage.run(while: { !$0.durable.isResting })
        let before = stage.durable
        for amounts: [Int: Int64] in [[0: 1_001], [1: 1], [0: 0], [:], [-1: 5]] {
            #expect(throws: OperationRefusal.self) { try stage.capture(amounts) }
        }
        #expect(stage.durable == before)
        try stage.capture([0: 1])
        #expect(throws: OperationRefusal.tooLate(state: .processing)) { try stage.capture([0: 1], key: "again") }
        var automatic = try fixture.stage([.reference])
        #expect(throws: OperationRefusal.self) { try automatic.capture() }
    }

    @Test func `a hold that runs out ends as canceled`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.durable.conclusion?.reason?.code == .authorizationExpired)
        #expect(stage.now >= fixture.start + .days(7))
        #expect(throws: OperationRefusal.self) { try stage.capture() }
    }

    @Test func `a sale is sent last, when all others are held`() throws {
        var stage = try fixture.stage([.referenceSale, .reference, .reference], send: [.unsent])
        stage.run()
        stage.expectEnd(.succeeded)
        let kinds = stage.sent.map(\.kind)
        #expect(kinds == [.authorize, .authorize, .authorize, .sale, .capture, .capture])
    }

    @Test func `a declined sale releases the holds`() throws {
        var stage = try fixture.stage([.reference, .referenceSale]) { $0.declines[.sale] = 1 }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .declined)
        #expect(stage.sent.map(\.kind) == [.authorize, .sale, .void])
    }

    @Test func `one declined leg undoes the others`() throws {
        var stage = try fixture.stage([.reference, .reference, .reference]) {
            if $0.name == 1 { $0.declines[.authorize] = 1 }
        }
        stage.run()
        stage.expectEnd(.failed)
        #expect(Set(stage.sent(.void).map(\.leg)) == [0, 2])
        #expect(stage.sent(.capture).isEmpty)
    }

    @Test func `a decline that is not bound is tombstoned before it is believed`() throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract], send: [.duplicated(.seconds(90))]) {
            $0.declines[.authorize] = 1
        }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.sent(.void).count == 1)
    }

    @Test(arguments: [
        Stage.SendFault.lostRequest, .lostAnswer, .late(.seconds(40)), .duplicated(.seconds(40)), .unsent,
        .throttled, .crashBefore, .crashAfter,
    ])
    func `any single fault of any request leads to the same end`(_ fault: Stage.SendFault) throws {
        for count in 0..<4 {
            var script = Array(repeating: Stage.SendFault.none, count: count)
            script.append(fault)
            var stage = try fixture.stage([.reference, .reference], send: script)
            stage.run()
            stage.expectEnd(.succeeded)
        }
    }

    @Test func `a request in doubt is asked about before it is sent again`() throws {
        var stage = try fixture.stage([.reference], send: [.lostRequest])
        stage.run(while: { $0.sent.count < 2 })
        #expect(stage.trail.map(\.type).contains(.inquiry))
        #expect(stage.sent.first?.key == stage.sent.last?.key)
        stage.run()
        stage.expectEnd(.succeeded)
    }

    @Test func `a refused request fails the payment and is not sent again`() throws {
        var stage = try fixture.stage([.reference], send: [.refused])
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .refused)
        #expect(stage.sent.count == 1)
    }

    @Test func `refused credentials are tried once more`() throws {
        var once = try fixture.stage([.reference], send: [.credentialsRefused])
        once.run()
        once.expectEnd(.succeeded)
        var twice = try fixture.stage([.reference], send: [.credentialsRefused, .credentialsRefused])
        twice.run()
        twice.expectEnd(.failed)
    }

    @Test func `another amount than asked is never charged again, and nobody gives up in silence`() throws {
        var stage = try fixture.stage([.reference, .reference]) { $0.showsAnotherAmount = $0.name == 0 }
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.legs.first?.quarantine?.cause == .contradiction)
        stage.run(steps: 60)
        #expect(stage.durable.state == .quarantined)
        #expect(stage.sent(.authorize).count == 2)
        #expect(!stage.alerts.isEmpty)
    }

    @Test func `a key that may be forgotten is quarantined, not charged twice`() throws {
        var contract = ProviderContract.forgetful
        contract.enforcesNotAfter = false
        let outage = Array(repeating: Stage.ReadFault.unavailable, count: 7)
        var stage = try fixture.stage(
            [contract], deadline: fixture.start + .days(2), send: [.lostRequest], read: outage)
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.legs.first?.quarantine?.cause == .keyTooOld)
        #expect(stage.sent.count == 1)
    }
}
