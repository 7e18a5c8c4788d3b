public import PaymentCore

/// New payments: a caller's, and those that undo what no payment knows.
extension EngineMachine {
    /// A new payment on its way to the store.
    struct Insertion {
        enum Purpose {
            case create
            case undo(UnbookedTransaction)

            var word: String {
                switch self {
                case .create: "create"
                case .undo: "undo"
                }
            }
        }

        let machine: PaymentMachine
        let actions: [PaymentAction]
        let change: PaymentChange
        let record: IdempotencyRecord
        let purpose: Purpose
        var tries = 0
        /// Once a try may have been written, "nothing was done" is never said again.
        var isUncertain = false
        /// Of the last try.
        var failure: StoreFailure?

        /// What is said of all tries, if there is no other.
        func verdict(_ last: StoreFailure) -> StoreFailure {
            isUncertain ? StoreFailure(.indeterminate, operation: purpose.word, cause: last.cause) : last
        }
    }

    /// Whether a create under this payment's key need not be tried before the key is looked up: the payment is in work
    /// here, or nothing new is taken.
    public func isKnownOrRefused(_ id: PaymentID, _ standing: SiteStanding) -> Bool {
        isInWork(id) || isDraining || isFull || !standing.mayCreate
    }

    /// Whether rows were lost with what callers were told, so that payments wait until those ask again.
    public var asksCallers: Bool { recovery?.repetition == .awaited }

    private var isFull: Bool { runners.count + insertions.count >= settings.maximumActive }

    mutating func create(_ ticket: Int, _ request: CreateRequest, _ record: IdempotencyRecord) {
        tickets.insert(ticket)
        guard !isDraining || rules.breaks(.drainingIgnored) else {
            return answer(ticket, .notAccepting(reason: "shutting down"))
        }
        guard moment.standing.mayCreate else {
            return answer(ticket, .notAccepting(reason: EngineMachine.reason(moment.standing)))
        }
        guard !isFull else { return answer(ticket, .notAccepting(reason: "too many payments are in work")) }
        let window = rules.breaks(.windowForgotten) ? nil : recovery
        insert(ticket, PaymentMachine.create(request, context(), recovery: window), record, .create)
    }

    /// Settles a difference: by the payment that it is about, or by one that undoes what no payment knows.
    mutating func settle(_ ticket: Int, _ order: SettlementOrder) {
        tickets.insert(ticket)
        switch order.action {
        case .settle, .quarantine:
            guard let ours = order.finding.ours,
                let difference = ComparedDifference(order.finding, action: order.action, run: order.run)
            else { return answer(ticket, .told) }
            if rules.breaks(.foundRefundsForgotten), !difference.refunds.isEmpty { return answer(ticket, .told) }
            // Without a row there is nothing to settle: it was pruned since the run looked.
            deliver(ours.payment, Delivery(events: [.compared(difference)], ticket: ticket, mayBeGone: true))
        case .undo:
            // The policy does not order what cannot be undone.
            guard let transaction = UnbookedTransaction(order.finding, run: order.run) else {
                return answer(ticket, .told)
            }
            let created = PaymentMachine.undoing(transaction, context())
            let record = IdempotencyRecord(undoing: transaction, by: created.machine.payment, at: moment.now)
            insert(ticket, created, record, .undo(transaction))
        case .tell:
            guard let ours = order.finding.ours, !order.disputes.isEmpty, !rules.breaks(.disputesUntold) else {
                return answer(ticket, .told)
            }
            // No later run lists it again: it is told once it is durable, not once a runner has it.
            let event = PaymentEvent.disputed(leg: ours.leg, order.disputes)
            write(ours.payment, Delivery(events: [event], ticket: ticket, mayBeGone: true))
        }
    }

    private mutating func insert(
        _ ticket: Int, _ created: (machine: PaymentMachine, actions: [PaymentAction]), _ record: IdempotencyRecord,
        _ purpose: Insertion.Purpose
    ) {
        let change = PaymentChange(
            payment: created.machine.payment, entries: created.machine.newEntries,
            lease: .creating(holder: settings.holder, leaseFor: settings.sweep.lease), record: record)
        insertions[ticket] = Insertion(
            machine: created.machine, actions: created.actions, change: change, record: record, purpose: purpose)
        jobs.append(.insert(ticket: ticket, change, after: .zero))
    }

    mutating func inserted(_ ticket: Int, _ result: Result<CommitResult, StoreFailure>) {
        guard let insertion = insertions[ticket] else { return }
        switch result {
        case .success(.committed(let version, let lease?)):
            insertions.removeValue(forKey: ticket)
            var machine = insertion.machine
            machine.committed(version: version)
            begin(machine, lease, insertion.actions)
            if case .create = insertion.purpose {
                answer(ticket, .created(machine.payment))
            } else {
                answer(ticket, .told)
            }
        case .success(.duplicate(let known)): keySpent(ticket, known)
        case .success(.versionConflict): placeTaken(ticket, insertion)
        case .success(.leaseLost), .success(.committed(_, nil)):
            fail(ticket, StoreFailure(.other, operation: insertion.purpose.word, cause: "the store gave no lease"))
        case .failure(let failure): notInserted(ticket, failure)
        }
    }

    /// Tries again where that is safe. If it is not known whether the row was written, the row is looked for.
    private mutating func notInserted(_ ticket: Int, _ failure: StoreFailure) {
        guard var insertion = insertions[ticket] else { return }
        let isUncertain = failure.code == .indeterminate
        insertion.isUncertain =
            rules.breaks(.uncertainInsertForgotten) ? isUncertain : insertion.isUncertain || isUncertain
        insertion.failure = failure
        insertions[ticket] = insertion
        guard insertion.isUncertain else { return insertAgain(ticket, after: failure) }
        jobs.append(.lookUp(ticket: ticket, caller: insertion.record.caller, key: insertion.record.key))
    }

    mutating func lookedUp(_ ticket: Int, _ result: Result<IdempotencyRecord?, StoreFailure>) {
        guard let insertion = insertions[ticket], let failure = insertion.failure else { return }
        // Its intents are taken up by the sweep, as after a crash.
        if case .success(let written?) = result { return keySpent(ticket, written) }
        insertAgain(ticket, after: failure)
    }

    private mutating func insertAgain(_ ticket: Int, after failure: StoreFailure) {
        guard let insertion = insertions[ticket] else { return }
        let mayPass = [.busy, .serialization, .indeterminate].contains(failure.code)
        guard mayPass, insertion.tries < 2 else { return fail(ticket, insertion.verdict(failure)) }
        insertions[ticket]?.tries += 1
        let delay = Span(milliseconds: Int64(20 << insertion.tries) + Int64(context().jitter / 50))
        jobs.append(.insert(ticket: ticket, insertion.change, after: delay))
    }

    private mutating func keySpent(_ ticket: Int, _ known: IdempotencyRecord) {
        guard let insertion = insertions.removeValue(forKey: ticket) else { return }
        switch insertion.purpose {
        case .create: answer(ticket, .duplicate(known))
        case .undo(let transaction) where known.isPruned:
            alert(
                Alert(
                    payment: known.payment, leg: nil, provider: transaction.provider,
                    message: "what it undid stands at its provider again, and its own row is pruned"))
            answer(ticket, .told)
        // It is undone already; as a duplicate, where the payment that it names was in the books then.
        case .undo(let transaction):
            deliver(known.payment, Delivery(events: [.unbooked(transaction)], ticket: ticket))
        }
    }

    private mutating func placeTaken(_ ticket: Int, _ insertion: Insertion) {
        let id = insertion.machine.payment.id
        switch insertion.purpose {
        case .create: jobs.append(.readOccupant(ticket: ticket, id))
        // Another transaction of the same payment is undone, or its caller came again.
        case .undo(let transaction):
            insertions.removeValue(forKey: ticket)
            deliver(id, Delivery(events: [.unbooked(transaction)], ticket: ticket))
        }
    }

    mutating func occupied(_ ticket: Int, _ result: Result<Payment?, StoreFailure>) {
        guard let insertion = insertions.removeValue(forKey: ticket) else { return }
        switch result {
        case .success(let there?) where there.caller != insertion.record.caller: answer(ticket, .undone)
        case .success:
            let cause = "a new payment cannot conflict"
            answer(ticket, .failed(StoreFailure(.other, operation: insertion.purpose.word, cause: cause)))
        case .failure(let failure): answer(ticket, .failed(failure))
        }
    }

    private mutating func fail(_ ticket: Int, _ failure: StoreFailure) {
        insertions.removeValue(forKey: ticket)
        answer(ticket, .failed(failure))
    }
}
