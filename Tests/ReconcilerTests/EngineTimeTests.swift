import PaymentCore
import Reconciler
import Testing

/// Looking for what is due, leases, the site's term.
@Suite struct EngineTimeTests {
    // MARK: Looking, and leases

    @Test func `what the store's clock calls due is looked at by that clock`() throws {
        var stage = try MachineStage()
        var payment = try stage.row()
        stage.now = stage.now + .minutes(1)
        var runner = OperationRunner(machine: PaymentMachine(payment: payment), token: LeaseToken(1))
        let context = MachineContext(now: stage.now, contracts: [stage.card: .reference])
        for case .commit(let change) in runner.begin(with: [.claimed], requests: [], context) {
            payment = change.payment
        }
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
        let request = try #require(stage.tell(.look).looks.first)
        #expect(stage.tell(.look).isEmpty, "one look at a time")
        _ = stage.tell(.claimedDue(request, .success([])))
        let answered = stage.tell(.nextDue(.success(nil)))
        #expect(answered.wakes == [stage.now + .seconds(1)])
        #expect(answered.looks.count == 1, "somebody said meanwhile that something may be due")
        #expect(stage.tell(.woke(stage.now + .minutes(5))).isEmpty, "a timer that does not count")
    }

    /// Seeds 1536128067 and 3693566435: payments were turned back for ever, because nobody looked for them any more.
    @Test func `a right that ran out for a moment does not end the looking`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.entered(term: 1, nil))
        let request = try #require(stage.tell(.look).looks.first)
        stage.standing.refusal = .notKnownYet
        // The answer comes in between, and so does the timer of a later look.
        let wake = try #require(stage.tell(.claimedDue(request, .success([]))).wakes.first)
        #expect(wake > stage.now)
        stage.now = wake
        let again = stage.tell(.woke(wake))
        #expect(again.looks.isEmpty, "it has no right to look")
        stage.now = try #require(again.wakes.first)
        stage.standing = .alone
        #expect(stage.tell(.woke(stage.now)).looks.count == 1)
    }

    @Test func `who has no term, or stops, does not look again by itself`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.entered(term: nil, nil))
        stage.standing.refusal = .notKnownYet
        #expect(stage.tell(.look).isEmpty)
        _ = stage.tell(.entered(term: 2, nil))
        _ = stage.tell(.drain)
        #expect(stage.tell(.look).isEmpty)
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

    @Test func `what rests is taken up once rows were lost, page by page, and once for each window`() throws {
        var stage = try MachineStage()
        func pages(_ jobs: [EngineJob]) -> [PageCursor?] {
            jobs.compactMap { if case .readResting(let cursor, _, _) = $0 { .some(cursor) } else { nil } }
        }
        #expect(pages(stage.tell(.look)).isEmpty, "no row was lost")
        let window = RecoveryWindow(readsCountFrom: stage.now + .minutes(2), latestNotAfter: stage.now + .minutes(1))
        _ = stage.tell(.entered(term: 2, window))
        #expect(pages(stage.tell(.look)) == [nil])
        #expect(pages(stage.tell(.look)).isEmpty, "it is on its way")
        let failed = StoreFailure(.busy, operation: "payments", cause: "another writer")
        #expect(pages(stage.tell(.resting(after: nil, .failure(failed)))) == [nil])
        let payment = try stage.row()
        let next = PageCursor(createdAt: payment.createdAt, id: payment.id)
        let taken = stage.tell(.resting(after: nil, .success(Page(items: [payment], next: next))))
        #expect(taken.claims == [payment.id] && pages(taken) == [next])
        #expect(stage.tell(.resting(after: nil, .success(Page(items: [payment], next: next)))).isEmpty, "an old answer")
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        let change = try #require(begun.commits.first?.change)
        #expect(change.payment.recovery == window)
        let last = stage.tell(.resting(after: next, .success(Page(items: [change.payment], next: nil))))
        #expect(last.claims.isEmpty && pages(last).isEmpty, "it is in the window already")
        #expect(pages(stage.tell(.look)).isEmpty, "all were looked through")
        let again = RecoveryWindow(readsCountFrom: stage.now + .hours(2), latestNotAfter: stage.now + .hours(1))
        _ = stage.tell(.entered(term: 3, again))
        #expect(pages(stage.tell(.look)) == [nil])
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

    // MARK: Providers that were away

    private func learn(_ status: Observation.Status, _ id: PaymentID, _ stage: inout MachineStage) -> [EngineJob] {
        let observation = Observation(status, began: stage.now, source: .inquiry)
        return stage.tell(.learned(id, LeaseToken(2), .inquired(leg: 0, observation)))
    }

    @Test func `the first answer after an outage takes up what waits, in order, as places become free`() throws {
        var stage = try MachineStage { $0.sweep.placesPerProvider = 8 }
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        func waiting(_ jobs: [EngineJob]) -> [WaitingRequest] {
            jobs.compactMap { if case .claimWaiting(let request) = $0 { request } else { nil } }
        }
        for _ in 0..<3 { #expect(waiting(learn(.unavailable, payment.id, &stage)).isEmpty) }
        let first = try #require(waiting(learn(.pending, payment.id, &stage)).first)
        #expect(first.provider == stage.card && first.limit == 8 && first.after == nil)
        // As many as were asked for: there may be more, but there is no place for them.
        var claimed: [ClaimedPayment] = []
        for number in 0..<8 {
            let context = MachineContext(now: stage.now, contracts: [stage.card: .reference])
            var machine = PaymentMachine.create(try stage.request("waits-\(number)"), context).machine
            machine.committed(version: 1)
            claimed.append(stage.claimed(machine.payment, 2))
        }
        let begun = stage.tell(.claimedWaiting(first, .success(claimed)))
        #expect(begun.commits.count == 8 && waiting(begun).isEmpty)
        // A quarter of the places is kept free of them: the second that ends makes room.
        var later: [WaitingRequest] = []
        for payment in claimed.prefix(2).map(\.payment) {
            #expect(later.isEmpty)
            let change = PaymentChange(payment: payment, entries: [], lease: .holding(LeaseToken(2)))
            later = waiting(stage.tell(.committed(payment.id, LeaseToken(2), change, .success(.leaseLost))))
        }
        #expect(later.map(\.provider) == [stage.card] && later.map(\.limit) == [2])
        #expect(later.first?.after?.id == claimed.last?.payment.id)
        // A single answer after that is no return.
        #expect(waiting(learn(.pending, payment.id, &stage)).isEmpty)
    }

    /// Simulation, seed 1638171722: what had still to wait was due later than before, and came again and again.
    @Test func `what waits is taken up once for each return`() throws {
        var stage = try MachineStage { $0.sweep.batch = 2 }
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        func waiting(_ jobs: [EngineJob]) -> WaitingRequest? {
            for case .claimWaiting(let request) in jobs { return request }
            return nil
        }
        for _ in 0..<3 { _ = learn(.unavailable, payment.id, &stage) }
        let request = try #require(waiting(learn(.pending, payment.id, &stage)))
        let context = MachineContext(now: stage.now, contracts: [stage.card: .reference])
        let rows = try (0..<request.limit).map { number in
            var machine = PaymentMachine.create(try stage.request("waits-\(number)"), context).machine
            machine.committed(version: 1)
            return machine.payment
        }
        let first = stage.tell(.claimedWaiting(request, .success(rows.map { stage.claimed($0, 2) })))
        #expect(first.commits.count == 2)
        let next = try #require(waiting(first))
        let again = stage.tell(.claimedWaiting(next, .success(rows.map { stage.claimed($0, 3) })))
        #expect(again.commits.isEmpty)
        #expect(again.count { if case .release(_, LeaseToken(3)) = $0 { true } else { false } } == 2)
        #expect(waiting(again) != nil, "what was not seen yet may come after it")
    }

    /// The first answer of a provider, after which nothing waits.
    private func hear(_ id: PaymentID, _ stage: inout MachineStage) throws {
        for case .claimWaiting(let request) in learn(.pending, id, &stage) {
            #expect(request.provider == stage.card)
            _ = stage.tell(.claimedWaiting(request, .success([])))
            return
        }
        Issue.record("nothing was taken up")
    }

    /// Simulation, seed 1633349299: whoever knew of the outage was restarted, and a payment waited for a week.
    @Test func `the first answer that a process hears of a provider counts as a return`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        try hear(payment.id, &stage)
        let later = learn(.pending, payment.id, &stage)
        #expect(!later.contains { if case .claimWaiting = $0 { true } else { false } }, "it was heard before")
    }

    @Test func `a provider that was silent for long returns as well, however few requests found out`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.woke]))
        _ = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        func claims(_ jobs: [EngineJob]) -> Int {
            jobs.count { if case .claimWaiting = $0 { true } else { false } }
        }
        try hear(payment.id, &stage)
        _ = learn(.unavailable, payment.id, &stage)
        stage.now = stage.now + .seconds(4)
        #expect(claims(learn(.pending, payment.id, &stage)) == 0)
        _ = learn(.unavailable, payment.id, &stage)
        stage.now = stage.now + .seconds(6)
        #expect(claims(learn(.pending, payment.id, &stage)) == 1)
    }
}
