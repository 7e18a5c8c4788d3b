import PaymentCore
import Reconciler
import Simulation
import Testing

@Suite struct ProbeTests {
    @Test func `nothing is met in a story in which nothing happens`() throws {
        var story = try Story()
        try story.settle()
        #expect(met(story).isEmpty)
    }

    @Test func `a late landing after a tombstone is met`() throws {
        var story = try Story()
        let order = try story.nextSend()
        story.answer(order, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400))
        try story.operate { machine, context throws in
            try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
        }
        try story.settle(until: .minutes(1))
        #expect(met(story).contains(.tombstoneForUnused))
        #expect(!met(story).contains(.lateLandingAfterTombstone))
        try story.deliver(order)
        #expect(met(story).contains(.lateLandingAfterTombstone))
    }

    @Test func `a cancel beside a running send is met`() throws {
        var story = try Story()
        #expect(!met(story).contains(.cancelBesideSend))
        try story.operate { machine, context throws in
            try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
        }
        #expect(met(story).contains(.cancelBesideSend))
    }

    @Test func `a read that finds what an answer did not bring is met, and a key used anew`() throws {
        var story = try Story([.listed])
        let order = try story.nextSend()
        try story.deliver(order)
        story.answer(order, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400))
        story.now = story.now + .days(2)
        try story.deliver(order)
        try story.settle()
        let situations = met(story)
        #expect(situations.contains(.resolvedByInquiry))
        #expect(situations.contains(.keyUsedAnew))
        #expect(situations.contains(.arrivedHoursLate))
    }

    @Test func `a stale writer that is refused is met`() throws {
        var story = try Story()
        let id = story.payment.id
        story.note(.leased(site: 0, replica: 0, payment: id, token: LeaseToken(1)))
        story.note(.refused(replica: 0, payment: id, why: "version"))
        #expect(!met(story).contains(.staleWriterRefused))
        story.note(.leased(site: 0, replica: 1, payment: id, token: LeaseToken(2)))
        story.note(.refused(replica: 0, payment: id, why: "lease"))
        #expect(met(story).contains(.staleWriterRefused))
    }

    @Test func `what callers see is met`() throws {
        var story = try Story()
        let operation = CallerOperation(
            caller: story.payment.caller, key: story.payment.key, payment: story.payment.id,
            kind: .create(body: 0))
        story.note(.answered(operation, .settled(.succeeded, refund: nil)))
        #expect(!met(story).contains(.answerReplayed))
        story.note(.answered(operation, .settled(.succeeded, refund: nil)))
        story.note(.answered(operation, .keyReused))
        story.note(.promoted(site: 1, epoch: 2, rowsLost: 1))
        story.rows = Story.Rows()
        story.note(.asked(operation, attempt: 2))
        story.note(.promoted(site: 0, epoch: 3, rowsLost: 0))
        let situations = met(story)
        for situation in [Situation.answerReplayed, .keyReused, .acceptedAfterLoss, .failedBack] {
            #expect(situations.contains(situation))
        }
    }

    @Test func `at least thirty situations are named, each in its own words`() {
        #expect(Situation.allCases.count >= 30)
        #expect(Set(Situation.allCases.map(\.rawValue)).count == Situation.allCases.count)
        #expect(Probes().missed == Situation.allCases)
    }

    private func met(_ story: Story) -> [Situation] {
        var probes = Probes()
        for (happening, evidence) in story.happenings { probes.observe(happening, evidence) }
        probes.atRest(story.evidence)
        return probes.hit
    }
}

@Suite struct ProbeRowTests {
    @Test func `a watched table decides as before, and its rows are noted`() {
        let watch = RowWatch()
        let table = watch.watching(EffectTable.shipped)
        let facts = EffectFacts(goal: .do, worst: .none, status: .notAsked)
        #expect(table.decide(facts) == EffectTable.shipped.decide(facts))
        #expect(watch.hit == ["do.first"])
        let payment = PaymentFacts(latch: .back, legs: [.init(isOnePhase: false, standing: .gone)])
        #expect(watch.watching(PaymentTable.shipped).decide(payment) == PaymentTable.shipped.decide(payment))
        #expect(watch.hit == ["do.first", "back.complete"])
        #expect(watch.hit.count + watch.missed.count == watch.hit.count + Set(watch.missed).count)
    }

    @Test func `every row of the payment table is known by name`() {
        var found: Set<String> = []
        for latch in Latch.allCases {
            for legs in ProbeRowTests.legs {
                for bits in 0..<64 {
                    let facts = PaymentFacts(
                        latch: latch, legs: legs, stopAsked: bits & 1 != 0, holdOnly: bits & 2 != 0,
                        inRecovery: bits & 4 != 0, mayHaveLostRequests: bits & 32 != 0,
                        latchAcknowledged: bits & 8 != 0, hasCaptureRequest: bits & 16 != 0)
                    found.insert(PaymentTable.shipped.decide(facts).row)
                }
            }
        }
        #expect(found == Set(RowWatch.paymentRowNames))
    }

    /// One leg and two legs, in every combination that the table tells apart.
    private static let legs: [[PaymentFacts.Leg]] = {
        var single: [PaymentFacts.Leg] = []
        for standing in PaymentFacts.Standing.allCases {
            for forward in PaymentFacts.Forward.allCases {
                for bits in 0..<8 where standing == .open || bits < 4 {
                    single.append(
                        .init(
                            isOnePhase: bits & 1 != 0, standing: standing, forward: forward,
                            freshlyRead: bits & 2 != 0, isDenied: bits & 4 != 0))
                }
            }
        }
        return single.map { [$0] } + single.flatMap { first in single.map { [first, $0] } }
    }()
}
