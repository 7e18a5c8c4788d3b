import PaymentCore
import Testing

/// What the books say of a leg, against what its provider shows of it.
@Suite struct BookedPositionTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// What a comparison finds of each leg of a payment.
    private func found(_ stage: Stage) throws -> [ComparisonTable.Verdict] {
        try stage.durable.bookedPositions.map { ours in
            let contract = try #require(stage.contracts[ours.provider])
            let ledger = try #require(stage.ledgers[ours.provider])
            let theirs = ListedPosition(
                ledger.observe(ours.key, began: stage.now), key: ours.key, payment: ours.payment, leg: ours.leg,
                updatedAt: nil, phases: contract.phases)
            let facts = ComparisonFacts(
                ours: ours, named: nil, theirs: theirs,
                in: .init(horizon: .init(milliseconds: .max), refundVisibility: contract.refundVisibility))
            return ComparisonTable.shipped.classify(facts)
        }
    }

    @Test(arguments: RandomWalkTests.casts)
    func `whatever fails on the way, at rest both sides of every leg are the same`(
        _ cast: RandomWalkTests.Cast
    ) throws {
        var compared = 0
        for seed in 0..<RandomWalkTests.seeds {
            let stage = try Walk(cast, seed: seed, fixture).ended()
            let verdicts = try found(stage)
            for (ours, verdict) in zip(stage.durable.bookedPositions, verdicts) where ours.work != .people {
                compared += 1
                #expect(verdict.finds == .matched, "seed \(seed): \(verdict) of \(ours)")
                #expect(ours.net.value == stage.net(ours.leg), "seed \(seed)")
            }
        }
        #expect(compared > Int(RandomWalkTests.seeds) / 2)
    }

    @Test func `what was asked for last is dated by its first request, however late its answer is`() throws {
        var stage = try fixture.stage([.reference], send: [.none, .lostAnswer])
        let created = stage.durable.createdAt
        #expect(stage.durable.bookedPositions.map(\.askedAt) == [created])
        stage.run(while: { $0.sent(.capture).isEmpty })
        let captured = stage.durable.updatedAt
        stage.run()
        let position = stage.durable.bookedPositions[0]
        #expect(position.askedAt == captured && position.updatedAt > captured && captured > created)
        stage.now = stage.now + .days(1)
        try stage.refund([0: 100])
        let refunded = stage.now
        #expect(stage.durable.bookedPositions[0].askedAt == captured, "nothing was given back yet")
        stage.run()
        #expect(stage.durable.bookedPositions[0].askedAt == refunded)
    }

    @Test func `standing and work follow a payment that is held, captured and refunded`() throws {
        var stage = try fixture.stage([.reference, .reference], .manual)
        #expect(stage.durable.bookedPositions.map(\.standing) == [.undecided, .undecided])
        #expect(stage.durable.bookedPositions.map(\.work) == [.underWay, .underWay])
        #expect(try found(stage).map(\.finds) == [.inFlight, .inFlight])
        stage.run(while: { !$0.durable.isResting })
        #expect(stage.durable.bookedPositions.map(\.standing) == [.held, .held])
        #expect(stage.durable.bookedPositions.map(\.work) == [.none, .none])
        #expect(try found(stage).map(\.finds) == [.matched, .matched])
        try stage.capture()
        #expect(stage.durable.bookedPositions.map(\.work) == [.underWay, .underWay])
        stage.run()
        #expect(stage.durable.bookedPositions.map(\.standing) == [.taken, .taken])
        try stage.refund([0: 400, 1: 1_100])
        #expect(stage.durable.bookedPositions.map(\.work) == [.underWay, .underWay])
        stage.run()
        #expect(stage.durable.bookedPositions.map(\.standing) == [.taken, .givenBack])
        #expect(stage.durable.bookedPositions.map(\.net.value) == [600, 0])
        #expect(try found(stage).map(\.finds) == [.matched, .matched])
    }

    @Test func `two equal partial refunds are told apart by their keys and match`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        for number in 0..<2 {
            try stage.refund([0: 300], key: "refund-\(number)")
            stage.run()
        }
        let position = try #require(stage.durable.bookedPositions.first)
        #expect(position.refunds.map(\.amount.value) == [300, 300])
        #expect(Set(position.refunds.map(\.key)).count == 2)
        #expect(try found(stage).map(\.finds) == [.matched])
    }

    @Test func `a hold that people decide about stands on both sides`() throws {
        var stage = try fixture.stage([.reference], send: [.lostAnswer])
        stage.run(while: { $0.holder?.busy.isEmpty != true })
        let key = stage.durable.legs[0].primary.key
        let wrong = Observation(
            .authorized, began: stage.now, source: .inquiry, key: key, amount: try fixture.amount(999))
        stage.handle(.inquired(leg: 0, wrong))
        #expect(stage.durable.legs[0].quarantine != nil)
        stage.run(while: { $0.durable.legs[0].quarantine?.agreeing?.reads ?? 0 < 1 })
        let position = stage.durable.bookedPositions[0]
        #expect(position.standing == .held && position.work == .people)
        #expect(try found(stage)[0].finds == .inFlight)
    }

    /// Seed 1244803314: nobody was told for as long as the other leg was with people.
    @Test func `what somebody else refunds of a leg is a late reversal while people decide about another leg`() throws {
        var stage = try fixture.stage([.reference, .reference], send: [.none, .none, .none, .lostAnswer])
        stage.run(while: { $0.durable.legs[0].capturedAmount.isZero || $0.holder?.busy.isEmpty != true })
        let key = stage.durable.legs[1].primary.key
        let wrong = Observation(
            .authorized, began: stage.now, source: .inquiry, key: key, amount: try fixture.amount(999))
        stage.handle(.inquired(leg: 1, wrong))
        #expect(stage.durable.legs[1].quarantine != nil && stage.durable.conclusion == nil)
        let amount = try fixture.amount(1)
        #expect(stage.durable.bookedPositions[0].work == .people)
        #expect(try found(stage)[0].finds == .inFlight)
        stage.atProvider(0) { ledger, key in ledger.refundOutside(key, amount) }
        #expect(try found(stage)[0].finds == .lateReversal)
    }

    @Test func `what somebody else refunds after the payment ended is a late reversal`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        let amount = try fixture.amount(1)
        stage.atProvider(0) { ledger, key in ledger.refundOutside(key, amount) }
        #expect(try found(stage).map(\.finds) == [.lateReversal])
    }
}
