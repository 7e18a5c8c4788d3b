internal import Logging
internal import PaymentCore

extension SettlementEngine {
    /// Executes a job, and tells the machine what came of it.
    func execute(_ job: EngineJob) async {
        switch job {
        case .commit(let id, let token, let change, let delay):
            if delay > .zero { await pause(for: delay) }
            let result = await stored("a change is not durable yet", id) { () async throws(StoreFailure) in
                try await store.commit(change)
            }
            take(.committed(id, token, change, result))
        case .reload(let id, let token, let tries, let delay):
            if delay > .zero { await pause(for: delay) }
            take(.reloaded(id, token, try: tries, await read(id)))
        case .release(let id, let token):
            // One that cannot be released runs out by itself; the payment is taken up then.
            _ = await stored("a lease could not be released", id) { () async throws(StoreFailure) in
                try await store.release(id, token: token)
            }
            take(.released)
        case .claim(let id, let holder, let lease):
            let result = await stored("a payment could not be claimed", id) { () async throws(StoreFailure) in
                try await store.claim(id, holder: holder, leaseFor: lease)
            }
            take(.claimed(id, result))
        case .insert(let ticket, let change, let delay):
            if delay > .zero { await pause(for: delay) }
            let id = change.payment.id
            let result = await stored("a new payment is not durable yet", id) { () async throws(StoreFailure) in
                try await store.commit(change)
            }
            take(.inserted(ticket: ticket, result))
        case .lookUp(let ticket, let caller, let key):
            let result = await stored("a key could not be read", nil) { () async throws(StoreFailure) in
                try await store.idempotencyRecord(caller: caller, key: key)
            }
            take(.lookedUp(ticket: ticket, result))
        case .readOccupant(let ticket, let id): take(.occupant(ticket: ticket, await read(id)))
        case .readToWrite(let number, let id): take(.readToWrite(number, await read(id)))
        case .write(let number, let change):
            let id = change.payment.id
            let result = await stored("a request could not be delivered", id) { () async throws(StoreFailure) in
                try await store.commit(change)
            }
            take(.wrote(number, result))
        case .perform(let id, let token, let action):
            await ProviderTurn.$current.withValue(turn(of: id, action)) { await perform(id, token, action) }
        case .claimDue, .claimWaiting, .askNextDue, .readResting, .renew, .askStandby, .wake, .renewLater:
            await performTimedJob(job)
        case .answer, .announce, .note: break  // Done where they come out of the machine.
        }
    }

    /// What goes by the clock.
    private func performTimedJob(_ job: EngineJob) async {
        switch job {
        case .claimDue(let request):
            let result = await stored("due payments could not be claimed", nil) { () async throws(StoreFailure) in
                try await store.claimDue(request)
            }
            take(.claimedDue(request, result))
        case .claimWaiting(let request):
            let result = await stored("what waits could not be claimed", nil) { () async throws(StoreFailure) in
                try await store.claimWaiting(request)
            }
            take(.claimedWaiting(request, result))
        case .askNextDue(let scope):
            let result = await stored("the next due time could not be read", nil) { () async throws(StoreFailure) in
                try await store.nextDue(in: scope)
            }
            take(.nextDue(result))
        case .readResting(let cursor, let limit, let delay):
            if delay > .zero { await pause(for: delay) }
            var query = PaymentQuery(limit: limit)
            query.state = .authorized
            query.after = cursor
            let wanted = query
            let result = await stored("what rests could not be read", nil) { () async throws(StoreFailure) in
                try await store.payments(wanted)
            }
            take(.resting(after: cursor, result))
        case .renew(let leases, let span):
            let result = await stored("leases could not be renewed", nil) { () async throws(StoreFailure) in
                try await store.renew(leases, leaseFor: span)
            }
            take(.renewed(leases, result))
        case .askStandby(let span):
            await pause(for: span)
            let result = await stored("the standby could not be asked", nil) { () async throws(StoreFailure) in
                try await store.standbyReading(settings.standby)
            }
            take(.standby(result))
        case .wake(let moment):
            do {
                try await clock.sleep(until: moment)
            } catch { return }
            take(.woke(moment))
        case .renewLater(let span):
            if await pause(for: span) { take(.renewalIsDue) }
        default: break
        }
    }

    private func read(_ id: PaymentID) async -> Result<Payment?, StoreFailure> {
        await stored("a payment could not be read", id) { () async throws(StoreFailure) in
            try await store.payment(id)
        }
    }

    private func stored<Value: Sendable>(
        _ complaint: Logger.Message, _ id: PaymentID?, _ body: () async throws(StoreFailure) -> Value
    ) async -> Result<Value, StoreFailure> {
        do throws(StoreFailure) {
            return .success(try await body())
        } catch {
            telemetry.storeFailed(error)
            var metadata: Logger.Metadata = ["error": "\(error)"]
            if let id { metadata["payment"] = "\(id)" }
            logger.warning(complaint, metadata: metadata)
            return .failure(error)
        }
    }

    // MARK: Providers and people

    private func turn(of id: PaymentID, _ action: PaymentAction) -> ProviderTurn? {
        guard let caller = machine.runner(of: id)?.payment.caller else { return nil }
        guard case .send(let order) = action else { return ProviderTurn(caller: caller, begins: false) }
        return ProviderTurn(caller: caller, begins: order.effect == .primary)
    }

    private func perform(_ id: PaymentID, _ token: LeaseToken, _ action: PaymentAction) async {
        switch action {
        case .send(let order):
            let report = await send(order)
            telemetry.attempted(order, report)
            let event = PaymentEvent.attempted(leg: order.leg, effect: order.effect, number: order.number, report)
            take(.learned(id, token, event))
        case .inquire(let order):
            let observation = await inquire(order)
            telemetry.inquired(order, observation)
            take(.learned(id, token, .inquired(leg: order.leg, observation)))
        case .alert(let alert):
            telemetry.alerted(alert)
            var words: Logger.Metadata = [
                "payment": "\(alert.payment)", "provider": "\(alert.provider)", "what": "\(alert.message)",
            ]
            words["leg"] = alert.leg.map { "\($0)" }
            logger.error("a payment needs attention", metadata: words)
        }
    }

    /// Sends, if this process may do so still, and not a byte after that ends.
    private func send(_ order: SendOrder) async -> AttemptReport {
        guard let provider = providers[order.provider] else {
            return AttemptReport(.unsent, code: "provider_not_configured")
        }
        guard let order = machine.permitted(order, within: settings.gate.settlesFor, now: clock.now()) else {
            return AttemptReport(.unsent, code: "site_not_active")
        }
        return await provider.send(order)
    }

    private func inquire(_ order: InquiryOrder) async -> Observation {
        let reason: String
        if let provider = providers[order.provider] {
            if settings.gate.settlesFor != nil { return await provider.inquire(order) }
            reason = "site_not_active"
        } else {
            reason = "provider_not_configured"
        }
        return Observation(.unavailable, began: clock.now(), source: .inquiry, reason: reason)
    }

    /// Seals the audit trails' heads now and then.
    func sealPeriodically() async {
        while await pause(for: settings.sealEvery) {
            guard settings.gate.standing.maySettle else { continue }
            let sealed = await stored("the audit trails could not be sealed", nil) { () async throws(StoreFailure) in
                try await store.seal()
            }
            if case .success(let seal?) = sealed {
                logger.debug("sealed", metadata: ["seal": "\(seal.number)", "heads": "\(seal.heads)"])
            }
        }
    }

    /// `false` once the engine stops.
    @discardableResult
    private func pause(for span: Span) async -> Bool {
        do {
            try await clock.sleep(until: clock.now() + span)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
