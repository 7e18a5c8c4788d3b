internal import PaymentCore

extension SimulatedProvider {
    /// Takes what is held.
    mutating func capture(
        _ order: SendOrder, _ index: Int?, at now: Timestamp, began: Timestamp, _ choices: ProviderChoices
    ) -> Execution {
        guard let index else { return unknown(began) }
        let known = transactions[index]
        if let answer = replayed(order, known.captures, known, at: now, began: began) { return answer }
        guard known.status != .pending, !known.captures.contains(where: { $0.state == .pending }) else {
            return tooEarly(known, began)
        }
        guard known.status == .authorized, order.amount.value > 0, order.amount.value <= known.amount.value
        else {
            return ruledOut(known, began)
        }
        let (movement, effective) = movement(order, at: now, choices)
        transactions[index].change(at: now, lag: contract.visibilityLag) {
            $0.captures.removeAll { $0.key == order.key && $0.state == .declined }
            $0.captures.append(movement)
            if movement.state == .succeeded { $0.status = .captured }
        }
        if movement.state == .succeeded { transactions[index].takenAt = now }
        return answered(movement, index, began, effective)
    }

    /// Gives back what was taken.
    mutating func refund(
        _ order: SendOrder, _ index: Int?, at now: Timestamp, began: Timestamp, _ choices: ProviderChoices
    ) -> Execution {
        guard let index else { return unknown(began) }
        let known = transactions[index]
        if let answer = replayed(order, known.refunds, known, at: now, began: began) { return answer }
        guard known.status != .pending else { return tooEarly(known, began) }
        guard !known.isDisputed else {
            transactions[index].undoDeclines += 1
            return ruledOut(known, began)
        }
        var left = known.captured
        for movement in known.refunds where movement.state != .declined { left -= movement.amount.value }
        guard known.status == .captured, order.amount.value > 0, order.amount.value <= left else {
            return ruledOut(known, began)
        }
        var allowed = choices
        // Where only sums are shown, a refund that is undecided could not be told from one that never came.
        if contract.refundVisibility == .sumsOnly { allowed.pendingFor = .zero }
        let (movement, effective) = movement(order, at: now, allowed)
        transactions[index].change(at: now, lag: contract.visibilityLag) {
            $0.refunds.removeAll { $0.key == order.key && $0.state == .declined }
            $0.refunds.append(movement)
        }
        if movement.state == .declined { transactions[index].undoDeclines += 1 }
        return answered(movement, index, began, effective)
    }

    /// Releases a hold, reverses a sale, or leaves a tombstone, as far as the contract goes.
    mutating func void(
        _ order: SendOrder, _ index: Int?, at now: Timestamp, began: Timestamp, _ choices: ProviderChoices
    ) -> Execution {
        guard let index else {
            guard contract.cancel == .tombstoning else { return unknown(began) }
            let tombstone = SimulatedTransaction(order, at: now, status: .tombstoned)
            enter(tombstone)
            return Execution(report(.accepted, "tombstoned", tombstone, began), changed: true)
        }
        let known = transactions[index]
        switch known.status {
        case .voided, .tombstoned, .expired:
            return Execution(report(.accepted, "replayed", known, began))
        case .pending where known.asksPayer:
            transactions[index].undecidedUntil = nil
            transactions[index].change(at: now, lag: contract.visibilityLag) { $0.status = .voided }
            return Execution(
                report(.accepted, SimulatedProvider.payerCanceled, transactions[index], began), changed: true)
        case .pending:
            return tooEarly(known, began)
        case .declined:
            guard !contract.declinesBound, contract.cancel == .tombstoning else {
                return Execution(report(.accepted, "declined", known, began))
            }
            return become(.tombstoned, index, at: now, began)
        case .authorized where known.captures.contains { $0.state == .pending }:
            return tooEarly(known, began)
        case .captured where !isReversible(known, at: now):
            return ruledOut(known, began)
        case .authorized, .captured:
            guard !choices.declines else {
                transactions[index].undoDeclines += 1
                return Execution(
                    report(.declined, "void_declined", known, began), effective: ProviderChoices(declines: true))
            }
            return become(.voided, index, at: now, began)
        case .notFound, .unavailable:
            return unknown(began)
        }
    }

    /// The code of a cancel that came before the payer acted.
    static let payerCanceled = "payer_canceled"

    private func isReversible(_ known: SimulatedTransaction, at now: Timestamp) -> Bool {
        guard contract.cancelReversesSale, known.kind == .sale, !known.isDisputed,
            known.refunds.allSatisfy({ $0.state == .declined })
        else { return false }
        guard let deadline = contract.cancelDeadline else { return true }
        return now - (known.takenAt ?? known.firstUse) <= deadline
    }

    private mutating func become(
        _ status: Observation.Status, _ index: Int, at now: Timestamp, _ began: Timestamp
    ) -> Execution {
        transactions[index].change(at: now, lag: contract.visibilityLag) { $0.status = status }
        return Execution(report(.accepted, status.rawValue, transactions[index], began), changed: true)
    }

    /// What the key of a capture or refund that is known is answered; `nil` if it is executed anew.
    private func replayed(
        _ order: SendOrder, _ movements: [SimulatedTransaction.Movement], _ known: SimulatedTransaction,
        at now: Timestamp, began: Timestamp
    ) -> Execution? {
        guard let last = movements.last(where: { $0.key == order.key }), !isForgotten(last.firstUse, now)
        else {
            return nil
        }
        if last.state == .declined, !contract.declinesBound { return nil }
        guard last.amount == order.amount else { return Execution(doubt("key_conflict")) }
        return Execution(report(last.state == .declined ? .declined : .accepted, "replayed", known, began))
    }

    private func movement(
        _ order: SendOrder, at now: Timestamp, _ choices: ProviderChoices
    ) -> (SimulatedTransaction.Movement, ProviderChoices) {
        var effective = ProviderChoices.none
        var state = Observation.Movement.State.succeeded
        if choices.declines {
            effective.declines = true
            state = .declined
        } else if choices.pendingFor > .zero {
            effective.pendingFor = choices.pendingFor
            state = .pending
        }
        let movement = SimulatedTransaction.Movement(
            key: order.key, amount: order.amount, firstUse: now, state: state,
            undecidedUntil: state == .pending ? now + choices.pendingFor : nil, isOutside: false)
        return (movement, effective)
    }

    private func answered(
        _ movement: SimulatedTransaction.Movement, _ index: Int, _ began: Timestamp, _ effective: ProviderChoices
    ) -> Execution {
        let declined = movement.state == .declined
        return Execution(
            report(
                declined ? .declined : .accepted, declined ? "declined" : transactions[index].status.rawValue,
                transactions[index], began),
            changed: !declined, effective: effective)
    }

    /// Nothing was done; once it is decided it may be.
    private func tooEarly(_ known: SimulatedTransaction, _ began: Timestamp) -> Execution {
        Execution(report(.throttled, "conflict_pending", known, began))
    }

    /// Nothing was done.
    private func ruledOut(_ known: SimulatedTransaction, _ began: Timestamp) -> Execution {
        Execution(report(.refused, "conflict_\(known.status.rawValue)", known, began))
    }
}
