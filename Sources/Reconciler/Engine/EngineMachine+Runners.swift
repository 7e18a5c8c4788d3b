internal import PaymentCore

/// The table of runners: who gets a place in it, what it is fed, and what becomes of it.
extension EngineMachine {
    /// Hands an input to a payment's runner, if it is still the one that the input is for.
    ///
    /// - Parameter kept: The answer that is durable with what the input tells of.
    mutating func feed(
        _ id: PaymentID, _ token: LeaseToken, _ input: OperationRunner.Input, kept: StoredAnswer? = nil
    ) {
        let context = context()
        guard runners[id]?.lease == token, let outputs = runners[id]?.handle(input, context) else { return }
        carryOut(outputs, id, token, kept: kept)
    }

    /// Hands events and requests to the runner of a payment, and to its next one if that ends in between.
    mutating func feed(_ id: PaymentID, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]) {
        for (index, event) in events.enumerated() {
            guard let token = runners[id]?.lease else {
                return deliver(id, Delivery(events: Array(events[index...]), requests: requests))
            }
            feed(id, token, .event(event))
        }
        for (index, request) in requests.enumerated() {
            guard let token = runners[id]?.lease else {
                return deliver(id, Delivery(requests: Array(requests[index...])))
            }
            feed(id, token, .request(request))
        }
    }

    mutating func committed(
        _ id: PaymentID, _ token: LeaseToken, _ change: PaymentChange, _ result: Result<CommitResult, StoreFailure>
    ) {
        switch result {
        case .success(.committed(let version, let lease)):
            feed(id, token, .committed(.committed(version: version, lease: lease)), kept: change.answer)
        case .success(let refusal): feed(id, token, .committed(refusal))
        case .failure(let failure) where failure.code == .indeterminate && rules.breaks(.uncertainCommitForgotten):
            feed(id, token, .commitFailed(StoreFailure(.busy, operation: failure.operation, cause: failure.cause)))
        case .failure(let failure): feed(id, token, .commitFailed(failure))
        }
    }

    /// A store that fails for a moment is asked again; what cannot be read is left to the next holder.
    mutating func reloaded(
        _ id: PaymentID, _ token: LeaseToken, _ tries: Int, _ result: Result<Payment?, StoreFailure>
    ) {
        switch result {
        case .success(let payment?): feed(id, token, .reloaded(payment))
        case .failure(let failure) where failure.isPassing && tries < 4:
            let delay = settings.policy.resendSchedule.delay(tries, jitter: context().jitter)
            jobs.append(.reload(id, token, try: tries + 1, after: delay))
        case .success(nil), .failure: feed(id, token, .reloadFailed)
        }
    }

    private mutating func carryOut(
        _ outputs: [OperationRunner.Output], _ id: PaymentID, _ token: LeaseToken, kept: StoredAnswer? = nil
    ) {
        for output in outputs {
            switch output {
            case .commit(let change): jobs.append(.commit(id, token, answered(change), after: .zero))
            case .commitAgain(let change, let tries):
                guard !rules.breaks(.failedCommitForgotten) else { continue }
                let delay = settings.policy.resendSchedule.delay(min(tries, 3), jitter: context().jitter)
                jobs.append(.commit(id, token, answered(change), after: delay))
            case .perform(let action):
                jobs.append(.perform(id, token, action))
                if rules.breaks(.jobsDoneTwice) { jobs.append(.perform(id, token, action)) }
            case .reload: jobs.append(.reload(id, token, try: 0, after: .zero))
            case .answered(let ticket, let answer): self.answer(ticket, .answered(answer))
            case .changed(let payment):
                seen(payment)
                jobs.append(.announce(payment, kept: kept))
            case .finished(let release):
                end(id)
                if let token = release, !rules.breaks(.leaseNotReleased) { self.release(id, token) }
            case .abandoned(let reason):
                jobs.append(.note(.left(id, reason: reason)))
                for ticket in runners[id]?.unansweredTickets ?? [] { answer(ticket, .lost) }
                end(id)
            }
        }
    }

    mutating func release(_ id: PaymentID, _ token: LeaseToken) {
        releases += 1
        jobs.append(.release(id, token))
    }

    private mutating func end(_ id: PaymentID) {
        guard var runner = runners.removeValue(forKey: id) else { return }
        let isPlaceWanted = sweep.finished(id)
        var left = runner.takeLeftovers()
        left.requests.removeAll { !tickets.contains($0.ticket) }
        if rules.breaks(.leftoverRequestsDropped) { left.requests = [] }
        if rules.breaks(.leftoverEventsDropped) { left.events = [] }
        if !left.events.isEmpty || !left.requests.isEmpty {
            deliver(id, Delivery(events: left.events, requests: left.requests))
        }
        guard !isDraining else { return }
        if isPlaceWanted { lookForDue() }
        claimWaiting()
        if let due = runner.payment.dueAt, due < moment.now + settings.sweep.longestPause { arm(at: due) }
    }

    /// The change with the answer to the create, if it ends a payment that could not have been answered before: one
    /// that is captured by itself is settled by its end alone.
    private func answered(_ change: PaymentChange) -> PaymentChange {
        guard change.payment.conclusion != nil, change.payment.captureMode == .automatic,
            let before = runners[change.payment.id]?.payment, before.conclusion == nil
        else { return change }
        var change = change
        change.answer = settings.endAnswer(change.payment)
        return change
    }

    // MARK: Admission

    /// Puts a claimed payment to work, with what is waiting for it.
    ///
    /// - Parameter isDue: The store found it due.
    mutating func begin(
        _ claimed: ClaimedPayment, _ events: [PaymentEvent] = [], _ requests: [OperationRunner.Request] = [],
        isDue: Bool = false
    ) {
        let id = claimed.payment.id
        seen(claimed.payment)
        guard admit(id, claimed.token) else {
            // A newer claim of this process came first; its runner takes what this one was to do.
            return feed(id, events, requests)
        }
        let missing = claimed.payment.missingProviders(settings.contracts)
        if !missing.isEmpty { jobs.append(.note(.missingProviders(id, missing))) }
        put(OperationRunner(machine: PaymentMachine(payment: claimed.payment), token: claimed.token), id)
        let window = rules.breaks(.windowForgotten) ? nil : recovery
        let first = rules.breaks(.takeoverForgotten) ? [] : [window.claim(of: claimed.payment)]
        var context = context()
        if isDue, let due = claimed.payment.dueAt, !rules.breaks(.storeClockIgnored) {
            // The store found it due by its clock, which counts. By a clock that is behind it nothing would be done,
            // and the payment be found due again at once.
            context.now = max(context.now, due)
        }
        let outputs = runners[id]?.begin(with: first + events, requests: requests, context) ?? []
        carryOut(outputs, id, claimed.token)
    }

    /// Puts a payment that was just created to work; its first intents are durable.
    mutating func begin(_ machine: PaymentMachine, _ token: LeaseToken, _ actions: [PaymentAction]) {
        let id = machine.payment.id
        seen(machine.payment)
        jobs.append(.announce(machine.payment, kept: nil))
        // If it was claimed in between, its intents count as in doubt, and nothing is sent for them here.
        guard admit(id, token) else { return }
        put(OperationRunner(machine: machine, token: token), id)
        for action in actions { jobs.append(.perform(id, token, action)) }
        if machine.busy.isEmpty { feed(id, token, .event(.woke)) }
    }

    private mutating func put(_ runner: OperationRunner, _ id: PaymentID) {
        runners[id] = runner
        renewLater()
    }

    /// Whether a runner under this lease may take the payment's place; an older one leaves it.
    private mutating func admit(_ id: PaymentID, _ token: LeaseToken) -> Bool {
        guard let present = runners[id] else { return true }
        guard present.lease < token, !rules.breaks(.newerClaimIgnored) else { return false }
        for ticket in present.unansweredTickets { answer(ticket, .lost) }
        runners.removeValue(forKey: id)
        return true
    }
}
