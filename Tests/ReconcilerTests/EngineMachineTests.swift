import PaymentCore
import Reconciler
import Testing

/// An engine's machine, told by hand what came of its jobs.
struct MachineStage {
    let card: ProviderName
    let caller: CallerID
    let amount: Money
    var machine: EngineMachine
    var now = RunnerStage.start
    var standing = SiteStanding.alone

    init(acknowledged: Bool = true, _ change: (inout EngineMachine.Settings) -> Void = { _ in }) throws {
        card = try ProviderName("card")
        caller = try CallerID("shop")
        amount = try Money(1_200, #require(Currency(code: "JPY")))
        var settings = EngineMachine.Settings(
            holder: "worker", policy: SettlementPolicy(), contracts: [card: .reference])
        settings.commitsAreAcknowledged = acknowledged
        change(&settings)
        machine = EngineMachine(settings)
    }

    mutating func tell(_ input: EngineInput) -> [EngineJob] {
        machine.handle(input, at: EngineMoment(now: now, jitter: 0, standing: standing))
    }

    func request(_ key: String = "create-1") throws -> CreateRequest {
        try CreateRequest(
            caller: caller, key: IdempotencyKey(key), amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            contracts: [card: .reference])
    }

    func record(_ operation: IdempotencyRecord.Operation, _ key: String) throws -> IdempotencyRecord {
        IdempotencyRecord(
            caller: caller, key: try IdempotencyKey(key), operation: operation,
            payment: PaymentID(caller: caller, key: try IdempotencyKey("create-1")), fingerprint: Digest(of: [key]),
            createdAt: now)
    }

    /// A row as another process left it: its first intent is written.
    func row(acknowledged: Bool = true, canceled: Bool = false, version: Int64 = 1) throws -> Payment {
        let context = MachineContext(
            now: now, contracts: [card: .reference], commitsAreAcknowledged: acknowledged, mayBegin: !canceled)
        var machine = PaymentMachine.create(try request(), context).machine
        if canceled { _ = try machine.cancel(CancelRequest(key: IdempotencyKey("cancel-0"), at: now), context) }
        machine.committed(version: version)
        return machine.payment
    }

    func claimed(_ payment: Payment, _ token: Int64) -> ClaimedPayment {
        ClaimedPayment(payment: payment, token: LeaseToken(token), until: now + .seconds(30))
    }

    func cancel(_ ticket: Int, _ key: String = "cancel-1") throws -> EngineInput {
        .submit(
            OperationRunner.Request(
                ticket: ticket, operation: .cancel(reason: nil), record: try record(.cancel, key)))
    }
}

/// What a list of jobs holds.
extension [EngineJob] {
    var inserts: [(ticket: Int, change: PaymentChange, after: Span)] {
        compactMap { if case .insert(let ticket, let change, let span) = $0 { (ticket, change, span) } else { nil } }
    }
    var commits: [(change: PaymentChange, token: LeaseToken)] {
        compactMap { if case .commit(_, let token, let change, _) = $0 { (change, token) } else { nil } }
    }
    var sends: [SendOrder] {
        compactMap { if case .perform(_, _, .send(let order)) = $0 { order } else { nil } }
    }
    var claims: [PaymentID] { compactMap { if case .claim(let id, _, _) = $0 { id } else { nil } } }
    var looks: [ClaimRequest] { compactMap { if case .claimDue(let request) = $0 { request } else { nil } } }
    var wakes: [Timestamp] { compactMap { if case .wake(let moment) = $0 { moment } else { nil } } }
    var renewals: [Span] { compactMap { if case .renewLater(let span) = $0 { span } else { nil } } }
    var questions: [Span] { compactMap { if case .askStandby(let span) = $0 { span } else { nil } } }
    var releases: [LeaseToken] { compactMap { if case .release(_, let token) = $0 { token } else { nil } } }
    var answers: [(ticket: Int, answer: EngineAnswer)] {
        compactMap { if case .answer(let ticket, let answer) = $0 { (ticket, answer) } else { nil } }
    }
    func count(_ isWanted: (EngineJob) -> Bool) -> Int { filter(isWanted).count }
}

@Suite struct EngineMachineTests {
    private static func failure(_ code: StoreFailure.Code) -> StoreFailure {
        StoreFailure(code, operation: "commit", cause: "scripted")
    }

    // MARK: New payments

    @Test func `a new payment is sent only once it is durable, and its caller is answered then`() throws {
        var stage = try MachineStage()
        let asked = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        #expect(asked.inserts.count == 1 && asked.sends.isEmpty && asked.answers.isEmpty)
        let done = stage.tell(.inserted(ticket: 1, .success(.committed(version: 1, lease: LeaseToken(1)))))
        #expect(done.sends.map(\.kind) == [.authorize])
        guard case .created(let payment) = done.answers.first?.answer else {
            Issue.record("expected a created payment")
            return
        }
        #expect(payment.version == 1)
        #expect(stage.machine.isInWork(payment.id))
    }

    @Test func `uncertainty only grows: what may have been written is never called refused`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        let first = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.indeterminate))))
        #expect(first.count { if case .lookUp = $0 { true } else { false } } == 1)
        let again = stage.tell(.lookedUp(ticket: 1, .success(nil)))
        #expect(again.inserts.count == 1)
        // The next try is only busy; the first may still have been written.
        let second = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.full))))
        #expect(second.count { if case .lookUp = $0 { true } else { false } } == 1)
        let end = stage.tell(.lookedUp(ticket: 1, .failure(Self.failure(.unavailable))))
        guard case .failed(let failure) = end.answers.first?.answer else {
            Issue.record("expected a failure")
            return
        }
        #expect(failure.code == .indeterminate)
        #expect(stage.machine.isIdle)
    }

    @Test func `a creation that was written after all is found by its key`() throws {
        var stage = try MachineStage()
        let record = try stage.record(.create, "create-1")
        _ = stage.tell(.create(ticket: 1, try stage.request(), record))
        _ = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.indeterminate))))
        let found = stage.tell(.lookedUp(ticket: 1, .success(record)))
        guard case .duplicate(let known) = found.answers.first?.answer else {
            Issue.record("expected the record")
            return
        }
        #expect(known == record)
        #expect(found.sends.isEmpty, "its intent is in doubt: the sweep takes it up")
    }

    @Test func `nothing new is taken while draining, beyond the limit, or where the site may not`() throws {
        var stage = try MachineStage { $0.maximumActive = 1 }
        let record = try stage.record(.create, "create-1")
        _ = stage.tell(.create(ticket: 1, try stage.request(), record))
        func refusal(_ jobs: [EngineJob]) -> String? {
            guard case .notAccepting(let reason) = jobs.answers.first?.answer else { return nil }
            return reason
        }
        #expect(refusal(stage.tell(.create(ticket: 2, try stage.request("b"), record))) != nil)
        stage.standing.mode = .settleOnly
        #expect(refusal(stage.tell(.create(ticket: 3, try stage.request("c"), record)))?.contains("settle-only") == true)
        stage.standing = .alone
        _ = stage.tell(.drain)
        #expect(refusal(stage.tell(.create(ticket: 4, try stage.request("d"), record))) == "shutting down")
    }

    // MARK: Deliveries

    @Test func `what arrives while a payment is claimed waits for the claim, and is begun with it`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        #expect(stage.tell(try stage.cancel(1)).claims == [payment.id])
        #expect(stage.tell(.tell(payment.id, [.inquireNow])).isEmpty)
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        #expect(begun.commits.map(\.token) == [LeaseToken(2)])
        #expect(begun.commits.first?.change.payment.cancel != nil)
    }

    @Test func `a request that another holder keeps us from is written beside it, and nothing is sent`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        _ = stage.tell(try stage.cancel(1))
        let refused = stage.tell(.claimed(payment.id, .success(nil)))
        guard case .readToWrite(let number, _)? = refused.first else {
            Issue.record("expected a read")
            return
        }
        let read = stage.tell(.readToWrite(number, .success(payment)))
        guard case .write(_, let change)? = read.first else {
            Issue.record("expected a write")
            return
        }
        #expect(change.lease == .none && change.payment.cancel != nil)
        // Another writer was first: it is read again, and not answered.
        let overtaken = stage.tell(.wrote(number, .success(.versionConflict)))
        #expect(overtaken.answers.isEmpty)
        #expect(overtaken.count { if case .readToWrite = $0 { true } else { false } } == 1)
        _ = stage.tell(.readToWrite(number, .success(payment)))
        let written = stage.tell(.wrote(number, .success(.committed(version: 2, lease: nil))))
        guard case .answered(.taken) = written.answers.first?.answer else {
            Issue.record("expected an answer")
            return
        }
        #expect(written.sends.isEmpty)
        #expect(stage.machine.isIdle)
    }

    @Test func `a request that arrives while the last change is on its way is delivered again`() throws {
        var stage = try MachineStage()
        let payment = try stage.row(canceled: true)
        _ = stage.tell(.tell(payment.id, [.woke]))
        var jobs = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        // The payment ends with this change, and gives its lease back with it.
        let last = try #require(jobs.commits.first)
        guard case .releasing = last.change.lease else {
            Issue.record("expected the last change, and it is \(last.change.lease)")
            return
        }
        #expect(stage.tell(try stage.cancel(7)).isEmpty)
        jobs = stage.tell(
            .committed(payment.id, LeaseToken(2), last.change, .success(.committed(version: 2, lease: nil))))
        #expect(jobs.claims == [payment.id], "the request is not dropped with the runner")
        jobs = stage.tell(.claimed(payment.id, .success(stage.claimed(last.change.payment, 3))))
        #expect(jobs.commits.count + jobs.answers.count > 0)
    }

    @Test func `an older claim does not take the place of a newer one, and a newer one does`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        stage.now = stage.now + .minutes(1)
        _ = stage.tell(.look)
        let request = ClaimRequest(holder: "worker", limit: 8, leaseFor: .seconds(30))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 5)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(5))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 4)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(5))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 6)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(6))
    }

    // MARK: Looking, and leases

    @Test func `what the store's clock calls due is looked at by that clock`() throws {
        var stage = try MachineStage()
        var payment = try stage.row()
        stage.now = stage.now + .minutes(1)
        var runner = OperationRunner(machine: PaymentMachine(payment: payment), token: LeaseToken(1))
        let context = MachineContext(now: stage.now, contracts: [stage.card: .reference])
        for case .commit(let change) in runner.begin(with: [.claimed], requests: [], context) { payment = change.payment }
        payment = try #require(payment.dueAt.map { _ in payment })
        // Our clock is a second behind: by it, nothing of this payment is due.
        let due = try #require(payment.dueAt)
        stage.now = due + .seconds(-1)
        _ = stage.tell(.look)
        let jobs = stage.tell(
            .claimedDue(
                ClaimRequest(holder: "worker", limit: 8, leaseFor: .seconds(30)),
                .success([stage.claimed(payment, 2)])))
        #expect(jobs.releases.isEmpty, "it would be found due again at once, for ever")
        #expect(stage.machine.isInWork(payment.id))
    }

    @Test func `leases are prolonged three times before they end, and a lost one ends the work`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.woke]))
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        #expect(begun.renewals == [.seconds(10)])
        let due = stage.tell(.renewalIsDue)
        guard case .renew(let leases, _)? = due.first(where: { if case .renew = $0 { true } else { false } }) else {
            Issue.record("expected a renewal")
            return
        }
        #expect(leases == [payment.id: LeaseToken(2)] && due.renewals == [.seconds(10)])
        _ = stage.tell(.renewed(leases, .success([payment.id])))
        #expect(stage.machine.isInWork(payment.id))
        _ = stage.tell(.renewed(leases, .success([])))
        _ = stage.tell(
            .committed(
                payment.id, LeaseToken(2),
                PaymentChange(payment: payment, entries: [], lease: .holding(LeaseToken(2))), .success(.leaseLost)))
        #expect(!stage.machine.isInWork(payment.id))
    }

    @Test func `a look that found nothing is followed by another, and an earlier timer counts`() throws {
        var stage = try MachineStage()
        #expect(stage.tell(.look).looks.count == 1)
        #expect(stage.tell(.look).isEmpty, "one look at a time")
        let request = ClaimRequest(holder: "worker", limit: 8, leaseFor: .seconds(30))
        _ = stage.tell(.claimedDue(request, .success([])))
        let answered = stage.tell(.nextDue(.success(nil)))
        #expect(answered.wakes == [stage.now + .seconds(1)])
        #expect(answered.looks.count == 1, "somebody said meanwhile that something may be due")
        #expect(stage.tell(.woke(stage.now + .minutes(5))).isEmpty, "a timer that does not count")
    }

    // MARK: The site

    @Test func `what was under way in a term that is over is left, and its leases are given back in the next`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        _ = stage.tell(.entered(term: 1, nil))
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        _ = stage.tell(.entered(term: nil, nil))
        #expect(stage.machine.activeCount == 0)
        #expect(stage.tell(.entered(term: 2, nil)).releases == [LeaseToken(2)])
    }

    @Test func `no byte leaves through a closed gate, nor after the right to act ends`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        let jobs = stage.tell(.inserted(ticket: 1, .success(.committed(version: 1, lease: LeaseToken(1)))))
        let order = try #require(jobs.sends.first)
        #expect(stage.machine.permitted(order, within: nil, now: stage.now) == nil)
        let short = stage.machine.permitted(order, within: .seconds(2), now: stage.now)
        #expect(short?.startBefore == stage.now + .seconds(2))
        let long = stage.machine.permitted(order, within: .hours(2), now: stage.now)
        #expect(long?.startBefore == order.startBefore)
    }

    @Test func `whoever waits when the engine stops hears that it is not known`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        let stopped = stage.tell(.stopped)
        guard case .lost = stopped.answers.first?.answer else {
            Issue.record("expected an answer")
            return
        }
        #expect(stage.machine.isIdle)
    }

    // MARK: The standby

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
        let place = LogPosition(offset: 50)
        let jobs = stage.tell(.standby(.success(StandbyReading(written: place, flushed: place))))
        let told = jobs.commits.map(\.change.payment.id) + jobs.claims
        #expect(told.contains(first.id) && !told.contains(machine.payment.id))
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
}
