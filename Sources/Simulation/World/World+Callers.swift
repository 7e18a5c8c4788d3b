internal import PaymentCore
internal import Reconciler

/// Something that a caller wants, until it has a final answer.
struct CallerTask {
    let payment: Int
    let planned: PlannedPayment.Ask
    /// How often it was asked.
    var attempts = 0
    /// Its time has come.
    var isScheduled = false
    /// It has its final answer.
    var isDone = false
    /// What it was told last.
    var last: CallerAnswer?

    var isCreate: Bool {
        if case .create = planned.operation.kind { return true }
        return false
    }
}

/// One request of a caller to one replica.
struct CallerAsk {
    let task: Int
    let replica: Int
    var isOpen = true
}

/// Callers: they ask, wait, give up waiting, ask again under the same key, and learn.
extension World {
    private static let patience: [Int64] = [
        3_000, 8_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000,
    ]

    /// Asks, and will ask again unless a final answer comes.
    mutating func ask(_ task: Int) {
        guard !tasks[task].isDone else { return }
        tasks[task].isScheduled = true
        let attempt = tasks[task].attempts
        // Once all is well, nobody waits for longer than an hour, but for what people have to decide.
        let isWithPeople = tasks[task].last == .accepted(.quarantined)
        let longest = areFaultsOver && !isWithPeople ? 5 : World.patience.count - 1
        let pause = World.patience[min(attempt, longest)]
        let bits = chance.bits(59, UInt64(task), UInt64(attempt))
        push(.ask(task: task), after: pause + tasks[task].planned.wait.milliseconds + span(Int(pause / 4), bits))
        askOnce(task, isRepeat: false)
        if attempt == 0 { trigger(.created, task) }
        var again: UInt64 = 1
        while again < 4, let bits = strikes(.callerRepeats, UInt64(task), UInt64(attempt), again) {
            push(.repeatAsk(task: task), after: span(bits & 1 == 0 ? 30 : 4_000, bits))
            again += 1
        }
    }

    mutating func askOnce(_ task: Int, isRepeat: Bool) {
        guard !tasks[task].isDone || isRepeat else { return }
        tasks[task].attempts += 1
        let attempt = tasks[task].attempts
        emit(.asked(tasks[task].planned.operation, attempt: attempt))
        let up = replicas.indices.filter {
            replicas[$0].isUp && (replicas[$0].site == activeSite || does(.oldSiteGoesOn))
        }
        guard !up.isEmpty else { return }
        let bits = chance.bits(61, UInt64(task), UInt64(attempt))
        asks.append(CallerAsk(task: task, replica: up[Chance.below(up.count, bits)]))
        push(.asked(ask: asks.count - 1), after: 1 + span(30, Chance.mixed(bits)))
    }

    /// Those of a payment's wishes that waited for this are asked after their delay.
    mutating func trigger(_ condition: PlannedPayment.Condition, _ task: Int) {
        for other in tasksOf[tasks[task].payment]
        where !tasks[other].isScheduled && tasks[other].planned.after == condition {
            tasks[other].isScheduled = true
            push(.ask(task: other), after: tasks[other].planned.delay.milliseconds)
        }
    }

    /// Rows were lost: whoever asked for something about these payments asks again, answered or not.
    mutating func repeatAll(_ payments: [Int]) {
        for payment in payments {
            for task in tasksOf[payment] where tasks[task].attempts > 0 {
                tasks[task].isDone = false
                tasks[task].attempts = 0
                let bits = chance.bits(67, UInt64(task), UInt64(sites[activeSite].store.epoch))
                push(.ask(task: task), after: 500 + span(20_000, bits) + (tasks[task].isCreate ? 0 : 5_000))
            }
        }
    }

    // MARK: At the replica

    /// A request arrives at a replica.
    mutating func arrived(_ ask: Int) {
        let replica = asks[ask].replica
        guard replicas[replica].isUp else { return }
        guard reachesStore(replica), !replicas[replica].isDraining else { return answer(ask, .unavailable) }
        let task = tasks[asks[ask].task]
        let operation = task.planned.operation
        let store = sites[replicas[replica].site].store
        let known = store.record(operation.caller, operation.key)
        if task.isCreate {
            if let known, !does(.duplicateCreateAccepted) { return join(ask, known) }
            return create(ask, task)
        }
        guard let row = store.rows[task.payment] else { return answer(ask, .unavailable) }
        // Its place was taken to undo what the provider had of it.
        guard row.payment.caller == operation.caller else { return answer(ask, .refused(row.payment.state)) }
        if let known { return join(ask, known) }
        let request = OperationRunner.Request(
            ticket: ask, operation: request(operation.kind, task.payment), record: record(task, replica))
        replicas[replica].tickets.insert(ask)
        deliver(replica, task.payment, [], [request])
    }

    private mutating func record(_ task: CallerTask, _ replica: Int) -> IdempotencyRecord {
        let operation: IdempotencyRecord.Operation =
            switch task.planned.operation.kind {
            case .create: .create
            case .cancel: .cancel
            case .capture: .capture
            case .refund: .refund
            }
        return IdempotencyRecord(
            caller: task.planned.operation.caller, key: task.planned.operation.key, operation: operation,
            payment: task.planned.operation.payment, fingerprint: task.planned.fingerprint,
            createdAt: clock(replica))
    }

    private func request(_ kind: CallerOperation.Kind, _ payment: Int) -> OperationRunner.Request.Operation {
        switch kind {
        case .create, .cancel: .cancel(reason: nil)
        case .capture(let amounts): .capture(amounts: byLeg(amounts, payment))
        case .refund(let amounts): .refund(amounts: byLeg(amounts, payment), reason: nil)
        }
    }

    private func byLeg(_ amounts: [Int]?, _ payment: Int) -> [Int: Money]? {
        guard let amounts, let request = plan.payments[payment].requests.first else { return nil }
        var asked: [Int: Money] = [:]
        for (leg, value) in amounts.enumerated() where value > 0 && request.legs.indices.contains(leg) {
            do { asked[leg] = try Money(Int64(value), request.legs[leg].amount.currency) } catch { continue }
        }
        return asked
    }

    private mutating func create(_ ask: Int, _ task: CallerTask) {
        let replica = asks[ask].replica
        guard case .create(let body) = task.planned.operation.kind else { return }
        let created = PaymentMachine.create(
            plan.payments[task.payment].requests[body], context(replica), recovery: recovery)
        let change = PaymentChange(
            payment: created.machine.payment, entries: created.machine.newEntries,
            lease: .creating(holder: replicas[replica].holder, leaseFor: limits.lease),
            record: record(task, replica))
        if does(.acknowledgedBeforeDurable) { answer(ask, .accepted(.processing)) }
        put(
            .create(created.machine, change, created.actions, ask: ask, try: 0), replica, task.payment,
            LeaseToken(0), after: 2)
    }

    /// Makes a new payment durable; tries again where that is safe, and looks for the row where it is not known.
    mutating func create(
        _ job: Job, _ machine: PaymentMachine, _ change: PaymentChange, _ actions: [PaymentAction], _ ask: Int,
        _ tries: Int
    ) {
        let replica = job.replica
        let (a, b, c) = (UInt64(job.payment), UInt64(ask), UInt64(tries) | 1 << 32)
        if let bits = strikes(.crashBeforeCommit, a, b, c) {
            return crash(replica, restartAfter: downtime(bits))
        }
        switch attempt(change, by: replica, a, b, c) {
        case .success(.committed(let version, let lease)):
            if let bits = strikes(.crashAfterCommit, a, b, c) {
                return crash(replica, restartAfter: downtime(bits))
            }
            guard let lease else { return }
            var machine = machine
            machine.committed(version: version)
            let isPaused = strikes(.replicaPaused, a, b, c)
            if let isPaused { pause(replica, isPaused) }
            begin(replica, machine, lease, actions)
            settleOrWait(ask, machine.payment)
        case .success(.duplicate(let known)): join(ask, known)
        case .success(.versionConflict):
            // What the provider had of it is undone; the caller may ask for another.
            let there = sites[replicas[replica].site].store.rows[job.payment]?.payment
            guard let there, there.caller != change.payment.caller else { return answer(ask, .unavailable) }
            answer(ask, .refused(there.state))
        case .success: answer(ask, .unavailable)
        case .failure(let failure):
            if failure.code == .indeterminate, does(.indeterminateCommitTakenForFailed) {
                return answer(ask, .settled(.failed, refund: nil))
            }
            let store = sites[replicas[replica].site].store
            if failure.code == .indeterminate, let known = store.record(change.payment.caller, change.payment.key) {
                return join(ask, known)
            }
            guard failure.code != .unavailable, tries < 2 else { return answer(ask, .unavailable) }
            put(
                .create(machine, change, actions, ask: ask, try: tries + 1), replica, job.payment,
                LeaseToken(0), after: 20 << Int64(tries))
        }
    }
}
