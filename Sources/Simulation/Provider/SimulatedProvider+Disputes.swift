internal import PaymentCore

extension SimulatedProvider {
    /// A payer disputes a charge; `false` if there is none, nothing is left of it, or something of it is undecided.
    ///
    /// - Parameters:
    ///   - until: when it is decided.
    ///   - end: how it is decided: won or lost.
    mutating func openDispute(
        _ key: EffectKey, at now: Timestamp, until: Timestamp, as end: Dispute.State
    ) -> Bool {
        // Of several transactions under a key nobody can tell whose it is.
        guard let indices = indicesByKey[key], indices.count == 1, let index = indices.last else { return false }
        transactions[index].settle(at: now, lag: contract.visibilityLag)
        let known = transactions[index]
        let left = known.captured - known.refunded
        guard known.status == .captured, !known.isUndecided, !known.isDisputed, left > 0 else { return false }
        let number = known.disputes.count
        let dispute = Dispute(
            id: "dp_\(known.key.text.prefix(12))_\(number)", amount: money(left, like: known.amount), state: .open)
        transactions[index].disputeEnds = (until, end)
        transactions[index].change(at: now, lag: contract.visibilityLag) { $0.disputes.append(dispute) }
        return true
    }
}

extension SimulatedTransaction {
    /// The dispute that is open is decided. What is lost is given back to the payer.
    mutating func decideDispute(_ end: Dispute.State, at now: Timestamp, lag: Span) {
        disputeEnds = nil
        guard let place = disputes.firstIndex(where: { $0.state == .open }) else { return }
        let open = disputes[place]
        let isLost = end == .lost && captured - refunded >= open.amount.value
        change(at: now, lag: lag) {
            $0.disputes[place] = Dispute(id: open.id, amount: open.amount, state: isLost ? .lost : .won)
            guard isLost else { return }
            $0.refunds.append(
                Movement(
                    key: EffectKey(reported: "lost-\(open.id)"), amount: open.amount, firstUse: now,
                    state: .succeeded, undecidedUntil: nil, isOutside: true))
        }
        if isLost { changedOutside = true }
    }
}
