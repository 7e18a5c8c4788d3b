internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What engines await of the store, and what may happen on the way there and back.
extension World {
    mutating func work(_ slot: Int) {
        guard let job = jobs.take(slot) else { return }
        let replica = job.replica
        guard carriesOn(replica, job.incarnation) else { return arriveAfterCrash(job) }
        switch job.work {
        case .commit(let change): commit(job, change)
        case .insert(let change, let ticket): insert(job, change, ticket)
        case .returned(let input): tell(replica, input)
        case .perform(let action): perform(job, action)
        case .read: break
        case .told(let news): learn(job, news)
        default:
            if let input = asked(job) { tell(replica, input) }
        }
    }

    /// A change may reach the store although whoever made it is gone.
    private mutating func arriveAfterCrash(_ job: Job) {
        let bits = chance.bits(17, UInt64(job.payment), UInt64(job.replica), UInt64(job.incarnation))
        guard bits & 1 == 0 else { return }
        switch job.work {
        case .commit(let change), .insert(let change, _), .write(let change, _): _ = write(change, by: job.replica)
        default: break
        }
    }

    private mutating func commit(_ job: Job, _ change: PaymentChange) {
        let (payment, replica, id) = (job.payment, job.replica, change.payment.id)
        let state = UInt64(change.payment.version) << 16 | UInt64(change.payment.auditHead.sequence)
        let tries = UInt64(replicas[replica].tries[payment])
        replicas[replica].tries[payment] += 1
        let (a, b, c) = (UInt64(payment), state, UInt64(replica) << 32 | tries)
        if let bits = strikes(.crashBeforeCommit, a, b, c) {
            return crash(replica, restartAfter: downtime(bits))
        }
        let result = attempt(change, by: replica, a, b, c)
        switch result {
        case .failure(let failure) where failure.code == .indeterminate && does(.indeterminateCommitTakenForDone):
            let version = change.payment.version + 1
            tell(replica, .committed(id, job.token, change, .success(.committed(version: version, lease: nil))))
        case .failure: tell(replica, .committed(id, job.token, change, result))
        case .success(.committed):
            replicas[replica].tries[payment] = 0
            if let bits = strikes(.crashAfterCommit, a, b, c) {
                return crash(replica, restartAfter: downtime(bits))
            }
            if let bits = strikes(.replicaPaused, a, b, c) {
                pause(replica, bits)
                return put(.returned(.committed(id, job.token, change, result)), replica, id, job.token, after: 0)
            }
            tell(replica, .committed(id, job.token, change, result))
        case .success(let refusal):
            emit(.refused(replica: replica, payment: id, why: World.why(refusal)))
            tell(replica, .committed(id, job.token, change, result))
        }
    }

    /// Makes a new payment durable.
    private mutating func insert(_ job: Job, _ change: PaymentChange, _ ticket: Int) {
        let replica = job.replica
        let tries = replicas[replica].insertions[ticket, default: 0]
        replicas[replica].insertions[ticket] = tries + 1
        let (a, b, c) = (UInt64(job.payment), UInt64(bitPattern: Int64(ticket)), UInt64(tries) | 1 << 32)
        if let bits = strikes(.crashBeforeCommit, a, b, c) {
            return crash(replica, restartAfter: downtime(bits))
        }
        let record = change.record.flatMap { sites[replicas[replica].site].store.record($0.caller, $0.key) }
        let result = attempt(change, by: replica, a, b, c)
        if record == nil, sites[replicas[replica].site].store.row(change.payment.id) != nil {
            replicas[replica].inserted.insert(ticket)
            // If its engine does not hear of that, the lease runs out, as after a crash.
            if case .failure = result { replicas[replica].leftLeases.insert(change.payment.id) }
        }
        if case .success(.committed) = result {
            if let bits = strikes(.crashAfterCommit, a, b, c) {
                return crash(replica, restartAfter: downtime(bits))
            }
            if let bits = strikes(.replicaPaused, a, b, c) {
                pause(replica, bits)
                return put(.returned(.inserted(ticket: ticket, result)), replica, change.payment.id, after: 0)
            }
        }
        if case .failure(let failure) = result, failure.code == .indeterminate, ticket >= 0,
            does(.indeterminateCommitTakenForFailed)
        {
            return answer(ticket, .settled(.failed, refund: nil))
        }
        tell(replica, .inserted(ticket: ticket, result))
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
        wakeKeepers(replica)
        let length = limits.lease.milliseconds + 1_000 + span(bits & 3 == 0 ? 7_200_000 : 90_000, bits)
        replicas[replica].pausedUntil = max(replicas[replica].pausedUntil, now + length)
    }

    /// One call to the store, with what may happen on the way there and back.
    mutating func attempt(
        _ change: PaymentChange, by replica: Int, _ a: UInt64, _ b: UInt64, _ c: UInt64
    ) -> Result<CommitResult, StoreFailure> {
        guard reachesStore(replica) else { return .failure(World.unreachable) }
        if strikes(.storeBusy, a, b, c) != nil {
            return .failure(StoreFailure(.busy, operation: "commit", cause: "another writer"))
        }
        if let bits = strikes(.commitIndeterminate, a, b, c) {
            if bits & 1 == 0 { _ = write(change, by: replica) }
            return .failure(StoreFailure(.indeterminate, operation: "commit", cause: "connection lost"))
        }
        return write(change, by: replica)
    }

    static let unreachable = StoreFailure(.unavailable, operation: "store", cause: "not reachable")

    /// Carries out a question or a claim, and says what the engine is told of it; nil where it is something else.
    mutating func asked(_ job: Job) -> EngineInput? {
        let replica = job.replica
        let id = ids[job.payment]
        let site = replicas[replica].site
        let isReached = reachesStore(replica)
        let row: Result<Payment?, StoreFailure> =
            isReached ? .success(sites[site].store.payment(id)) : .failure(World.unreachable)
        switch job.work {
        case .reload(let tries): return .reloaded(id, job.token, try: tries, row)
        case .claim:
            guard takesWrites(replica) else { return .claimed(id, .failure(World.unreachable)) }
            let claimed = sites[site].store.claim(
                id, holder: replicas[replica].holder, leaseFor: limits.lease, at: storeTime(site))
            if let claimed { leased(replica, claimed.payment.id, claimed.token) }
            return .claimed(id, .success(claimed))
        case .lookUp(let ticket, let caller, let key):
            guard isReached else { return .lookedUp(ticket: ticket, .failure(World.unreachable)) }
            let tries = UInt64(replicas[replica].insertions[ticket, default: 0])
            if strikes(.storeBusy, UInt64(job.payment), UInt64(bitPattern: Int64(ticket)), tries | 1 << 33) != nil {
                let busy = StoreFailure(.busy, operation: "look up", cause: "too many connections")
                return .lookedUp(ticket: ticket, .failure(busy))
            }
            return .lookedUp(ticket: ticket, .success(sites[site].store.record(caller, key)))
        case .occupant(let ticket): return .occupant(ticket: ticket, row)
        case .readToWrite(let number): return .readToWrite(number, row)
        case .write(let change, let number): return .wrote(number, attemptBeside(change, replica))
        case .release:
            release(replica, id, job.token)
            return .released
        case .claimDue(let request): return .claimedDue(request, claimDue(replica, request))
        case .claimWaiting(let request):
            guard takesWrites(replica) else { return .claimedWaiting(request, .failure(World.unreachable)) }
            let claimed = sites[site].store.claimWaiting(request, at: storeTime(site))
            for payment in claimed {
                leased(replica, payment.payment.id, payment.token)
                noteIdleClaim(payment.payment.id, isDue: false)
            }
            return .claimedWaiting(request, .success(claimed))
        case .readResting(let cursor, let limit):
            guard isReached else { return .resting(after: cursor, .failure(World.unreachable)) }
            var query = PaymentQuery(limit: limit)
            (query.state, query.after) = (.authorized, cursor)
            return .resting(after: cursor, .success(sites[site].store.payments(query)))
        case .askStandby: return .standby(standbyReading(replica))
        case .commit, .insert, .returned, .perform, .read, .told: return nil
        }
    }

    private mutating func attemptBeside(_ change: PaymentChange, _ replica: Int) -> Result<CommitResult, StoreFailure> {
        let paymentIndex = UInt64(paymentIndices[change.payment.id] ?? 0)
        let identity = UInt64(change.payment.version) << 16 | UInt64(change.payment.auditHead.sequence)
        return attempt(change, by: replica, paymentIndex, identity, UInt64(replica) << 48 | 1 << 40)
    }

    /// A store gave a replica a lease.
    mutating func leased(_ replica: Int, _ payment: PaymentID, _ token: LeaseToken) {
        if let paymentIndex = paymentIndices[payment] { replicas[replica].known.insert(paymentIndex) }
        emit(.leased(site: replicas[replica].site, replica: replica, payment: payment, token: token))
    }

    private mutating func noteIdleClaim(_ payment: PaymentID, isDue: Bool = true) {
        guard let paymentIndex = paymentIndices[payment] else { return }
        guard let count = idleClaims[paymentIndex].claimed(at: now, isDue: isDue) else { return }
        misconduct = "payment \(paymentIndex) was claimed \(count) times, and nothing was done about it"
    }

    /// What a replica had claimed when it was killed, it could do nothing about (seed 1337780822).
    mutating func forgetIdleClaims(of replica: Int) {
        let rows = sites[replicas[replica].site].store.rows
        for paymentIndex in idleClaims.indices where rows[paymentIndex]?.lease?.holder == replicas[replica].holder {
            idleClaims[paymentIndex].forgetOne()
        }
    }

    private mutating func claimDue(
        _ replica: Int, _ request: ClaimRequest
    ) -> Result<[ClaimedPayment], StoreFailure> {
        guard takesWrites(replica) else { return .failure(World.unreachable) }
        let site = replicas[replica].site
        let oldest = does(.overdueHasLowerBound) ? storeTime(site) + .hours(-24) : nil
        var claimed = sites[site].store.claimDue(request, at: storeTime(site), overlookingBefore: oldest)
        if does(.pollsOnlyEvents) || does(.givesUpAfterTries) {
            claimed = claimed.filter { payment in
                guard let paymentIndex = paymentIndices[payment.payment.id] else { return false }
                if does(.pollsOnlyEvents) { return replicas[replica].known.contains(paymentIndex) }
                return payment.payment.legs.allSatisfy { $0.inquiries < 4 }
            }
        }
        for payment in claimed {
            leased(replica, payment.payment.id, payment.token)
            noteIdleClaim(payment.payment.id)
        }
        return .success(claimed)
    }

    mutating func nextDue(_ replica: Int, _ scope: DueScope) -> Result<Timestamp?, StoreFailure> {
        guard reachesStore(replica) else { return .failure(World.unreachable) }
        return .success(sites[replicas[replica].site].store.nextDue(in: scope))
    }

    /// Prolongs leases.
    mutating func renew(
        _ replica: Int, _ leases: [PaymentID: LeaseToken]
    ) -> Result<Set<PaymentID>, StoreFailure> {
        guard takesWrites(replica) else { return .failure(World.unreachable) }
        let site = replicas[replica].site
        var held: Set<PaymentID> = []
        for (id, token) in leases.sorted(by: { $0.key < $1.key }) {
            if sites[site].store.renew(id, token, leaseFor: limits.lease, at: storeTime(site)) { held.insert(id) }
        }
        return .success(held)
    }

    mutating func release(_ replica: Int, _ id: PaymentID, _ token: LeaseToken) {
        guard let paymentIndex = paymentIndices[id] else { return }
        // Then it runs out.
        guard takesWrites(replica) else {
            replicas[replica].leftLeases.insert(id)
            return
        }
        let site = replicas[replica].site
        sites[site].store.release(id, token)
        wakeOtherReplicas(site, paymentIndex, except: replica)
    }
}
