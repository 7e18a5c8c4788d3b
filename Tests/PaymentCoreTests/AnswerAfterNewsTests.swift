import PaymentCore
import Testing

/// A provider that cannot be asked tells how a request ended, and only then answers it or does not.
@Suite struct AnswerAfterNewsTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// Seed 35568635373639: a capture waited for the time of an inquiry that nobody needed.
    @Test(arguments: [false, true])
    func `what was told is not asked for, and a capture does not wait for that`(isAnswered: Bool) throws {
        var stage = try fixture.stage(
            [.unaskable], .manual, plug: true, send: [.lostRequest, isAnswered ? .none : .lostAnswer])
        // An answer that only says that the request was received.
        stage.atProvider(0) { ledger, _ in ledger.pendingFor = isAnswered ? .days(1) : .zero }
        stage.run(while: { $0.sent(.authorize).count < 2 })
        let held = stage.durable.legs[0].primary
        let news = EffectNews(
            key: held.key, kind: held.kind, amount: held.amount, word: ProviderWord(.succeeded, at: stage.now))
        stage.handle(.notified(leg: 0, news))
        stage.run(while: { $0.durable.legs[0].primary.open != nil || !$0.durable.isResting })
        #expect(stage.durable.legs[0].primary.lastOutcome == (isAnswered ? .accepted : .indeterminate))
        #expect(stage.durable.isResting, "\(stage.durable.summary)")
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .authorized) }
        try stage.capture()
        let asked = stage.now
        stage.run(while: { $0.sent(.capture).isEmpty })
        #expect(stage.now == asked, "\(stage.durable.summary)")
        stage.run()
        var judge = stage.judge
        judge.atRest(stage)
        #expect(stage.durable.state == .succeeded && judge.faults.isEmpty, "\(judge.faults)")
    }

    /// Whoever has the notification of a capture that failed later sends it again under a later date.
    @Test(arguments: [false, true])
    func `an old word under a later date does not undo a failure where no date is signed`(isDateSigned: Bool) throws {
        var stage = try fixture.stage([.unaskable], plug: true)
        stage.run()
        let capture = try #require(stage.durable.legs[0].capture)
        func tell(_ state: Observation.Movement.State, after pause: Span) {
            stage.handle(
                .notified(
                    leg: 0,
                    EffectNews(
                        key: capture.key, kind: .capture, reference: "one", amount: capture.amount,
                        word: ProviderWord(state, at: stage.now + pause), isDateSigned: isDateSigned)))
        }
        tell(.succeeded, after: .seconds(1))
        tell(.declined, after: .seconds(2))
        // Late, and not the last word whether its date is signed or not.
        tell(.succeeded, after: .seconds(1))
        #expect(stage.durable.legs[0].capture?.word?.state == .declined && stage.alerts.count == 1)
        tell(.succeeded, after: .seconds(3))
        #expect(stage.durable.legs[0].capture?.word?.state == (isDateSigned ? .succeeded : .declined))
        let told = stage.alerts.dropFirst().map(\.message)
        #expect(told.contains { $0.contains("its date is not signed") } == !isDateSigned, "\(told)")
    }
}
