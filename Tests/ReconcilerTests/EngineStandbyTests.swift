import PaymentCore
import Reconciler
import Testing

/// Latches that count only once the standby has them.
@Suite struct EngineStandbyTests {
    @Test func `a latch counts once the standby has the log up to a place that was read after it`() throws {
        var stage = try MachineStage(acknowledged: false)
        let payment = try stage.row(acknowledged: false, canceled: true)
        #expect(payment.latch == .back && !payment.latchAcknowledged)
        _ = stage.tell(.tell(payment.id, [.woke]))
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        #expect(begun.questions.count == 1, "a payment that is claimed with such a latch is registered again")
        #expect(stage.machine.unconfirmedLatches.count == 1)
        let at = { (offset: UInt64) in LogPosition(offset: offset) }
        // The standby is far behind, then just before the place, then there.
        func told(_ flushed: UInt64?, written: UInt64) -> Bool {
            let reading = StandbyReading(written: at(written), flushed: flushed.map(at))
            let before = stage.machine.runner(of: payment.id)?.payment.latchAcknowledged
            let jobs = stage.tell(.standby(.success(reading)))
            return before == false && jobs.contains { if case .commit = $0 { true } else { false } }
                || !jobs.claims.isEmpty
        }
        #expect(!told(nil, written: 100))
        #expect(!told(99, written: 200))
        #expect(told(100, written: 300))
    }

    @Test func `an answer to a question that left before the latch was durable says nothing of it`() throws {
        var stage = try MachineStage(acknowledged: false)
        let first = try stage.row(acknowledged: false, canceled: true)
        _ = stage.tell(.tell(first.id, [.woke]))
        _ = stage.tell(.claimed(first.id, .success(stage.claimed(first, 2))))
        // The question is under way; meanwhile the payment of another latch appears.
        let key = try IdempotencyKey("other")
        let request = try CreateRequest(
            caller: stage.caller, key: key, amount: stage.amount,
            legs: [.init(provider: stage.card, instrument: Instrument(token: "tok_1"), amount: stage.amount)],
            contracts: [stage.card: .reference])
        let context = MachineContext(
            now: stage.now, contracts: [stage.card: .reference], commitsAreAcknowledged: false, mayBegin: false)
        var machine = PaymentMachine.create(request, context).machine
        _ = try machine.cancel(CancelRequest(key: IdempotencyKey("c"), at: stage.now), context)
        machine.committed(version: 1)
        _ = stage.tell(.tell(machine.payment.id, [.woke]))
        _ = stage.tell(.claimed(machine.payment.id, .success(stage.claimed(machine.payment, 2))))
        let position = LogPosition(offset: 50)
        let jobs = stage.tell(.standby(.success(StandbyReading(written: position, flushed: position))))
        let told = jobs.commits.map(\.change.payment.id) + jobs.claims
        #expect(told.contains(first.id) && !told.contains(machine.payment.id))
    }

    @Test(arguments: [nil, Int64(2)])
    func `a place in the log of another term's database confirms nothing`(next: Int64?) throws {
        var stage = try MachineStage(acknowledged: false)
        let payment = try stage.row(acknowledged: false, canceled: true)
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        let behind = StandbyReading(written: LogPosition(offset: 100), flushed: LogPosition(offset: 1))
        _ = stage.tell(.standby(.success(behind)))
        #expect(stage.machine.unconfirmedLatches.count == 1)
        _ = stage.tell(.entered(term: next, nil))
        #expect(stage.machine.unconfirmedLatches.count == 0, "it is registered again when it is taken up")
        let ahead = StandbyReading(written: LogPosition(offset: 900), flushed: LogPosition(offset: 900))
        let jobs = stage.tell(.standby(.success(ahead)))
        #expect(jobs.commits.isEmpty && jobs.claims.isEmpty, "\(jobs)")
    }

    @Test func `a latch waits for as long as it takes, or as long as the operator says`() throws {
        for limit in [Span.minutes(10), nil] {
            var stage = try MachineStage(acknowledged: false) { $0.acknowledgeUnconfirmedAfter = limit }
            let payment = try stage.row(acknowledged: false, canceled: true)
            _ = stage.tell(.tell(payment.id, [.woke]))
            _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
            let silence = StandbyReading(written: LogPosition(offset: 100), flushed: nil)
            stage.now = stage.now + .minutes(9)
            #expect(stage.tell(.standby(.success(silence))).questions.count == 1)
            stage.now = stage.now + .minutes(1)
            let jobs = stage.tell(.standby(.success(silence)))
            let noted = jobs.count { if case .note(.countedUnconfirmed) = $0 { true } else { false } }
            #expect(noted == (limit == nil ? 0 : 1))
            #expect(jobs.commits.isEmpty == (limit == nil) || !jobs.claims.isEmpty)
        }
    }

    /// The drill `partition`: after a promotion each decision waited for a standby that nobody had.
    @Test func `a site that nobody follows waits once, and again after somebody followed`() throws {
        var stage = try MachineStage(acknowledged: false) { $0.acknowledgeUnconfirmedAfter = .minutes(10) }
        var number = 0
        func latch() throws -> Payment {
            number += 1
            let payment = try stage.row("key-\(number)", acknowledged: false, canceled: true)
            _ = stage.tell(.tell(payment.id, [.woke]))
            _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
            return payment
        }
        func counted(following: Bool) -> [PaymentID] {
            let written = LogPosition(offset: 100)
            let reading = StandbyReading(written: written, flushed: following ? LogPosition(offset: 1) : nil)
            return stage.tell(.standby(.success(reading))).compactMap {
                if case .note(.countedUnconfirmed(let id, _)) = $0 { id } else { nil }
            }
        }
        let first = try latch()
        #expect(counted(following: false).isEmpty)
        stage.now = stage.now + .minutes(10)
        #expect(counted(following: false) == [first.id])
        let second = try latch()
        #expect(counted(following: false) == [second.id])
        _ = try latch()
        #expect(counted(following: true).isEmpty)
        #expect(counted(following: false).isEmpty)
        stage.now = stage.now + .minutes(11)
        let late = try latch()
        #expect(!counted(following: false).contains(late.id), "nobody asked for long")
    }
}
