internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// The changes. Each first finds the intent that it is about, then sends one request that moves money.
extension StripeProvider {
    // MARK: Charge

    func charge(_ change: StripeChange) async -> AttemptReport {
        let intent: String
        switch await register(change) {
        case .failure(let unknown): return unknown.report
        case .success(let id): intent = id
        }
        let key = change.order.key.text
        let confirm = ConfirmIntent(intent: intent, key: key, returnURL: change.order.returnURL)
        var report = await settle(change, await exchange(confirm, change), intent) { known in
            switch known.status {
            case .requiresCapture, .succeeded, .processing: .stands
            case .requiresAction: .stands
            case .requiresPaymentMethod: .declined(reason: known.latestCharge?.failureCode)
            case .canceled: .ruledOut
            case .requiresConfirmation: .tooEarly
            }
        }
        // Before its payer acts, nothing but its name finds it.
        report.reference = intent
        return report
    }

    /// The identifier of the registration of an order, which is made if there is none.
    ///
    /// It takes no money. So whatever goes wrong here, nothing of the order was sent.
    ///
    /// Where Stripe stored an error, and replays it, another registration takes its place. Whoever asks while the keys
    /// live comes to the same one, so that a cancel meets what a late confirm is about.
    private func register(_ change: StripeChange) async -> Result<String, Unknown> {
        let capturesLater = (change.order.phases ?? contract.phases) == .authorizeCapture
        var request = RegisterIntent(
            order: change.order, units: change.units,
            capturesLater: change.order.kind == .sale ? false : capturesLater, store: store)
        var result = await exchange(request, change)
        while case .success(let reply) = result, reply.isReplay, reply.status >= 500,
            request.number < RegisterIntent.most
        {
            request.number += 1
            result = await exchange(request, change)
        }
        switch result {
        case .failure(let failure): return .failure(Unknown(code: failure.auditCode))
        case .success(let reply):
            if let intent = reply.read(StripeIntent.init) {
                // A stray answer must not become the intent that is confirmed.
                guard intent.transferGroup == change.order.transactionKey.text else {
                    return .failure(Unknown(code: "answer_mismatch"))
                }
                return .success(intent.id)
            }
            let report = StripeAnswers.report(of: reply, at: clock.now())
            // What is refused now is refused for ever: an unknown card, or another amount under the key.
            let isFinal = report.outcome == .refused && report.namesKey || report.outcome == .throttled
            if report.keyConflicts { return .failure(Unknown(code: report.code, outcome: .indeterminate)) }
            return .failure(
                Unknown(
                    code: report.code, retryAfter: report.retryAfter, outcome: isFinal ? report.outcome : .unsent,
                    credentialsRefused: report.credentialsRefused,
                    isRuledOut: isFinal && StripeAnswers.refusesContents(reply)))
        }
    }

    // MARK: Capture, cancel

    func capture(_ change: StripeChange) async -> AttemptReport {
        await withTransaction(change) { transaction in
            let intent = transaction.intent.id
            let key = change.order.key.text
            let request = CaptureIntent(
                intent: intent, key: key, attempt: change.order.number, units: change.units)
            return await settle(change, await exchange(request, change), intent) { known in
                switch known.status {
                // What another key captured is not ours.
                case .succeeded: known.metadata[StripeMetadata.capture] == key ? .stands : .ruledOut
                case .canceled: .ruledOut
                default: .tooEarly
                }
            }
        }
    }

    func cancel(_ change: StripeChange) async -> AttemptReport {
        let intent: String
        switch await find(change.order.transactionKey, intent: change.order.transactionReference) {
        case .unknown(let unknown): return unknown.report
        case .found(let transaction): intent = transaction.intent.id
        case .absent:
            // The registration is what a late confirm would be about: canceled, nothing can be charged by it.
            switch await register(change) {
            // Nothing is registered, and no copy of the request ever is: that is all that a cancel could reach.
            case .failure(let unknown) where unknown.isRuledOut:
                let nothing = Observation(
                    .tombstoned, began: change.began, source: .answer, key: change.order.transactionKey)
                return AttemptReport(.accepted, code: unknown.code, observation: nothing)
            case .failure(let unknown): return unknown.report
            case .success(let id): intent = id
            }
        }
        let request = CancelIntent(intent: intent, key: change.order.key.text, attempt: change.order.number)
        return await settle(change, await exchange(request, change), intent) { known in
            switch known.status {
            case .canceled: .stands
            case .succeeded: .ruledOut
            default: .tooEarly
            }
        }
    }

    /// What a reply about an intent means.
    private func settle(
        _ change: StripeChange, _ result: Result<StripeReply, TransportFailure>, _ intent: String,
        standing: (StripeIntent) -> Standing
    ) async -> AttemptReport {
        let reply: StripeReply
        switch result {
        case .failure(let failure): return OutcomeClassification.report(of: failure)
        case .success(let complete): reply = complete
        }
        var report: AttemptReport
        if reply.isReplay {
            // It proves that the first request was executed, and nothing of what became of it since.
            report = await settleByReading(change, intent, refusedFor: nil, standing: standing)
        } else if case .error(let error) = reply.content {
            report = await settle(change, reply, error, intent, standing: standing)
        } else if let known = reply.read(StripeIntent.init) {
            let isStanding = known.id == intent && standing(known) == .stands
            let observation = observation(of: StripeTransaction(known), change, began: change.began)
            report =
                isStanding
                ? AttemptReport(.accepted, code: observation.status.rawValue, observation: observation)
                : AttemptReport(.indeterminate, code: known.id == intent ? "effect_missing" : "answer_mismatch")
        } else {
            report = StripeAnswers.report(of: reply, at: clock.now())
        }
        report.bytesWritten = reply.bytesWritten
        return report
    }

    /// Errors that show the intent say why nothing was done; what is there in full, a read tells.
    private func settle(
        _ change: StripeChange, _ reply: StripeReply, _ error: StripeError, _ intent: String,
        standing: (StripeIntent) -> Standing
    ) async -> AttemptReport {
        let isOfState = error.code == "payment_intent_unexpected_state"
        guard isOfState || error.type == "card_error", let known = error.intent else {
            return StripeAnswers.report(of: reply, at: clock.now())
        }
        guard known.id == intent else { return AttemptReport(.indeterminate, code: "answer_mismatch") }
        guard !isOfState else {
            return await settleByReading(change, intent, refusedFor: known, standing: standing)
        }
        let code = ShortCode.of(error.declineCode ?? error.code) ?? "declined"
        var observation = observation(of: StripeTransaction(known), change, began: change.began)
        if change.order.kind == .capture {
            // The hold is left as it was.
            observation = declinedCapture(observation, change, code)
        } else {
            observation.reason = code
        }
        return AttemptReport(.declined, code: code, observation: observation)
    }

    /// Reads what stands of a change, where the answer to it does not tell.
    ///
    /// - Parameter refused: the intent as it was when Stripe refused the change for its state; `nil` if it did not.
    private func settleByReading(
        _ change: StripeChange, _ intent: String, refusedFor refused: StripeIntent?,
        standing: (StripeIntent) -> Standing
    ) async -> AttemptReport {
        let began = clock.now()
        let transaction: StripeTransaction
        switch await find(change.order.transactionKey, intent: intent) {
        case .found(let found): transaction = found
        case .absent:
            // No list shows what was canceled before anything was charged.
            guard let refused, refused.status == .canceled else {
                return AttemptReport(.indeterminate, code: "replayed")
            }
            transaction = StripeTransaction(refused)
        case .unknown(let unknown): return AttemptReport(.indeterminate, code: unknown.code)
        }
        let observation = observation(of: transaction, change, began: began)
        let shown = observation.status.rawValue
        switch standing(transaction.intent) {
        case .stands: return AttemptReport(.accepted, code: shown, observation: observation)
        case .declined:
            return AttemptReport(.declined, code: observation.reason ?? "declined", observation: observation)
        case .ruledOut: return AttemptReport(.refused, code: "conflict_\(shown)", observation: observation)
        case .tooEarly where refused != nil:
            return AttemptReport(.throttled, code: "conflict_\(shown)", observation: observation)
        case .tooEarly: return AttemptReport(.indeterminate, code: "replayed")
        }
    }

    private func declinedCapture(
        _ observation: Observation, _ change: StripeChange, _ code: String
    ) -> Observation {
        var observation = observation
        observation.captures = [
            Observation.Movement(key: change.order.key, amount: change.order.amount, state: .declined, reason: code)
        ]
        return observation
    }

    // MARK: Refund

    func refund(_ change: StripeChange) async -> AttemptReport {
        await withTransaction(change) { transaction in
            let request = CreateRefund(
                intent: transaction.intent.id, key: change.order.key.text, units: change.units)
            switch await exchange(request, change) {
            case .failure(let failure): return OutcomeClassification.report(of: failure)
            case .success(let reply): return await settleRefund(change, reply)
            }
        }
    }

    /// A refund is shown with its charge: that is read once more, so that what is learned is complete.
    private func settleRefund(_ change: StripeChange, _ reply: StripeReply) async -> AttemptReport {
        let key = change.order.key.text
        let made = reply.read(StripeRefund.init)
        if let made, made.metadata[StripeMetadata.key] != key {
            return AttemptReport(.indeterminate, code: "answer_mismatch", bytesWritten: reply.bytesWritten)
        }
        var report =
            made.map { Self.report(of: StripeReading.state($0.status), reason: ShortCode.of($0.failureReason)) }
            ?? StripeAnswers.report(of: reply, at: clock.now())
        report.bytesWritten = reply.bytesWritten
        // A stored error says nothing of what became of the refund since, as little as any stored answer.
        guard made != nil || reply.isReplay || report.outcome == .refused && !report.credentialsRefused else {
            return report
        }
        let observation = await observed(change)
        if let shown = observation?.refunds.first(where: { $0.key.text == key }) {
            report = Self.report(of: shown.state, reason: shown.reason)
            report.bytesWritten = reply.bytesWritten
        } else if let status = observation?.status, status == .voided || status == .expired {
            report.code = "conflict_\(status.rawValue)"
        }
        if report.outcome != .indeterminate { report.observation = observation }
        return report
    }

    private static func report(of state: Observation.Movement.State, reason: String?) -> AttemptReport {
        switch state {
        case .succeeded, .pending: AttemptReport(.accepted, code: state.rawValue)
        case .declined: AttemptReport(.declined, code: reason ?? "declined")
        }
    }

    private func observed(_ change: StripeChange) async -> Observation? {
        let began = clock.now()
        guard case .found(let transaction) = await find(change.order.transactionKey) else { return nil }
        return observation(of: transaction, change, began: began)
    }

    // MARK: What is there

    private func withTransaction(
        _ change: StripeChange, _ body: (StripeTransaction) async -> AttemptReport
    ) async -> AttemptReport {
        switch await find(change.order.transactionKey) {
        case .unknown(let unknown): return unknown.report
        case .absent:
            // Our own read shows nothing, so nothing was sent.
            return AttemptReport(
                .unsent, code: "not_found",
                observation: Observation(.notFound, began: change.began, source: .answer))
        case .found(let transaction): return await body(transaction)
        }
    }
}
