internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// The changes. Each sends one request that moves money, and believes what shows the payment.
extension PayPayProvider {
    func charge(_ change: PayPayChange) async -> AttemptReport {
        switch await exchange(CreatePayment(change, store: store), change) {
        case .failure(let failure): return OutcomeClassification.report(of: failure)
        case .success(let reply):
            if reply.isSuccess { return settle(change, reply) }
            let report = PayPayAnswers.report(of: reply, at: clock.now())
            // What was declined may be recorded; what was refused for what is in it is not.
            return report.outcome == .declined ? await settleByReading(change, report) : report
        }
    }

    func capture(_ change: PayPayChange) async -> AttemptReport {
        await withPayment(change) { payment in
            // Above the hold PayPay would ask the payer, and nobody here waits for the answer.
            guard change.amount.amount <= payment.amount.amount else {
                return AttemptReport(.refused, code: "amount_too_large")
            }
            switch await exchange(CapturePayment(change), change) {
            case .failure(let failure): return OutcomeClassification.report(of: failure)
            case .success(let reply):
                return reply.isSuccess ? settle(change, reply) : await settleError(change, reply)
            }
        }
    }

    /// A cancel is done when a read shows it. That it was accepted says only that it will be.
    func cancel(_ change: PayPayChange) async -> AttemptReport {
        let key = change.order.transactionKey
        switch await exchange(CancelPayment(merchantPaymentID: key.text), change) {
        case .failure(let failure): return OutcomeClassification.report(of: failure)
        case .success(let reply):
            guard reply.isSuccess else { return await settleError(change, reply) }
            let began = clock.now()
            var report = AttemptReport(.indeterminate, code: "cancel_accepted", bytesWritten: reply.bytesWritten)
            guard case .found(let payment) = await find(key) else { return report }
            let known = observation(of: payment, change, began: began)
            guard ObservedStanding(change.order, in: known) == .stands else { return report }
            report.outcome = .accepted
            report.code = known.status.rawValue
            report.observation = known
            return report
        }
    }

    func refund(_ change: PayPayChange) async -> AttemptReport {
        await withPayment(change) { payment in
            switch await exchange(CreatePayPayRefund(change, paymentID: payment.paymentID), change) {
            case .failure(let failure): return OutcomeClassification.report(of: failure)
            case .success(let reply):
                return reply.isSuccess
                    ? await settleRefund(change, reply, of: payment.paymentID) : await settleError(change, reply)
            }
        }
    }

    // MARK: Successes

    /// What a payment in an answer means.
    private func settle(_ change: PayPayChange, _ reply: PayPayReply) -> AttemptReport {
        func doubt(_ code: String) -> AttemptReport {
            AttemptReport(.indeterminate, code: code, bytesWritten: reply.bytesWritten)
        }
        guard let payment = reply.read(PayPayPayment.init) else { return doubt(reply.code) }
        guard payment.merchantPaymentID == change.order.transactionKey.text else { return doubt("answer_mismatch") }
        let known = observation(of: payment, change, began: change.began)
        var report = AttemptReport(of: change.order, showing: known)
        report.bytesWritten = reply.bytesWritten
        return report
    }

    /// A refund is shown with its payment: that is read once more, so that what is learned is complete.
    private func settleRefund(
        _ change: PayPayChange, _ reply: PayPayReply, of paymentID: String
    ) async -> AttemptReport {
        func doubt(_ code: String) -> AttemptReport {
            AttemptReport(.indeterminate, code: code, bytesWritten: reply.bytesWritten)
        }
        guard let made = reply.read(PayPayRefund.init) else { return doubt(reply.code) }
        guard made.merchantRefundID == change.order.key.text, (made.paymentID ?? paymentID) == paymentID else {
            return doubt("answer_mismatch")
        }
        guard let movement = reading(change.order.phases).movement(of: made) else { return doubt("amount_unreadable") }
        let began = clock.now()
        var shown = movement
        var known: Observation?
        if case .found(let payment) = await find(change.order.transactionKey) {
            var observation = observation(of: payment, change, began: began)
            if let listed = observation.refunds.first(where: { $0.key == change.order.key }) {
                shown = listed
            } else if observation.status == .captured {
                // The read may be older than the answer, which shows the refund.
                observation.refunds.append(movement)
            }
            known = observation
        }
        let isDeclined = shown.state == .declined
        return AttemptReport(
            isDeclined ? .declined : .accepted, code: isDeclined ? shown.reason ?? "declined" : shown.state.rawValue,
            observation: known, bytesWritten: reply.bytesWritten)
    }

    // MARK: Errors

    private func settleError(_ change: PayPayChange, _ reply: PayPayReply) async -> AttemptReport {
        let report = PayPayAnswers.report(of: reply, at: clock.now())
        let isSaid = report.outcome == .declined || report.outcome == .refused && !report.credentialsRefused
        return isSaid ? await settleByReading(change, report) : report
    }

    /// Reads what there is, where PayPay said that it did nothing: its errors do not name what they are about.
    private func settleByReading(_ change: PayPayChange, _ said: AttemptReport) async -> AttemptReport {
        let began = clock.now()
        switch await find(change.order.transactionKey) {
        case .unknown: return said
        case .absent:
            guard change.order.kind == .void else { return said }
            var report = said
            report.code = "not_found"
            report.observation = Observation(.notFound, began: began, source: .answer)
            return report
        case .found(let payment):
            return settle(change, said, by: observation(of: payment, change, began: began))
        }
    }

    private func settle(
        _ change: PayPayChange, _ said: AttemptReport, by known: Observation
    ) -> AttemptReport {
        var report = said.settled(change.order, by: known)
        // Neither borne out nor contradicted.
        guard ObservedStanding(change.order, in: known) == .open, report.outcome == said.outcome else { return report }
        if said.outcome == .declined {
            report.observation = declined(known, change, said.code)
        } else if change.order.kind == .refund, change.amount.amount > refundable(known, change),
            said.code == "invalid_params"
        {
            // Of all that may be wrong with a refund, this is what the payment shows.
            report.code = "amount_too_large"
        }
        return report
    }

    /// PayPay shows no capture that failed, and perhaps no refund.
    private func declined(_ known: Observation, _ change: PayPayChange, _ code: String) -> Observation {
        let movement = Observation.Movement(
            key: change.order.key, amount: change.order.amount, state: .declined, reason: code)
        var known = known
        if change.order.kind == .capture { known.captures.append(movement) } else { known.refunds.append(movement) }
        return known
    }

    /// What is left of a payment after its refunds.
    private func refundable(_ known: Observation, _ change: PayPayChange) -> Int64 {
        func sum(_ movements: [Observation.Movement]) -> Int64 {
            movements.reduce(0) { $1.state == .declined ? $0 : $0 + $1.amount.value }
        }
        let isSale = (change.order.phases ?? contract.phases) == .sale
        return (isSale ? known.amount?.value ?? 0 : sum(known.captures)) - sum(known.refunds)
    }

    // MARK: What is there

    private func withPayment(
        _ change: PayPayChange, _ body: (PayPayPayment) async -> AttemptReport
    ) async -> AttemptReport {
        switch await find(change.order.transactionKey) {
        case .unknown(let unknown): return unknown.report
        case .absent:
            // Our own read shows nothing, so nothing was sent.
            return AttemptReport(
                .unsent, code: "not_found",
                observation: Observation(.notFound, began: change.began, source: .answer))
        case .found(let payment): return await body(payment)
        }
    }
}
