import PaymentCore
import Reconciler
import Testing

/// What an engine does beside its payments: leases, news for those who follow, and questions to the standby.
@Suite struct EngineUpkeepTests {
    private func begun(_ stage: inout MachineStage, _ key: String, ticket: Int) throws -> [EngineJob] {
        _ = stage.tell(.create(ticket: ticket, try stage.request(key), try stage.record(.create, key)))
        return stage.tell(
            .inserted(ticket: ticket, .success(.committed(version: 1, lease: LeaseToken(Int64(ticket))))))
    }

    @Test func `leases are renewed by one job, however many payments are in work`() throws {
        var stage = try MachineStage { $0.sweep.lease = .seconds(30) }
        #expect(try begun(&stage, "create-1", ticket: 1).renewals == [.seconds(10)])
        #expect(try begun(&stage, "create-2", ticket: 2).renewals.isEmpty)
        let due = stage.tell(.renewalIsDue)
        #expect(due.renewals == [.seconds(10)] && due.count { if case .renew = $0 { true } else { false } } == 1)
    }

    @Test func `a payment whose lease another took is let go of, and no other`() throws {
        var stage = try MachineStage()
        let payments = try ["create-1", "create-2"].enumerated().map { index, key in
            _ = try begun(&stage, key, ticket: index + 1)
            return PaymentID(caller: stage.caller, key: try IdempotencyKey(key))
        }
        let leases = [payments[0]: LeaseToken(1), payments[1]: LeaseToken(2)]
        _ = stage.tell(.renewed(leases, .failure(StoreFailure(.unavailable, operation: "renew", cause: "away"))))
        #expect(payments.allSatisfy(stage.machine.isInWork), "a store that is away takes nothing")
        _ = stage.tell(.renewed(leases, .success([payments[1]])))
        #expect(!stage.machine.isInWork(payments[0]) && stage.machine.isInWork(payments[1]))
    }

    @Test func `a change that ends its lease is not taken for a lost one`() throws {
        var stage = try MachineStage()
        _ = try begun(&stage, "create-1", ticket: 1)
        let id = PaymentID(caller: stage.caller, key: try IdempotencyKey("create-1"))
        let written = stage.tell(try stage.cancel(2))
        let (change, token) = try #require(written.commits.first)
        // The renewal was asked before the change was durable, and is answered after it.
        let between = stage.tell(.renewed([id: token], .success([])))
        #expect(between.answers.isEmpty && stage.machine.isInWork(id))
        let done = stage.tell(.committed(id, token, change, .success(.committed(version: 2, lease: nil))))
        let answers = done.answers.map(\.ticket)
        #expect(answers == [2], "\(done)")
    }

    @Test func `who follows a payment is told of it once it is durable`() throws {
        var stage = try MachineStage()
        let jobs = try begun(&stage, "create-1", ticket: 1)
        let told = jobs.compactMap { if case .announce(let payment, _) = $0 { payment.version } else { nil } }
        #expect(told.first == 1)
    }

    @Test func `after a new latch the standby is asked often again`() throws {
        var stage = try MachineStage(acknowledged: false)
        let first = try stage.row("key-1", acknowledged: false, canceled: true)
        _ = stage.tell(.tell(first.id, [.woke]))
        _ = stage.tell(.claimed(first.id, .success(stage.claimed(first, 2))))
        let silence = StandbyReading(written: LogPosition(offset: 100), flushed: nil)
        var pauses: [Span] = []
        for _ in 0..<8 { pauses += stage.tell(.standby(.success(silence))).questions }
        #expect(pauses.last == .seconds(1) && pauses == pauses.sorted())
        let second = try stage.row("key-2", acknowledged: false, canceled: true)
        _ = stage.tell(.tell(second.id, [.woke]))
        _ = stage.tell(.claimed(second.id, .success(stage.claimed(second, 3))))
        let next = stage.tell(.standby(.success(silence))).questions
        #expect(next.count == 1 && next[0] <= .milliseconds(40), "\(next)")
    }
}
