internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// Something that happens at a time and not to a request: an outage, a partition, a failover.
struct Mishap {
    let kind: FaultKind
    /// Which provider, replica or payment it is about.
    let subject: Int
    /// Its number among those of its kind, from 0.
    let number: Int
}

/// The beginning, the mishaps, and the end of faults.
extension World {
    mutating func begin() {
        let bound = plan.clockBound.milliseconds
        for site in sites.indices {
            sites[site].clockOffset = span(Int(2 * bound + 1), chance.bits(71, UInt64(site))) - bound
        }
        witnessOffset = span(Int(2 * bound + 1), chance.bits(111, 0)) - bound
        for replica in replicas.indices { start(replica) }
        for (payment, planned) in plan.payments.enumerated() {
            tasksOf.append([])
            guard plan.keptPayments?.contains(payment) ?? true else { continue }
            enter(planned, payment)
        }
        for _ in plan.payments.count..<ids.count { tasksOf.append([]) }
        for kind in FaultKind.allCases where plan.rates[kind] > 0 { planMishaps(kind) }
        heap.push(.faultsEnd, at: (plan.start + plan.faultPhase).milliseconds)
    }

    private mutating func enter(_ planned: PlannedPayment, _ payment: Int) {
        for ask in planned.asks {
            tasks.append(CallerTask(payment: payment, planned: ask))
            tasksOf[payment].append(tasks.count - 1)
            if ask.after == .start {
                heap.push(.ask(task: tasks.count - 1), at: (plan.start + ask.delay).milliseconds)
            }
        }
        guard let create = planned.asks.first, let bits = strikes(.callerCancels, UInt64(payment)) else { return }
        let key: IdempotencyKey
        do { key = try IdempotencyKey("\(create.operation.key.text)-cancel") } catch { return }
        let cancel = PlannedPayment.Ask(
            operation: CallerOperation(
                caller: create.operation.caller, key: key, payment: planned.id, kind: .cancel),
            fingerprint: Digest(of: ["simulated", planned.id.text, key.text, "cancel"]), after: .created,
            delay: .milliseconds(20 + span(bits & 3 == 0 ? 3_600_000 : 4_000, bits)), wait: .seconds(2))
        tasks.append(CallerTask(payment: payment, planned: cancel))
        tasksOf[payment].append(tasks.count - 1)
    }

    private func subjects(of kind: FaultKind) -> Int {
        switch kind {
        case .providerOutage, .throttlingStorm: providers.count
        case .clockSkewed, .storePartitioned: replicas.count
        case .failover, .failoverLosingRows, .failback, .sitesPartitioned, .witnessAway: 1
        case .changedOutside, .disputed: plan.payments.count
        case _ where kind.isPlantedDifference: plan.payments.count
        default: 0
        }
    }

    /// Plans the times of mishaps of a kind: around the bursts, where it matters.
    private mutating func planMishaps(_ kind: FaultKind) {
        let isOnce = kind == .changedOutside || kind == .disputed || kind.isPlantedDifference
        let count = isOnce ? 1 : 2 * plan.bursts.count
        for subject in 0..<subjects(of: kind) {
            for number in 0..<count {
                let id = chance.bits(kind.word, UInt64(subject), UInt64(number), 0, 0)
                guard Chance.happens(perMillion: plan.rates[kind], id) else { continue }
                let bits = Chance.mixed(id &+ 1)
                let burst =
                    kind == .changedOutside || kind == .disputed
                    ? plan.payments[subject].asks[0].delay : plan.bursts[number % plan.bursts.count]
                var after = span(number < plan.bursts.count ? 20_000 : 900_000, bits)
                if kind.isPlantedDifference {
                    guard plan.keptPayments?.contains(subject) ?? true else { continue }
                    after = span(Int(max(1, (plan.faultPhase - burst).milliseconds)), bits)
                }
                mishaps.append(Mishap(kind: kind, subject: subject, number: number))
                heap.push(.mishap(mishaps.count - 1), at: (plan.start + burst).milliseconds + after)
            }
        }
    }

    mutating func mishapHappens(_ mishapIndex: Int) {
        let mishap = mishaps[mishapIndex]
        let subject = mishap.subject
        guard canHappen(mishap.kind) else { return }
        guard let bits = strikes(mishap.kind, UInt64(subject), UInt64(mishap.number)) else { return }
        switch mishap.kind {
        case .providerOutage:
            let lengths = [60_000, 600_000, 7_200_000, 86_400_000]
            outages[subject] = max(outages[subject], now + 5_000 + span(lengths[Int(bits >> 8 & 3)], bits))
        case .throttlingStorm:
            storms[subject] = max(storms[subject], now + 5_000 + span(600_000, bits))
        case .clockSkewed:
            let bound = plan.clockBound.milliseconds
            replicas[subject].skew = span(Int(2 * bound + 1), bits) - bound
        case .storePartitioned:
            wakeKeepers(subject)
            replicas[subject].partitionedUntil = now + 2_000 + span(bits & 1 == 0 ? 40_000 : 600_000, bits)
        case .failover where plan.replication == .asynchronous: drain(bits)
        case .failover: loseSite(losingRows: false, bits)
        case .failoverLosingRows: loseSite(losingRows: true, bits)
        case .failback: drain(bits)
        case .witnessAway: loseWitness(bits)
        case .sitesPartitioned: partitionSites(bits)
        case .changedOutside: changeOutside(subject, bits)
        case .disputed: dispute(subject, bits)
        case _ where mishap.kind.isPlantedDifference: plantDifference(mishap.kind, subject, bits)
        default: break
        }
    }

    private func canHappen(_ kind: FaultKind) -> Bool {
        switch kind {
        case .failover, .failoverLosingRows, .failback, .sitesPartitioned: canChangeSites && link.isUp
        case .witnessAway: plan.proof.isWitness
        default: true
        }
    }

    private mutating func changeOutside(_ payment: Int, _ bits: UInt64) {
        guard let known = sites[activeSite].store.rows[payment]?.payment else { return }
        let leg = known.legs[Chance.below(known.legs.count, bits)]
        guard let provider = providerPlaces[leg.provider] else { return }
        // The first that can be done to what is there, from a drawn one on.
        let changes = OutsideChange.allCases
        let first = Chance.below(changes.count, Chance.mixed(bits))
        for change in changes[first...] + changes[..<first] {
            // Nobody would hear of it where nothing can be read.
            guard providers[provider].contract.inquiry != .byResend else { return }
            if providers[provider].changeOutside(change, leg.primary.key, at: time) { return }
        }
    }

    /// The payer of a leg's charge disputes it, for a minute up to two days.
    private mutating func dispute(_ payment: Int, _ bits: UInt64) {
        guard let known = sites[activeSite].store.rows[payment]?.payment else { return }
        let leg = known.legs[Chance.below(known.legs.count, bits)]
        guard let provider = providerPlaces[leg.provider], providers[provider].contract.inquiry != .byResend else {
            return
        }
        let longest = [600_000, 7_200_000, 172_800_000][Int(bits >> 8) % 3]
        let ends = time + .milliseconds(60_000 + span(longest, Chance.mixed(bits)))
        _ = providers[provider].openDispute(
            leg.primary.key, at: time, until: ends, as: bits >> 16 & 1 == 0 ? .won : .lost)
    }

    /// From here no fault strikes; everything that is broken is mended.
    mutating func endFaults() {
        areFaultsOver = true
        faultsEndedAt = now
        emit(.faultsEnded)
        for provider in providers.indices {
            outages[provider] = 0
            storms[provider] = 0
        }
        witnessAwayUntil = min(witnessAwayUntil, now)
        for replica in replicas.indices {
            replicas[replica].partitionedUntil = 0
            // What stands still goes on when its time has come. With a part of it before the others, it would do what
            // no process does.
            if replicas[replica].isUp, replicas[replica].pausedUntil <= now { tell(replica, .look) }
        }
        askStandbyAgain()
        if !link.isUp { push(.site(.heal(since: now)), after: 1_000) }
        push(.restCheck(after: 60_000), after: 60_000)
    }
}
