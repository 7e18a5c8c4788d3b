internal import PaymentCore
internal import Reconciler

/// What the engine awaits: commits, reloads, deliveries, the sweep, the leases.
extension World {
    mutating func work(_ slot: Int) {
        guard let job = jobs.take(slot) else { return }
        let replica = job.replica
        guard carriesOn(replica, job.incarnation) else { return comeFromTheGrave(job) }
        switch job.work {
        case .commit(let change): commit(job, change)
        case .create(let machine, let change, let actions, let ask, let tries):
            create(job, machine, change, actions, ask, tries)
        case .returned(let input): feed(replica, job.payment, job.token, input)
        case .perform(let action): perform(job, action)
        case .reload(let tries): reload(job, tries)
        case .deliver(let events, let requests): deliver(replica, job.payment, events, requests)
        case .write(let events, let request, let tries): write(replica, job.payment, events, request, tries)
        case .read: break
        case .told(let news): learn(job, news)
        }
    }

    /// A change may reach the store although whoever made it is gone.
    private mutating func comeFromTheGrave(_ job: Job) {
        let bits = chance.bits(17, UInt64(job.payment), UInt64(job.replica), UInt64(job.incarnation))
        guard bits & 1 == 0 else { return }
        switch job.work {
        case .commit(let change): _ = write(change, by: job.replica)
        case .create(_, let change, _, _, _): _ = write(change, by: job.replica)
        default: break
        }
    }

    private mutating func commit(_ job: Job, _ change: PaymentChange) {
        let (payment, replica) = (job.payment, job.replica)
        let state = UInt64(change.payment.version) << 16 | UInt64(change.payment.auditHead.sequence)
        let tries = UInt64(replicas[replica].tries[payment])
        replicas[replica].tries[payment] += 1
        let (a, b, c) = (UInt64(payment), state, UInt64(replica) << 32 | tries)
        if let bits = strikes(.crashBeforeCommit, a, b, c) {
            return crash(replica, restartAfter: downtime(bits))
        }
        switch attempt(change, by: replica, a, b, c) {
        case .failure(let failure):
            if failure.code == .indeterminate, does(.indeterminateCommitTakenForDone) {
                let version = change.payment.version + 1
                return feed(replica, payment, job.token, .committed(.committed(version: version, lease: nil)))
            }
            feed(replica, payment, job.token, .commitFailed(failure))
        case .success(let result):
            if case .committed = result {
                replicas[replica].tries[payment] = 0
                if let bits = strikes(.crashAfterCommit, a, b, c) {
                    return crash(replica, restartAfter: downtime(bits))
                }
                if let bits = strikes(.replicaPaused, a, b, c) {
                    pause(replica, bits)
                    return put(.returned(.committed(result)), replica, payment, job.token, after: 0)
                }
            } else {
                emit(.refused(replica: replica, payment: change.payment.id, why: World.why(result)))
            }
            feed(replica, payment, job.token, .committed(result))
        }
    }

    private static func why(_ result: CommitResult) -> String {
        switch result {
        case .committed: "committed"
        case .versionConflict: "another writer was first"
        case .leaseLost: "the lease was lost"
        case .duplicate: "the key is known"
        }
    }

    /// It does nothing for longer than its leases, and then goes on.
    mutating func pause(_ replica: Int, _ bits: UInt64) {
        let length = limits.lease.milliseconds + 1_000 + span(bits & 3 == 0 ? 7_200_000 : 90_000, bits)
        replicas[replica].pausedUntil = max(replicas[replica].pausedUntil, now + length)
    }

    enum Attempted {
        case success(CommitResult)
        case failure(StoreFailure)
    }

    /// One call to the store, with what may happen on the way there and back.
    mutating func attempt(
        _ change: PaymentChange, by replica: Int, _ a: UInt64, _ b: UInt64, _ c: UInt64
    ) -> Attempted {
        guard reachesStore(replica) else {
            return .failure(StoreFailure(.unavailable, operation: "commit", cause: "not reachable"))
        }
        if strikes(.storeBusy, a, b, c) != nil {
            return .failure(StoreFailure(.busy, operation: "commit", cause: "another writer"))
        }
        if let bits = strikes(.commitIndeterminate, a, b, c) {
            if bits & 1 == 0 { _ = write(change, by: replica) }
            return .failure(StoreFailure(.indeterminate, operation: "commit", cause: "connection lost"))
        }
        return .success(write(change, by: replica))
    }

    private mutating func reload(_ job: Job, _ tries: Int) {
        let (payment, replica) = (job.payment, job.replica)
        let id = ids[payment]
        if reachesStore(replica) {
            let row = sites[replicas[replica].site].store.row(id)
            return feed(
                replica, payment, job.token, row.map { .reloaded($0.payment) } ?? .reloadFailed)
        }
        guard tries < 4 else { return feed(replica, payment, job.token, .reloadFailed) }
        let delay = plan.policy.resendSchedule.delay(tries, jitter: 0)
        put(.reload(try: tries + 1), replica, payment, job.token, after: delay.milliseconds)
    }

    /// Puts events and requests to the payment's runner, or writes them for whoever holds the payment.
    mutating func deliver(
        _ replica: Int, _ payment: Int, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]
    ) {
        if let runner = replicas[replica].runners[payment], !runner.hasEnded {
            return feed(replica, payment, events, requests)
        }
        guard reachesStore(replica) else { return lose(requests.map(\.ticket), replica) }
        let site = replicas[replica].site
        let claimed = sites[site].store.claim(
            ids[payment], holder: replicas[replica].holder, leaseFor: limits.lease, at: storeTime(site))
        if let claimed { return begin(replica, claimed, events, requests) }
        if !events.isEmpty { write(replica, payment, events, nil, 0) }
        for request in requests { write(replica, payment, [], request, 0) }
    }

    /// Without the lease nothing is sent: the request is made durable, and the payment's holder finds it.
    private mutating func write(
        _ replica: Int, _ payment: Int, _ events: [PaymentEvent], _ request: OperationRunner.Request?, _ tries: Int
    ) {
        let tickets = request.map { [$0.ticket] } ?? []
        guard tries < 8, reachesStore(replica),
            let row = sites[replicas[replica].site].store.row(ids[payment])
        else { return lose(tickets, replica) }
        var context = context(replica)
        context.mayBegin = false
        var writer = OperationRunner(machine: PaymentMachine(payment: row.payment), token: LeaseToken(0))
        let told = [recovery.opening(for: row.payment)].compactMap { $0 } + confirmations(row.payment)
        let first = writer.begin(with: told + events, requests: request.map { [$0] } ?? [], context)
        guard var change = World.change(in: first) else { return submitted(first, replica) }
        change.lease = .none
        let identity = UInt64(change.payment.version) << 16 | UInt64(change.payment.auditHead.sequence)
        let who = UInt64(replica) << 48 | UInt64(tries) | 1 << 40
        switch attempt(change, by: replica, UInt64(payment), identity, who) {
        case .failure: lose(tickets, replica)
        case .success(.versionConflict):
            // Another writer comes in between here, so that it does not always lose at once.
            put(.write(events, request, try: tries + 1), replica, payment, LeaseToken(0), after: 1)
        case .success(let result):
            submitted(first, replica)
            submitted(writer.handle(.committed(result), context), replica)
            if let request, replicas[replica].tickets.contains(request.ticket) {
                put(.write([], request, try: tries + 1), replica, payment, LeaseToken(0), after: 1)
            }
            arm(replica, at: now)
        }
    }

    private mutating func submitted(_ outputs: [OperationRunner.Output], _ replica: Int) {
        for output in outputs {
            switch output {
            case .answered(let ticket, let answer):
                if replicas[replica].tickets.remove(ticket) != nil { submitted(ticket, answer) }
            case .perform(.alert(let alert)): emit(.alerted(alert))
            default: break
            }
        }
    }

    private static func change(in outputs: [OperationRunner.Output]) -> PaymentChange? {
        for case .commit(let change) in outputs { return change }
        return nil
    }

    mutating func release(_ replica: Int, _ payment: Int, _ token: LeaseToken) {
        guard reachesStore(replica) else { return }
        let site = replicas[replica].site
        sites[site].store.release(ids[payment], token)
        nudge(site, payment, except: replica)
    }
}
