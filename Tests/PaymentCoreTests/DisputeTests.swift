import PaymentCore
import Testing

/// What is given back beside a dispute that is lost is paid twice.
@Suite struct DisputeTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func succeeded(_ contracts: [ProviderContract] = [.reference]) throws -> Stage {
        var stage = try fixture.stage(contracts)
        stage.run()
        try #require(stage.durable.state == .succeeded)
        return stage
    }

    /// A comparison hands over what the listing shows.
    private func listed(_ stage: inout Stage, _ state: Dispute.State, id: String = "dp_1", leg: Int = 0) {
        let amount = stage.durable.legs[leg].amount
        if stage.holder == nil { _ = stage.restarted() }
        stage.handle(.disputed(leg: leg, [Dispute(id: id, amount: amount, state: state)]))
    }

    private func alerts(_ stage: Stage) -> [String?] {
        stage.trail.filter { $0.type == .alert }.map { $0.value("what") }
    }

    @Test func `a payment that rests learns of a dispute, keeps its state and refuses refunds meanwhile`() throws {
        var stage = try succeeded([.reference, .reference])
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        listed(&stage, .open)
        #expect(stage.durable.state == .succeeded && stage.durable.legs[0].openDisputes.map(\.id) == ["dp_1"])
        #expect(alerts(stage) == ["dispute open"] && stage.alerts.count == 1)
        for amounts in [nil, [0: 100], [0: 100, 1: 100]] as [[Int: Int64]?] {
            #expect(throws: OperationRefusal.disputed(leg: 0, dispute: "dp_1")) { try stage.refund(amounts) }
        }
        #expect(stage.durable.refunds.isEmpty && stage.sent(.refund).isEmpty)

        try stage.refund([1: 100], key: "refund-2")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])

        #expect(PaymentMachine.explain(stage.durable, stage.context).remedies == [.answerDispute])

        // Told again, it is no news.
        let length = stage.trail.count
        listed(&stage, .open)
        #expect(stage.trail.count == length && stage.alerts.count == 1)

        stage.atProvider(0) { ledger, key in ledger.dispute(key, .won) }
        listed(&stage, .won)
        #expect(stage.durable.legs[0].openDisputes.isEmpty && alerts(stage) == ["dispute open", "dispute won"])
        try stage.refund([0: 100], key: "refund-3")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded, .succeeded])
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
    }

    @Test func `a listing that is older than what is known does not open it again`() throws {
        var stage = try succeeded()
        listed(&stage, .open)
        listed(&stage, .lost)
        listed(&stage, .open)
        #expect(stage.durable.legs[0].disputes?.map(\.state) == [.lost])
        listed(&stage, .open, id: "dp_2")
        #expect(stage.durable.legs[0].openDisputes.map(\.id) == ["dp_2"])
    }

    @Test func `of many disputes the open and the newest are kept, and none of another currency`() throws {
        var stage = try succeeded()
        listed(&stage, .open, id: "dp_0")
        for number in 10..<50 { listed(&stage, .won, id: "dp_\(number)") }
        #expect(stage.durable.legs[0].disputes?.count == Dispute.mostOfOne)
        #expect(stage.durable.legs[0].disputes?.last?.id == "dp_49")
        let other = Dispute(id: "dp_x", amount: try Money(5, #require(Currency(code: "USD"))), state: .open)
        stage.handle(.disputed(leg: 0, [other]))
        stage.handle(.disputed(leg: 7, [other]))
        #expect(stage.durable.legs[0].openDisputes.map(\.id) == ["dp_0"])
    }

    @Test func `a refund that was not sent fails once its charge is disputed, and is not sent later`() throws {
        var stage = try succeeded()
        stage.sendScript = [.unsent]
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        listed(&stage, .open)
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.failed])
        #expect(stage.durable.refunds[0].parts[0].reason == "disputed")
        #expect(stage.sent(.refund).count == 1 && stage.net(0) == stage.durable.legs[0].amount.value)
        #expect(stage.durable.refundableAmount(ofLeg: 0) == stage.durable.legs[0].amount)
    }

    @Test func `a refund that was asked to slow down waits until its charge is not disputed any more`() throws {
        var stage = try succeeded()
        stage.sendScript = [.throttled]
        try stage.refund([0: 300])
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        listed(&stage, .open)
        let later = stage.now + .minutes(20)
        stage.run(while: { $0.now < later })
        #expect(stage.durable.refunds.map(\.state) == [.processing] && stage.sent(.refund).count == 1)
        let explained = PaymentMachine.explain(stage.durable, stage.context)
        #expect(explained.refunds[0].decision?.verdict.row == "own.disputed")
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .won) }
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded] && stage.sent(.refund).count == 2)
    }

    @Test func `a refund in doubt waits until its charge is not disputed any more`() throws {
        for end in [Dispute.State.won, .lost] {
            var stage = try succeeded()
            stage.sendScript = [.lostRequest]
            try stage.refund([0: 300])
            stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
            let doubt = stage.now + .minutes(20)
            stage.run(while: { $0.now < doubt })
            #expect(stage.durable.refunds.map(\.state) == [.processing] && stage.sent(.refund).count == 1)
            stage.atProvider(0) { ledger, key in ledger.dispute(key, end) }
            stage.run()
            let amount = stage.durable.legs[0].amount.value
            #expect(stage.durable.refunds.map(\.state) == [end == .won ? .succeeded : .failed])
            #expect(stage.net(0) == (end == .won ? amount - 300 : 0))
        }
    }

    /// A copy of the request that arrives once the dispute is over is executed.
    @Test func `a refund that is refused because of a dispute fails once no copy of it can be alive`() throws {
        var stage = try succeeded()
        let copyArrives = Span.seconds(60)
        stage.sendScript = [.duplicated(copyArrives)]
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        try stage.refund([0: 300])
        stage.run(while: { !$0.trail.contains { $0.type == .outcome && $0.value("effect") == "refund 0" } })
        #expect(stage.durable.refunds.map(\.state) == [.processing])
        #expect(stage.durable.legs[0].openDisputes.map(\.id) == ["dp_1"], "its answer shows it")
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .won) }
        stage.run()
        let amount = stage.durable.legs[0].amount.value
        let isDone = stage.durable.refunds.map(\.state) == [.succeeded]
        #expect(stage.net(0) == (isDone ? amount - 300 : amount))
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
    }

    /// Found by shops, payers and kills from outside: people were asked about it.
    @Test func `what undoes a leg and is refused because of a dispute is sent again after it`() throws {
        var stage = try fixture.stage([.reference, .reference]) { if $0.name == 1 { $0.declines[.capture] = 1 } }
        stage.run(while: { $0.durable.legs[0].capturedAmount.isZero })
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        let later = stage.now + .days(1)
        stage.run(while: { $0.now < later })
        #expect(stage.sent(.refund).count == 1 && stage.durable.legs[0].quarantine == nil)
        #expect(stage.durable.legs[0].openDisputes.map(\.id) == ["dp_1"])
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .won) }
        stage.run()
        #expect(stage.durable.state == .failed && stage.net(0) == 0)
        #expect(Set(stage.sent(.refund).map(\.key)).count == 1 && stage.sent(.refund).count == 2)
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
    }

    @Test func `a refund that fails because its provider refuses it meanwhile says so`() throws {
        var stage = try succeeded()
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.failed] && stage.sent(.refund).count == 1)
        #expect(stage.durable.refunds[0].parts[0].reason == "disputed")
    }

    @Test func `a charge that appears after the end is undone, also where it is disputed already`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        try stage.cancel()
        stage.run()
        let leg = stage.durable.legs[0]
        try #require(stage.durable.state == .canceled && leg.gone != nil)
        let capture = Observation.Movement(key: EffectKey(reported: "late"), amount: leg.amount, state: .succeeded)
        _ = stage.restarted()
        stage.handle(
            .inquired(
                leg: 0,
                Observation(
                    .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
                    captures: [capture], disputes: [Dispute(id: "dp_1", amount: leg.amount, state: .open)])))
        #expect(stage.durable.legs[0].gone == nil && stage.durable.legs[0].openDisputes.count == 1)
        #expect(alerts(stage) == ["dispute open", "late charge"] && stage.alerts.count == 2)
    }

    /// Seed 29146168806368: the provider lost the charge with its dispute, and a refund waited for ever.
    @Test func `nothing waits for a dispute of what its provider does not know any more`() throws {
        var stage = try succeeded()
        stage.sendScript = [.lostRequest]
        try stage.refund([0: 300])
        listed(&stage, .open)
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.legs[0].openDisputes.isEmpty)
        #expect(alerts(stage) == ["dispute open", "dispute not shown any more"])
        #expect(stage.durable.refunds.map(\.state) != [.processing])
    }

    @Test(arguments: [Dispute.State.won, .lost])
    func `what is to be undone waits for the end of a dispute`(_ end: Dispute.State) throws {
        var stage = try fixture.stage([.reference, .reference]) { if $0.name == 1 { $0.declines[.capture] = 1 } }
        stage.run(while: { $0.durable.legs[0].capturedAmount.isZero })
        stage.atProvider(0) { ledger, key in ledger.dispute(key, .open) }
        listed(&stage, .open)
        let later = stage.now + .days(2)
        stage.run(while: { $0.now < later })
        #expect(stage.durable.conclusion == nil && stage.sent(.refund).isEmpty && stage.net(0) > 0)
        #expect(
            stage.trail.contains { $0.value("row") == "undo.disputed" } == false, "waiting is no decision to record")
        let explained = PaymentMachine.explain(stage.durable, stage.context)
        #expect(explained.legs[0].decision?.verdict.row == "undo.disputed")
        let words = "Its payer disputes the charge (dp_1 of \(stage.durable.legs[0].amount))"
        #expect(explained.legs[0].sentences.contains { $0.hasPrefix(words) }, "\(explained.legs[0].sentences)")
        #expect(explained.remedies == [.reconcile, .answerDispute])

        stage.atProvider(0) { ledger, key in ledger.dispute(key, end) }
        stage.run()
        #expect(stage.durable.state == .failed && stage.net(0) == 0)
        #expect(stage.sent(.refund).count == (end == .won ? 1 : 0))
        #expect(stage.judge.faults.isEmpty, "\(stage.judge.faults)")
    }

    /// Seed 6786933414624: a line that changed stood beside the one that was remembered, as another transaction might,
    /// its provider was asked and did not answer, and the dispute was open for ever.
    @Test func `the end of a dispute is told where no line says when its charge was recorded`() throws {
        let world = try ComparisonWorld(run: Compared.run())
        let key = EffectKey(reported: "k")
        for (hour, state) in [Dispute.State.open, .won].enumerated() {
            let at = Compared.start + .minutes(60 * Int64(hour) + 30)
            world.books[key] = try Compared.ours("k", .taken, at: at)
            world.provider[key] = try Compared.theirs("k", .captured, names: "k", created: nil, at: at)
            world.disputes[key] = [Dispute(id: "dp_1", amount: try Money(1_000, Compared.yen()), state: state)]
            if state == .won { world.silent = [key] }
            try world.finish(Compared.run(hour: Int64(hour)))
        }
        let told = world.carriedOut.flatMap(\.disputes).map(\.state)
        #expect(told.first == .open && told.last == .won)
        #expect(world.discrepancies.isEmpty)
    }
}
