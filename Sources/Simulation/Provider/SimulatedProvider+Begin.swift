internal import PaymentCore

extension SimulatedProvider {
    /// A hold or a sale.
    mutating func begin(
        _ order: SendOrder, _ index: Int?, at now: Timestamp, began: Timestamp, _ choices: ProviderChoices
    ) -> Execution {
        if contract.enforcesNotAfter, let limit = order.notAfter, now > limit {
            return Execution(doubt("not_after_passed"))
        }
        if let index, let answer = replayed(order, index, at: now, began: began) { return answer }
        var transaction = SimulatedTransaction(
            order, at: now, status: order.kind == .sale ? .captured : .authorized)
        if order.kind == .authorize, let life = contract.authorizationLife {
            transaction.authorizedUntil = now + life
        }
        var effective = ProviderChoices.none
        if choices.declines {
            effective.declines = true
            transaction.change(at: now, lag: .zero) {
                $0.status = .declined
                $0.reason = "card_declined"
            }
        } else if choices.pendingFor > .zero {
            effective.pendingFor = choices.pendingFor
            effective.ending = choices.ending
            transaction.undecidedUntil = now + choices.pendingFor
            transaction.ending = choices.ending
            effective.asksPayer = choices.asksPayer
            transaction.asksPayer = choices.asksPayer
            transaction.change(at: now, lag: .zero) { $0.status = .pending }
        }
        if choices.contradicts, transaction.status != .declined {
            effective.contradicts = true
            transaction.contradicts = true
        }
        let answer = report(
            transaction.status == .declined ? .declined : .accepted,
            transaction.status == .declined ? "card_declined" : transaction.status.rawValue, transaction,
            began)
        transaction.firstAnswer = answer
        enter(transaction)
        return Execution(answer, changed: transaction.status != .declined, effective: effective)
    }

    /// What a key that is known is answered; `nil` if it is executed anew.
    private func replayed(_ order: SendOrder, _ index: Int, at now: Timestamp, began: Timestamp) -> Execution? {
        let known = transactions[index]
        if known.status == .tombstoned {
            return Execution(report(.refused, "tombstoned", known, began))
        }
        if isForgotten(known.firstUse, now) { return nil }
        if known.status == .declined, !contract.declinesBound { return nil }
        guard known.amount == order.amount else { return Execution(doubt("key_conflict")) }
        if replaysFirst, var first = known.firstAnswer {
            first.observation?.began = began
            first.code = "replayed"
            return Execution(first)
        }
        return Execution(report(known.status == .declined ? .declined : .accepted, "replayed", known, began))
    }

    /// Anything may have happened.
    func doubt(_ code: String) -> AttemptReport {
        AttemptReport(.indeterminate, code: code, bytesWritten: 400)
    }

    /// An answer that shows a transaction.
    func report(
        _ outcome: OutcomeClass, _ code: String, _ transaction: SimulatedTransaction, _ began: Timestamp
    ) -> AttemptReport {
        AttemptReport(
            outcome, code: code, observation: shown(transaction, began: began, source: .answer),
            bytesWritten: 400)
    }

    /// An answer that says that there is no such transaction.
    func unknown(_ began: Timestamp) -> Execution {
        Execution(
            AttemptReport(
                .refused, code: "http_404",
                observation: Observation(.notFound, began: began, source: .answer),
                bytesWritten: 400))
    }
}
