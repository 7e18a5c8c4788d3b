internal import PaymentCore
internal import Reconciler

/// Replicas' engines: the shipped machine, told what happens in simulated time, whose jobs become events of the run.
extension World {
    /// What a replica believes the time to be. It never goes backward.
    mutating func clock(_ replica: Int) -> Timestamp {
        replicas[replica].shown = max(replicas[replica].shown, now + replicas[replica].skew)
        return Timestamp(milliseconds: replicas[replica].shown)
    }

    /// What surrounds an input to a replica's engine.
    mutating func engineMoment(_ replica: Int) -> EngineMoment {
        replicas[replica].draws += 1
        let bits = chance.bits(11, UInt64(replica), replicas[replica].draws)
        return EngineMoment(now: clock(replica), jitter: Chance.below(1_000, bits), standing: standing(replica))
    }

    func carriesOn(_ replica: Int, _ incarnation: Int) -> Bool {
        replicas[replica].isUp && replicas[replica].incarnation == incarnation
    }

    /// Tells a replica's engine something, and puts what it wants done on its way.
    mutating func tell(_ replica: Int, _ input: EngineInput) {
        let incarnation = replicas[replica].incarnation
        for job in jobs(replica, input) where carriesOn(replica, incarnation) { execute(job, replica) }
    }

    mutating func jobs(_ replica: Int, _ input: EngineInput) -> [EngineJob] {
        let moment = engineMoment(replica)
        return replicas[replica].engine?.handle(input, at: moment) ?? []
    }

    /// The settings of a replica's engine.
    func engineSettings(_ replica: Int) -> EngineMachine.Settings {
        var settings = EngineMachine.Settings(
            holder: replicas[replica].holder, policy: policy(replica), contracts: contracts(replica))
        settings.sweep = limits
        settings.maximumActive = 100_000
        settings.commitsAreAcknowledged = plan.keepsAcknowledgedRows || does(.commitsCalledAcknowledged)
        settings.effectTable = plant.effectTable
        settings.paymentTable = plant.paymentTable
        return settings
    }

    mutating func execute(_ job: EngineJob, _ replica: Int) {
        if replicas[replica].isDraining, job.begins {
            misconduct = "replica \(replica) looked for more work after it was told to stop"
        }
        switch job {
        case .commit(let id, let token, let change, let delay):
            if delay == .zero { sendEarly(replica, paymentIndices[id] ?? 0, token, change) }
            put(.commit(change), replica, id, token, after: max(1, delay.milliseconds))
        case .reload(let id, let token, let tries, let delay):
            put(.reload(try: tries), replica, id, token, after: max(2, delay.milliseconds))
        case .release(let id, let token):
            put(.release, replica, id, token, after: slowness(replica, paymentIndices[id], UInt64(token.number)))
        case .claim(let id, _, _): put(.claim, replica, id, after: 1)
        case .insert(let ticket, let change, let delay):
            put(.insert(change, ticket: ticket), replica, change.payment.id, after: max(2, delay.milliseconds))
        case .lookUp(let ticket, let caller, let key): put(.lookUp(ticket, caller, key), replica, nil, after: 1)
        case .readOccupant(let ticket, let id): put(.occupant(ticket), replica, id, after: 1)
        case .readToWrite(let number, let id): put(.readToWrite(number), replica, id, after: 1)
        case .write(let number, let change):
            let paymentIndex = paymentIndices[change.payment.id]
            let name = UInt64(change.payment.version) << 32 | UInt64(number)
            put(.write(change, number), replica, change.payment.id, after: slowness(replica, paymentIndex, name))
        case .claimDue(let request):
            put(.claimDue(request), replica, nil, after: slowness(replica, nil, UInt64(now)))
        case .claimWaiting(let request): put(.claimWaiting(request), replica, nil, after: 1)
        case .readResting(let cursor, let limit, let pause):
            put(.readResting(after: cursor, limit: limit), replica, nil, after: max(1, pause.milliseconds))
        case .askNextDue(let scope): tell(replica, .nextDue(nextDue(replica, scope)))
        case .renew(let leases, _): tell(replica, .renewed(leases, renew(replica, leases)))
        case .askStandby(let pause): askStandby(replica, after: pause)
        case .wake(let moment): wake(replica, at: moment)
        case .renewLater(let pause):
            push(.renew(replica: replica, incarnation: replicas[replica].incarnation), after: pause.milliseconds)
        case .perform(let id, let token, let action):
            put(.perform(action), replica, id, token, after: isQueued(action) ? 60_000 : 1)
        case .answer(let ticket, let answer): engineAnswered(replica, ticket, answer)
        case .announce(let payment, let kept): announce(replica, payment, kept)
        case .note: break
        }
    }

    private func isQueued(_ action: PaymentAction) -> Bool {
        guard does(.firstRequestsQueued), case .send(let order) = action else { return false }
        return order.number == 1
    }

    /// How long it takes until the store does something about a payment; about none of them, without an index.
    private mutating func slowness(_ replica: Int, _ paymentIndex: Int?, _ name: UInt64) -> Int64 {
        let paymentIndex = UInt64(paymentIndex.map { $0 + 1 } ?? 0)
        guard let bits = strikes(.storeSlow, paymentIndex, UInt64(replica), name) else { return 1 }
        return 1 + span(3_000, bits)
    }

    mutating func put(
        _ work: Job.Work, _ replica: Int, _ id: PaymentID?, _ token: LeaseToken = LeaseToken(0), after: Int64
    ) {
        let job = Job(
            replica: replica, incarnation: replicas[replica].incarnation,
            payment: id.flatMap { paymentIndices[$0] } ?? 0,
            token: token, work: work)
        push(.job(jobs.put(job)), after: after)
    }

    // MARK: Starting and stopping

    /// A replica starts, with nothing in memory.
    mutating func start(_ replica: Int) {
        let site = replicas[replica].site
        guard !replicas[replica].isUp, sites[site].isUp else { return }
        replicas[replica].start()
        replicas[replica].isFormer = startsFormer(replica)
        replicas[replica].engine = EngineMachine(engineSettings(replica), recovery: nil, rules: rules)
        emit(.started(replica: replica, site: site))
        beginKeeping(replica)
        beginComparing(replica)
    }

    /// How long it takes until somebody starts a replica again: mostly moments, now and then more than a day.
    func downtime(_ bits: UInt64) -> Int64 { bits >> 32 & 31 == 0 ? 100_000_000 : 500 + span(120_000, bits) }

    /// A replica stops where it is: what it had in memory is gone, what is on the wire goes on.
    mutating func crash(_ replica: Int, restartAfter milliseconds: Int64?) {
        guard replicas[replica].isUp else { return }
        forgetIdleClaims(of: replica)
        replicas[replica].stop()
        if let milliseconds { push(.restart(replica: replica), after: milliseconds) }
    }
}

extension EngineJob {
    /// Whether it begins something that nobody waits for.
    fileprivate var begins: Bool {
        switch self {
        case .claimDue, .claimWaiting: true
        default: false
        }
    }
}
