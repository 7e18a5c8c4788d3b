internal import PaymentCore
internal import Reconciler

/// The rules by which the engine admits, feeds and ends runners, step by step as it has them.
extension World {
    /// What a replica believes the time to be. It never goes backward.
    mutating func clock(_ replica: Int) -> Timestamp {
        replicas[replica].shown = max(replicas[replica].shown, now + replicas[replica].skew)
        return Timestamp(milliseconds: replicas[replica].shown)
    }

    /// What a replica's machines are told with each event.
    mutating func context(_ replica: Int) -> MachineContext {
        replicas[replica].draws += 1
        let bits = chance.bits(11, UInt64(replica), replicas[replica].draws)
        return MachineContext(
            now: clock(replica), contracts: told, policy: plan.policy, jitter: Chance.below(1_000, bits),
            commitsAreAcknowledged: plan.keepsAcknowledgedRows || does(.commitsCalledAcknowledged),
            mayBegin: !replicas[replica].isDraining, table: plant.table, paymentTable: plant.paymentTable)
    }

    /// Hands an input to a payment's runner, if it is still the one that the input is for.
    mutating func feed(_ replica: Int, _ payment: Int, _ token: LeaseToken, _ input: OperationRunner.Input) {
        let context = context(replica)
        guard replicas[replica].runners[payment]?.lease == token,
            let outputs = replicas[replica].runners[payment]?.handle(input, context)
        else { return }
        carryOut(outputs, replica, payment, token)
    }

    func carriesOn(_ replica: Int, _ incarnation: Int) -> Bool {
        replicas[replica].isUp && replicas[replica].incarnation == incarnation
    }

    mutating func carryOut(
        _ outputs: [OperationRunner.Output], _ replica: Int, _ payment: Int, _ token: LeaseToken
    ) {
        let incarnation = replicas[replica].incarnation
        for output in outputs where carriesOn(replica, incarnation) {
            switch output {
            case .commit(let change):
                sendEarly(replica, payment, token, change)
                put(.commit(change), replica, payment, token, after: 1)
            case .commitAgain(let change, let tries):
                let delay = plan.policy.resendSchedule.delay(min(tries, 3), jitter: 0)
                put(.commit(change), replica, payment, token, after: delay.milliseconds)
            case .perform(let action):
                put(.perform(action), replica, payment, token, after: 1)
            case .reload:
                put(.reload(try: 0), replica, payment, token, after: 2)
            case .answered(let ticket, let answer):
                if replicas[replica].tickets.remove(ticket) != nil { submitted(ticket, answer) }
            case .changed(let changed):
                announce(replica, payment, changed)
            case .finished(let release):
                end(replica, payment)
                if let release { self.release(replica, payment, release) }
            case .abandoned:
                lose(replicas[replica].runners[payment]?.unansweredTickets ?? [], replica)
                end(replica, payment)
            }
        }
    }

    mutating func put(_ work: Job.Work, _ replica: Int, _ payment: Int, _ token: LeaseToken, after: Int64) {
        let job = Job(
            replica: replica, incarnation: replicas[replica].incarnation, payment: payment, token: token,
            work: work)
        push(.job(jobs.put(job)), after: after)
    }

    /// Nobody will answer these any more; their callers ask again.
    mutating func lose(_ tickets: [Int], _ replica: Int) {
        for ask in tickets where replicas[replica].tickets.remove(ask) != nil { answer(ask, .unavailable) }
    }

    mutating func end(_ replica: Int, _ payment: Int) {
        guard var runner = replicas[replica].remove(payment) else { return }
        let id = ids[payment]
        let isPlaceWanted = replicas[replica].sweep.finished(id)
        let left = runner.takeLeftovers()
        let open = left.requests.filter { replicas[replica].tickets.contains($0.ticket) }
        if !left.events.isEmpty || !open.isEmpty {
            put(.deliver(left.events, open), replica, payment, LeaseToken(0), after: 1)
        }
        guard !replicas[replica].isDraining else { return }
        if isPlaceWanted { arm(replica, at: now) }
        if let due = runner.payment.dueAt { arm(replica, at: now + (due - clock(replica)).milliseconds) }
    }

    /// Tells whoever waits in this process.
    private mutating func announce(_ replica: Int, _ payment: Int, _ changed: Payment) {
        guard !replicas[replica].waiting.isEmpty else { return }
        let waiting = replicas[replica].waiting.filter { $0.payment == payment }
        for entry in waiting where isSettled(changed, entry.ask) {
            replicas[replica].waiting.removeAll { $0.ask == entry.ask }
            settle(entry.ask, changed)
        }
    }

    /// Puts a claimed payment to work, with what is waiting for it.
    mutating func begin(
        _ replica: Int, _ claimed: ClaimedPayment, isDue: Bool = false, _ events: [PaymentEvent] = [],
        _ requests: [OperationRunner.Request] = []
    ) {
        guard let payment = places[claimed.payment.id] else { return }
        emit(
            .leased(
                site: replicas[replica].site, replica: replica, payment: claimed.payment.id, token: claimed.token))
        guard admit(replica, payment, claimed.token) else {
            return feed(replica, payment, events, requests)
        }
        replicas[replica].put(
            OperationRunner(machine: PaymentMachine(payment: claimed.payment), token: claimed.token), payment)
        keepLeases(replica)
        let claim = does(.takeoverForgotten) ? [] : [recovery.claim(of: claimed.payment)]
        let first = claim + confirmations(claimed.payment)
        var context = context(replica)
        if isDue { context.now = max(context.now, claimed.payment.dueAt ?? context.now) }
        let outputs =
            replicas[replica].runners[payment]?.begin(with: first + events, requests: requests, context) ?? []
        carryOut(outputs, replica, payment, claimed.token)
    }

    /// Puts a payment that was just created to work; its first intents are durable.
    mutating func begin(
        _ replica: Int, _ machine: PaymentMachine, _ token: LeaseToken, _ actions: [PaymentAction]
    ) {
        guard let payment = places[machine.payment.id] else { return }
        emit(.leased(site: replicas[replica].site, replica: replica, payment: machine.payment.id, token: token))
        guard admit(replica, payment, token) else { return }
        replicas[replica].put(OperationRunner(machine: machine, token: token), payment)
        keepLeases(replica)
        for action in actions { put(.perform(action), replica, payment, token, after: 1) }
        if machine.busy.isEmpty { feed(replica, payment, token, .event(.woke)) }
    }

    /// What a payment that was read from the store is told of its latch, once the standby has it.
    func confirmations(_ payment: Payment) -> [PaymentEvent] {
        guard !payment.latchAcknowledged, payment.latch != .none, isOnStandby(payment) else { return [] }
        return [.latchAcknowledged(payment.latch)]
    }

    /// Hands events and requests to the runner of a payment.
    mutating func feed(
        _ replica: Int, _ payment: Int, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]
    ) {
        for event in events {
            guard let token = replicas[replica].runners[payment]?.lease else {
                return put(.deliver([event], requests), replica, payment, LeaseToken(0), after: 1)
            }
            feed(replica, payment, token, .event(event))
        }
        for request in requests {
            guard let token = replicas[replica].runners[payment]?.lease else {
                return put(.deliver([], [request]), replica, payment, LeaseToken(0), after: 1)
            }
            feed(replica, payment, token, .request(request))
        }
    }

    /// Whether a runner under this lease may take the payment's place; an older one leaves it.
    private mutating func admit(_ replica: Int, _ payment: Int, _ token: LeaseToken) -> Bool {
        guard let present = replicas[replica].runners[payment] else { return true }
        guard present.lease < token else { return false }
        lose(present.unansweredTickets, replica)
        _ = replicas[replica].remove(payment)
        return true
    }

    // MARK: Starting and stopping

    /// A replica starts, with nothing in memory.
    mutating func start(_ replica: Int) {
        let site = replicas[replica].site
        guard !replicas[replica].isUp, sites[site].isServing else { return }
        replicas[replica].start(providers: providerNames, limits: limits)
        emit(.started(replica: replica, site: site))
        arm(replica, at: now)
        beginComparing(replica)
    }

    /// How long it takes until somebody starts a replica again: mostly moments, now and then more than a day.
    func downtime(_ bits: UInt64) -> Int64 { bits >> 32 & 31 == 0 ? 100_000_000 : 500 + span(120_000, bits) }

    /// A replica stops where it is: what it had in memory is gone, what is on the wire goes on.
    mutating func crash(_ replica: Int, restartAfter milliseconds: Int64?) {
        guard replicas[replica].isUp else { return }
        replicas[replica].stop()
        if let milliseconds { push(.restart(replica: replica), after: milliseconds) }
    }
}
