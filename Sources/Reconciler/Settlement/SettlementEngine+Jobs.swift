internal import Logging
internal import PaymentCore

extension SettlementEngine {
    func execute(_ job: Job) async {
        switch job {
        case .commit(let id, let token, let change, let delay):
            if delay > .zero { await pause(for: delay) }
            await commit(id, token, change)
        case .perform(let id, let token, let action):
            await perform(id, token, action)
        case .reload(let id, let token):
            await reload(id, token)
        case .release(let id, let token):
            do {
                try await store.release(id, token: token)
            } catch {
                // The lease runs out by itself; the payment is taken up then.
                logger.warning("a lease could not be released", metadata: ["error": "\(error)"])
            }
        case .deliver(let id, let events, let requests):
            await deliver(id, events, requests)
        case .wake(let moment):
            do {
                try await clock.sleep(until: moment)
            } catch { return }
            timerFired(moment)
        }
    }

    /// Sees to it that the sweep looks again at `moment` or before. There is one timer that counts; later ones that
    /// were armed before it find that it is not theirs any more.
    func arm(at moment: Timestamp) {
        // One that has passed is about to fire, and is not to be put off.
        if let armed, armed <= moment { return }
        armed = moment
        jobSink.yield(.wake(at: moment))
    }

    private func timerFired(_ moment: Timestamp) {
        guard armed == moment else { return }
        armed = nil
        wakeSink.yield()
    }

    private func commit(_ id: PaymentID, _ token: LeaseToken, _ change: PaymentChange) async {
        do {
            let result = try await store.commit(change)
            if case .committed = result {
                feed(id, token, .committed(result), kept: change.answer)
            } else {
                feed(id, token, .committed(result))
            }
        } catch {
            telemetry.storeFailed(error)
            logger.warning("a change is not durable yet", metadata: ["payment": "\(id)", "error": "\(error)"])
            feed(id, token, .commitFailed(error))
        }
    }

    private func perform(_ id: PaymentID, _ token: LeaseToken, _ action: PaymentAction) async {
        switch action {
        case .send(let order):
            guard let provider = providers[order.provider] else {
                let report = AttemptReport(.unsent, code: "provider_not_configured")
                let event = PaymentEvent.attempted(
                    leg: order.leg, effect: order.effect, number: order.number, report)
                return feed(id, token, .event(event))
            }
            let report = await send(order, to: provider)
            telemetry.attempted(order, report)
            feed(
                id, token,
                .event(.attempted(leg: order.leg, effect: order.effect, number: order.number, report)))
        case .inquire(let order):
            guard let provider = providers[order.provider] else {
                let observation = Observation(
                    .unavailable, began: clock.now(), source: .inquiry, reason: "provider_not_configured")
                return feed(id, token, .event(.inquired(leg: order.leg, observation)))
            }
            let observation = await inquire(order, at: provider)
            telemetry.inquired(order, observation)
            feed(id, token, .event(.inquired(leg: order.leg, observation)))
        case .alert(let alert):
            telemetry.alerted(alert)
            var words: Logger.Metadata = [
                "payment": "\(alert.payment)", "provider": "\(alert.provider)", "what": "\(alert.message)",
            ]
            words["leg"] = alert.leg.map { "\($0)" }
            logger.error("a payment needs attention", metadata: words)
        }
    }

    private func reload(_ id: PaymentID, _ token: LeaseToken) async {
        for index in 0..<5 {
            do {
                guard let payment = try await store.payment(id) else { break }
                return feed(id, token, .reloaded(payment))
            } catch {
                telemetry.storeFailed(error)
                guard error.isPassing else { break }
                await pause(for: settings.policy.resendSchedule.delay(index, jitter: jitter.next()))
            }
        }
        feed(id, token, .reloadFailed)
    }

    /// Hands requests to the payment's runner, or writes them for whoever holds the payment; answers them in any case.
    private func deliver(
        _ id: PaymentID, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]
    ) async {
        do {
            if try await take(id, events, requests) { return }
            if !events.isEmpty { try await write(id, events, nil) }
            for request in requests {
                let answer = try await write(id, [], request)
                self.answer(request.ticket, answer.map { .answered($0) } ?? .lost)
            }
        } catch {
            telemetry.storeFailed(error)
            logger.warning("a request could not be delivered", metadata: ["payment": "\(id)", "error": "\(error)"])
            for request in requests { answer(request.ticket, .failed(error)) }
        }
    }

    /// Puts events and requests to a payment's runner, which is begun if no other holder has the payment.
    ///
    /// `false` if one has.
    func take(
        _ id: PaymentID, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]
    ) async throws(StoreFailure) -> Bool {
        while claims[id] != nil {
            await withCheckedContinuation { claims[id, default: []].append($0) }
        }
        if let runner = runners[id], !runner.hasEnded {
            feed(id, events, requests)
            return true
        }
        claims[id] = []
        defer { for waiting in claims.removeValue(forKey: id) ?? [] { waiting.resume() } }
        guard let claimed = try await store.claim(id, holder: settings.holder, leaseFor: settings.sweep.lease) else {
            return false
        }
        begin(claimed, events, requests)
        return true
    }

    /// Looks for what is due, again and again.
    func sweepUntilStopped() async {
        wakeSink.yield()
        for await _ in wakeUps {
            guard !isDraining, !Task.isCancelled else { return }
            // Who gets the right to act is told, and looks then.
            guard settings.gate.standing.maySettle else { continue }
            sweep.woke()
            await lookOnce()
        }
    }

    private func lookOnce() async {
        while !isDraining, settings.gate.standing.maySettle {
            switch sweep.next() {
            case .claim(let request):
                do {
                    let claimed = try await store.claimDue(request)
                    sweep.claimed(
                        claimed.map { ($0.payment.id, $0.payment.dueProvider) }, asked: request)
                    telemetry.swept(claimed.count)
                    for payment in claimed { begin(payment, isDue: true) }
                } catch {
                    telemetry.storeFailed(error)
                    logger.warning("due payments could not be claimed", metadata: ["error": "\(error)"])
                    sweep.claimFailed()
                }
            case .pause(let longest):
                return arm(at: await nextLook(longest))
            }
        }
    }

    private func nextLook(_ longest: Span) async -> Timestamp {
        let latest = clock.now() + longest
        do {
            guard let due = try await store.nextDue() else { return latest }
            // What is due already found no place; it is looked for again when one is free, or after the pause.
            return due <= clock.now() ? latest : min(latest, due)
        } catch {
            telemetry.storeFailed(error)
            return latest
        }
    }

    /// Prolongs the leases of everything in work, three times before they would end.
    func keepLeases() async {
        let every = Span(milliseconds: max(1, settings.sweep.lease.milliseconds / 3))
        while await pause(for: every) {
            let leases = runners.mapValues(\.lease)
            guard !leases.isEmpty, term != nil else { continue }
            do {
                let held = try await store.renew(leases, leaseFor: settings.sweep.lease)
                for (id, token) in leases where !held.contains(id) {
                    feed(id, token, .committed(.leaseLost))
                }
            } catch {
                telemetry.storeFailed(error)
                logger.warning("leases could not be renewed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Seals the audit trails' heads now and then.
    func sealNowAndThen() async {
        while await pause(for: settings.sealEvery) {
            guard settings.gate.standing.maySettle else { continue }
            do {
                if let seal = try await store.seal() {
                    logger.debug("sealed", metadata: ["seal": "\(seal.number)", "heads": "\(seal.heads)"])
                }
            } catch {
                telemetry.storeFailed(error)
                logger.warning("the audit trails could not be sealed", metadata: ["error": "\(error)"])
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
