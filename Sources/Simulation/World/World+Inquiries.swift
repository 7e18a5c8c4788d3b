internal import PaymentCore
internal import Reconciler

/// Status reads, notifications, and requests that leave too early because somebody planted that.
extension World {
    mutating func inquire(_ job: Job, _ order: InquiryOrder) {
        guard let provider = providerPlaces[order.provider] else { return }
        if providers[provider].contract.inquiry == .byResend {
            misconduct = "payment \(job.payment) was asked about at a provider that cannot be asked"
        }
        let began = clock(job.replica)
        let known = replicas[job.replica].engine?.runner(of: ids[job.payment])?.payment
        let inquiries = known?.legs[order.leg].inquiries ?? 0
        let a = UInt64(job.payment) << 8 | UInt64(order.leg)
        let b = UInt64(known?.version ?? 0)
        let c = UInt64(inquiries)
        emit(.inquiring(replica: job.replica, token: job.token, order, payment: ids[job.payment]))
        let isDown = outages[provider] > now || storms[provider] > now
        if isDown || settlesFor(job.replica) == nil {
            return tell(job, order, World.unavailable(began, "outage"), after: 50)
        }
        if let bits = strikes(.inquiryFailed, a, b, c) {
            return tell(job, order, World.unavailable(began, "http_503"), after: 10 + span(10_000, bits))
        }
        let lag = plan.providers[provider].contract.visibilityLag
        var staleBy = Span.zero
        if lag > .zero, let bits = strikes(.inquiryStale, a, b, c) {
            staleBy = .milliseconds(1 + span(Int(lag.milliseconds), bits))
        }
        var tellAfter: Int64 = 0
        var latency = 5 + span(150, chance.bits(53, a, b, c))
        if let bits = strikes(.inquirySlow, a, b, c) {
            let slow = 5_000 + span(300_000, bits)
            if bits & 1 == 0 { tellAfter = slow } else { latency = slow }
        }
        let read = Job(
            replica: job.replica, incarnation: job.incarnation, payment: job.payment, token: job.token,
            work: .read(order, began: began, staleBy: staleBy, tellAfter: tellAfter))
        push(.read(job: jobs.put(read)), after: latency)
    }

    private static func unavailable(_ began: Timestamp, _ reason: String) -> Observation {
        Observation(.unavailable, began: began, source: .inquiry, reason: reason)
    }

    private mutating func tell(_ job: Job, _ order: InquiryOrder, _ observation: Observation, after: Int64) {
        put(.told(.inquiry(order, observation)), job.replica, ids[job.payment], job.token, after: after)
    }

    /// A read arrives at its provider, whatever its reader does meanwhile.
    mutating func read(_ slot: Int) {
        guard let job = jobs.take(slot), case .read(let order, let began, let staleBy, let tellAfter) = job.work,
            let provider = providerPlaces[order.provider], carriesOn(job.replica, job.incarnation)
        else { return }
        let seen = providers[provider].read(order.transactionKey, began: began, at: time, staleBy: staleBy)
        tell(job, order, seen, after: tellAfter)
    }

    // MARK: Notifications

    /// A provider tells that something changed: late, and more than once.
    mutating func notify(_ wire: Wire, _ a: UInt64, _ b: UInt64, _ c: UInt64) {
        guard let provider = providerPlaces[wire.order.provider],
            providers[provider].contract.inquiry != .byResend, let bits = strikes(.notification, a, b, c)
        else { return }
        let up = replicas.indices.filter { replicas[$0].isUp && isOpen($0) }
        guard !up.isEmpty else { return }
        let replica = up[Chance.below(up.count, bits)]
        var event = PaymentEvent.inquireNow
        if does(.notificationsBelieved) {
            // What it told was so when it was written.
            var told = providers[provider].read(wire.order.transactionKey, began: time, at: time)
            told.began = time + .minutes(10)
            event = .inquired(leg: wire.order.leg, told)
        }
        for copy in 0..<(1 + Int(bits >> 16 & 1)) {
            let late = span(bits >> 20 & 3 == 0 ? 3_600_000 : 5_000, Chance.mixed(bits &+ UInt64(copy)))
            put(.returned(.tell(ids[wire.payment], [event])), replica, ids[wire.payment], after: 5 + late)
        }
    }

    // MARK: Sabotage

    /// Sends what a change decides before the change is durable.
    mutating func sendEarly(_ replica: Int, _ payment: Int, _ token: LeaseToken, _ change: PaymentChange) {
        let undoOnly = does(.compensationNotRegistered)
        guard undoOnly || does(.sendsBeforeCommit),
            var copy = replicas[replica].engine?.runner(of: ids[payment])
        else { return }
        let context = MachineContext(now: clock(replica), contracts: contracts(replica), policy: policy(replica))
        let outputs = copy.handle(
            .committed(.committed(version: change.payment.version + 1, lease: nil)), context)
        for case .perform(.send(let order)) in outputs {
            if undoOnly, order.kind != .void, order.effect != .compensation { continue }
            let job = Job(
                replica: replica, incarnation: replicas[replica].incarnation, payment: payment, token: token,
                work: .perform(.send(order)))
            perform(job, .send(order))
            sentEarly.insert(
                AttemptName(payment: payment, leg: order.leg, effect: order.effect, number: order.number))
        }
    }
}
