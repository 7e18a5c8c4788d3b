import PaymentCore
import Testing

/// A payer has to act before a provider decides: nothing is held, nothing is given up, and a cancel ends it.
@Suite struct PayerActionTests {
    let fixture: Fixture
    let shop: WebAddress

    init() throws {
        fixture = try Fixture()
        shop = try #require(WebAddress("https://shop.example/back?order=1"))
    }

    private static let contracts: [ProviderContract] = [.reference, .referenceSale, .enforcing, .forgetful, .stripe]

    private func stage(
        _ contracts: [ProviderContract], _ mode: CaptureMode = .automatic, send: [Stage.SendFault] = [],
        acknowledged: Bool = true
    ) throws -> Stage {
        try fixture.stage(
            contracts, mode, plug: true, acknowledged: acknowledged, returnURL: shop, send: send
        ) { ledger in
            if ledger.name == 0 { ledger.asksPayers = true }
        }
    }

    /// Until the payer is asked.
    private func asked(_ stage: inout Stage) {
        let came = stage.run(while: { $0.durable.state != .requiresAction })
        #expect(came, "the payer was never asked: \(stage.durable.summary)")
    }

    private func act(_ stage: inout Stage, approves: Bool) {
        stage.atProvider(0) { ledger, key in ledger.payerActs(key, approves: approves) }
    }

    @Test(arguments: contracts) func `once the payer has confirmed it, it goes on`(_ contract: ProviderContract) throws
    {
        var stage = try stage([contract])
        asked(&stage)
        #expect(stage.durable.payerStep?.url.text.hasPrefix("https://bank.example/") == true)
        #expect(stage.durable.actionAskedAt != nil)
        act(&stage, approves: true)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.sent.filter { $0.effect == .primary }.count == 1, "it is asked about, and not sent again")
        #expect(stage.net(0) == 1_000 && stage.alerts.isEmpty)
    }

    @Test(arguments: contracts) func `a payer who refuses ends it`(_ contract: ProviderContract) throws {
        var stage = try stage([contract, .reference])
        asked(&stage)
        act(&stage, approves: false)
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .declined)
    }

    @Test(arguments: contracts)
    func `a payer who does nothing is waited for until the deadline, and it is canceled`(
        _ contract: ProviderContract
    ) throws {
        var stage = try stage([contract, .reference])
        asked(&stage)
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .deadlinePassed)
        #expect(stage.alerts.isEmpty, "that a payer takes time is nobody's business: \(stage.alerts)")
        act(&stage, approves: true)
        #expect(stage.net(0) == 0 && !stage.isHeld(0), "too late: it was canceled at the provider")
    }

    @Test func `payers are looked at every half a minute, also late`() throws {
        var stage = try stage([.reference])
        asked(&stage)
        stage.run(until: stage.now + .minutes(8))
        act(&stage, approves: true)
        let acted = stage.now
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.durable.updatedAt - acted < .seconds(40))
    }

    @Test func `whoever asks while an inquiry is under way is told of what is asked afterwards`() throws {
        var stage = try stage([.reference])
        asked(&stage)
        stage.run(while: { $0.holder?.busy.isEmpty ?? true })
        // What is being read is from before the payer acted.
        act(&stage, approves: true)
        let acted = stage.now
        stage.handle(.inquireNow)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.durable.updatedAt - acted < .seconds(5), "\(stage.durable.updatedAt - acted)")
    }

    @Test(arguments: [Stage.SendFault.lostAnswer, .lostRequest, .crashBefore, .crashAfter])
    func `a lost answer asks the payer once, and charges once`(_ fault: Stage.SendFault) throws {
        var stage = try stage([.reference], send: [fault])
        asked(&stage)
        act(&stage, approves: true)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(Set(stage.sent.filter { $0.effect == .primary }.map(\.key)).count == 1 && stage.net(0) == 1_000)
    }

    @Test(arguments: [true, false])
    func `a cancel beside a payer who acts leaves nothing held or taken`(isSale: Bool) throws {
        for delay in [Int64(0), 30, 60, 90, 120, 400] {
            var stage = try stage([isSale ? .referenceSale : .reference])
            asked(&stage)
            try stage.cancel()
            stage.run(until: stage.now + .milliseconds(delay))
            act(&stage, approves: true)
            stage.run()
            #expect(stage.durable.state == .canceled, "\(stage.durable.summary)")
            #expect(stage.net(0) == 0 && !stage.isHeld(0), "after \(delay) ms")
        }
    }

    @Test func `a void whose request was lost is sent again`() throws {
        var stage = try stage([.reference])
        asked(&stage)
        stage.sendScript = [.lostRequest]
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.sent(.void).count == 2)
    }

    @Test func `a manual payment rests once its payer has confirmed it`() throws {
        var stage = try stage([.reference], .manual)
        asked(&stage)
        act(&stage, approves: true)
        stage.run(while: { !$0.durable.isResting })
        #expect(stage.durable.state == .authorized)
    }

    @Test func `after lost rows a payment whose payer did nothing ends at its deadline`() throws {
        let request = try fixture.request([.reference], returnURL: shop)
        var stage = try stage([.reference], acknowledged: false)
        stage.standby = Stage.Rows()
        stage.run(while: { $0.durable.state != .requiresAction })
        stage.replicate()
        stage.failOver(request)
        stage.run(while: { $0.durable.state != .requiresAction })
        #expect(stage.durable.state == .requiresAction, "it is read, and its payer is still asked")
        for _ in 0..<4 where !stage.isAtRest {
            stage.run(until: stage.now + .minutes(20))
            stage.replicate()
        }
        #expect(stage.durable.state == .failed, "\(stage.durable.summary)")
    }

    @Test func `a provider that asks for the payer of whom nobody knows the way back declines`() throws {
        var stage = try fixture.stage([.reference]) { $0.asksPayers = true }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .declined && stage.sent.allSatisfy { $0.returnURL == nil })
    }

    @Test(arguments: contracts)
    func `a payer of whom nobody knows where to go is not asked, and it is canceled at the deadline`(
        _ contract: ProviderContract
    ) throws {
        var stage = try fixture.stage([contract], plug: true, returnURL: shop) { ledger in
            (ledger.asksPayers, ledger.payersGoSomewhere) = (true, false)
        }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .deadlinePassed && stage.net(0) == 0 && !stage.isHeld(0))
    }

    @Test func `what is undecided after a payer's long step is asked about soon`() throws {
        var stage = try stage([.reference])
        asked(&stage)
        stage.run(until: stage.now + .minutes(10))
        stage.atProvider(0) { ledger, key in ledger.payerActs(key, approves: true) }
        let acted = stage.now
        stage.atProvider(0) { ledger, key in ledger.hesitate(key, until: acted + .seconds(45)) }
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.alerts.isEmpty && stage.durable.updatedAt - acted < .minutes(3), "\(stage.durable.summary)")
    }

    @Test func `a sale that a cancel reverses is not canceled before the latch is acknowledged`() throws {
        var contract = ProviderContract.referenceSale
        contract.cancelReversesSale = true
        var stage = try stage([contract], acknowledged: false)
        stage.standby = Stage.Rows()
        stage.run(while: { $0.durable.state != .requiresAction })
        try stage.cancel()
        stage.run(until: stage.now + .minutes(2))
        #expect(stage.sent(.void).isEmpty, "it might land on the completed sale, and rows be lost")
        stage.replicate()
        stage.run()
        #expect(stage.durable.state == .canceled && stage.sent(.void).count == 1)
    }

    @Test func `of two payers' steps each is reported`() throws {
        var stage = try fixture.stage([.reference, .reference], plug: true, returnURL: shop) { $0.asksPayers = true }
        stage.run(while: { stage in !stage.durable.legs.allSatisfy { $0.knowledge?.awaitsPayer == true } })
        let first = try #require(stage.durable.payerStep)
        let reported = stage.durable.reportedState
        act(&stage, approves: true)
        stage.run(while: { $0.durable.payerStep?.leg.index != 1 })
        let second = try #require(stage.durable.payerStep)
        #expect(first.leg.index == 0 && second.url != first.url)
        #expect(stage.durable.reportedState != reported && stage.durable.reportedState != nil)
    }

    @Test func `the trail says that the payer was asked, and not where`() throws {
        var stage = try stage([.reference])
        asked(&stage)
        let entry = try #require(stage.trail.last { $0.value("awaits") == "payer" })
        #expect(!entry.fields.contains { $0.value.contains("bank.example") })
    }

    @Test(arguments: [
        "http://shop.example", "ftp://shop.example", "https://", "https://user@shop.example", "https://shop example",
        "shop.example", "https://shop.example/\u{e4}", "https://" + String(repeating: "a", count: 2_048),
    ])
    func `no address of the web is refused`(text: String) { #expect(WebAddress(text) == nil) }

    @Test(arguments: ["https://shop.example", "HTTPS://shop.example:8443/a?b=c#d", "http://127.0.0.1:3000/back"])
    func `an address of the web is taken as it is`(text: String) { #expect(WebAddress(text)?.text == text) }
}
