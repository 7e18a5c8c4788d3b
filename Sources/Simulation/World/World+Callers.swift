internal import MemoryStore
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

    /// It was told how its capture or refund ended.
    var isContent: Bool {
        guard isDone, case .settled = last else { return false }
        switch planned.operation.kind {
        case .capture, .refund: return true
        case .create, .cancel: return false
        }
    }

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
    /// The shipped machine of the operation, and the start of the replica that has it.
    var machine: OperationMachine?
    var incarnation = 0
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
        let bits = chance.bits(61, UInt64(task), UInt64(attempt))
        // Callers go where a site says that it is active; one that has not heard goes anywhere.
        let isAstray = bits >> 32 & 31 == 0 && plan.sites > 1
        let up = replicas.indices.filter { replicas[$0].isUp && (isAstray || isOpen($0)) }
        guard !up.isEmpty else { return }
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

    /// Rows were lost: whoever asked for something about these payments asks again, answered or not. Half of those that
    /// were told how their capture or refund ended do not: they have no reason to.
    mutating func repeatAll(_ payments: [Int]) {
        for payment in payments {
            for task in tasksOf[payment] where tasks[task].attempts > 0 {
                if tasks[task].isContent, Chance.happens(perMillion: 500_000, chance.bits(68, UInt64(task))) {
                    continue
                }
                tasks[task].isDone = false
                tasks[task].attempts = 0
                let bits = chance.bits(67, UInt64(task), UInt64(sites[activeSite].row.epoch))
                push(.ask(task: task), after: 500 + span(20_000, bits) + (tasks[task].isCreate ? 0 : 5_000))
            }
        }
    }

    // MARK: At the replica

    /// A request arrives at a replica.
    mutating func arrived(_ ask: Int) {
        let replica = asks[ask].replica
        guard replicas[replica].isUp else { return }
        let task = tasks[asks[ask].task]
        let operation = task.planned.operation
        let wish: OperationMachine.Wish
        switch operation.kind {
        case .create(let body):
            wish = .create(plan.payments[task.payment].requests[body])
            if replicas[replica].site == activeSite { unheard.remove(task.payment) }
        case .cancel: wish = .operate(.cancel(reason: nil), on: operation.payment)
        case .capture(let amounts):
            wish = .operate(.capture(amounts: byLeg(amounts, task.payment)), on: operation.payment)
        case .refund(let amounts):
            wish = .operate(.refund(amounts: byLeg(amounts, task.payment), reason: nil), on: operation.payment)
        }
        asks[ask].machine = OperationMachine(
            wish, caller: operation.caller, key: operation.key, fingerprint: task.planned.fingerprint,
            wait: task.planned.wait, rules: rules)
        asks[ask].incarnation = replicas[replica].incarnation
        replicas[replica].waiting.append((task.payment, ask))
        let standing = standing(replica)
        // As `SiteOperations` does.
        guard standing.refusal == nil, !standing.isDraining else { return finish(ask, .failure(refusal(standing))) }
        let isKnown = replicas[replica].engine?.isKnownOrRefused(operation.payment, standing) ?? true
        go(
            on: ask,
            .began(
                isLookedUpFirst: isKnown && !does(.duplicateCreateAccepted),
                asksCallers: replicas[replica].engine?.asksCallers ?? false))
    }

    private func byLeg(_ amounts: [Int]?, _ payment: Int) -> [Int: Money]? {
        guard let amounts, let request = plan.payments[payment].requests.first else { return nil }
        var asked: [Int: Money] = [:]
        for (leg, value) in amounts.enumerated() where value > 0 && request.legs.indices.contains(leg) {
            do { asked[leg] = try Money(Int64(value), request.legs[leg].amount.currency) } catch { continue }
        }
        return asked
    }

    /// Tells the machine of a request what came of its step, and carries out the next.
    mutating func go(on ask: Int, _ input: OperationMachine.Input) {
        let replica = asks[ask].replica
        guard asks[ask].isOpen, carriesOn(replica, asks[ask].incarnation) else { return }
        let own = clock(replica)
        guard let step = asks[ask].machine?.handle(input, at: own) else { return }
        let site = replicas[replica].site
        switch step {
        case .readPayment(let id):
            let isReached = reachesStore(replica)
            go(on: ask, isReached ? .payment(sites[site].store.payment(id)) : .failed(World.unreachable))
        case .readRecord(let caller, let key):
            let isReached = reachesStore(replica)
            go(on: ask, isReached ? .record(sites[site].store.record(caller, key)) : .failed(World.unreachable))
        case .create(let request, let record):
            if does(.acknowledgedBeforeDurable) { answer(ask, .accepted(.processing)) }
            tell(replica, .create(ticket: ask, request, record))
        case .submit(let operation, let record):
            tell(replica, .submit(OperationRunner.Request(ticket: ask, operation: operation, record: record)))
        case .askNow(let id): tell(replica, .askNow(ticket: ask, id))
        case .tellRepeated(let payment): tell(replica, .repeated(ticket: ask, payment))
        case .wait(let moment): push(.follow(ask: ask), after: (moment - own).milliseconds)
        case .askWhetherInWork(let id): go(on: ask, .isInWork(replicas[replica].engine?.isInWork(id) ?? false))
        case .finish(let result): finish(ask, result)
        }
    }

    /// A replica's engine answers whoever has this ticket.
    mutating func engineAnswered(_ replica: Int, _ ticket: Int, _ answer: EngineAnswer) {
        if ticket >= 0 {
            go(on: ticket, .engine(answer))
        } else {
            replicas[replica].settlements[ticket] = answer
        }
    }

    /// News of a payment for whoever waits in this process.
    mutating func announce(_ replica: Int, _ payment: Payment, _ kept: StoredAnswer?) {
        guard let paymentIndex = paymentIndices[payment.id] else { return }
        for entry in replicas[replica].waiting where entry.payment == paymentIndex {
            go(on: entry.ask, .changed(payment, kept: kept))
        }
    }
}
