import PaymentCore
import Testing

/// What a payment does when a comparison finds that its provider says otherwise.
@Suite struct ComparedPaymentTests {
    let fixture: Fixture
    let run: ComparisonRunID

    init() throws {
        fixture = try Fixture()
        run = try Compared.run().id
    }

    private func difference(
        _ found: ComparisonClass = .statusDiffers, _ action: ComparisonAction = .settle, leg: Int = 0
    ) -> ComparedDifference {
        ComparedDifference(leg: leg, run: run, finding: found, row: "both.status", action: action)
    }

    /// Tells the payment and lets it come to rest.
    private func told(_ stage: inout Stage, _ difference: ComparedDifference) {
        if stage.holder == nil { _ = stage.restarted() }
        stage.handle(.compared(difference))
        let end = stage.now + .minutes(30)
        stage.run(while: { stage in
            let isDue = stage.durable.dueAt.map { $0 < end } ?? false
            return isDue && !stage.awaitsPeople || !stage.wire.isEmpty || !(stage.holder?.busy.isEmpty ?? true)
        })
    }

    @Test func `a hold that somebody voided is asked about, and the payment turns back`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .voided) }
        told(&stage, difference())
        stage.run()
        #expect(stage.durable.state == .canceled)
        #expect(stage.durable.conclusion?.reason?.code == .authorizationVoided)
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
        let entry = try #require(stage.trail.first { $0.value("operation") == "comparison" })
        #expect(entry.leg == 0 && entry.value("run") == run.text && entry.value("class") == "status_differs")
        #expect(entry.value("action") == "settle" && entry.value("row") == "both.status")
    }

    /// Seed 4075257454: a payment ended in the step in which it was told, and was no end any more.
    @Test(arguments: [true, false])
    func `what was found before the payment ended does not open it again`(hadEnded: Bool) throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled && stage.durable.legs[0].gone != nil)
        _ = stage.restarted()
        stage.handle(
            .compared(
                ComparedDifference(
                    leg: 0, run: run, finding: .statusDiffers, row: "both.status", action: .settle,
                    hadEnded: hadEnded)))
        #expect((stage.durable.legs[0].gone == nil) == hadEnded)
        #expect(stage.trail.contains { $0.value("operation") == "comparison" }, "it is written down all the same")
    }

    @Test func `a hold that comes back although its void was accepted is left to people, and the state stays`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled && !stage.isHeld(0))
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .authorized) }
        told(&stage, difference())
        #expect(stage.durable.state == .canceled)
        #expect(stage.durable.legs[0].quarantine?.cause == .acceptedButMissing)
        #expect(stage.sent(.void).count == 1 && !stage.alerts.isEmpty)
    }

    @Test func `what turns out to be gone is gone again, without a request`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        try stage.cancel()
        stage.run()
        let before = stage.sent.count
        told(&stage, difference())
        #expect(stage.sent.count == before && stage.durable.state == .canceled && stage.durable.dueAt == nil)
    }

    @Test func `a charge under a key that was never sent is asked about before it is called never sent`() throws {
        var stage = try fixture.stage([.reference], .manual, send: [.unsent])
        try stage.cancel()
        stage.run()
        #expect(stage.durable.state == .canceled)
        let order = try #require(stage.sent.first)
        stage.atProvider(0) { ledger, _ in _ = ledger.execute(order, at: fixture.start) }
        #expect(stage.isHeld(0))
        told(&stage, difference())
        #expect(!stage.isHeld(0) && stage.durable.state == .canceled)
    }

    @Test func `a payment that succeeded keeps its state and sends nothing`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        let sent = stage.sent.count
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .voided) }
        told(&stage, difference(.lateReversal))
        #expect(stage.durable.state == .succeeded && stage.sent.count == sent)
    }

    @Test func `an order to quarantine is carried out once, and only while the payment is not final`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        told(&stage, difference(.amountDiffers, .quarantine))
        #expect(stage.durable.state == .quarantined)
        #expect(stage.durable.legs[0].quarantine?.row == "compared.both.status")
        let since = stage.durable.legs[0].quarantine?.since
        told(&stage, difference(.amountDiffers, .quarantine))
        #expect(stage.durable.legs[0].quarantine?.since == since)

        var ended = try fixture.stage([.reference])
        ended.run()
        told(&ended, difference(.amountDiffers, .quarantine))
        #expect(ended.durable.state == .succeeded && ended.alerts.count == 1)
    }

    @Test func `the same order twice leaves the same end`() throws {
        for times in 1...3 {
            var stage = try fixture.stage([.reference, .reference], .manual)
            stage.run(while: { $0.durable.state != .authorized })
            stage.atProvider(1) { ledger, key in ledger.changeOutside(key, to: .voided) }
            for _ in 0..<times { told(&stage, difference(leg: 1)) }
            stage.run()
            #expect(stage.durable.state == .canceled && !stage.isHeld(0) && !stage.isHeld(1))
            #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
        }
    }
}
