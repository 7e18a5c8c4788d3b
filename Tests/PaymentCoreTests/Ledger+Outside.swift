import PaymentCore

/// What others do at a provider: at its console, at the bank, or the payer.
extension Ledger {
    /// A refund shows under a key, whatever was shown of it before.
    mutating func show(_ refund: Observation.Movement, of key: EffectKey) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        entries[index].refunds.removeAll { $0.key == refund.key }
        entries[index].refunds.append(refund)
    }

    /// Somebody captures all that is held at the provider's own console.
    mutating func captureOutside(_ key: EffectKey) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        entries[index].captures.append(
            Observation.Movement(
                key: EffectKey(reported: "console"), amount: entries[index].amount, state: .succeeded))
        entries[index].status = .captured
    }

    /// Somebody refunds at the provider's own console.
    mutating func refundOutside(_ key: EffectKey, _ amount: Money) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        entries[index].refunds.append(
            Observation.Movement(key: EffectKey(reported: "console"), amount: amount, state: .succeeded))
    }

    /// A payer does what was asked, or refuses; nothing is changed where nothing waits for that.
    mutating func payerActs(_ key: EffectKey, approves: Bool) {
        guard let index = entries.lastIndex(where: { $0.key == key && $0.awaitsPayer && $0.status == .pending })
        else { return }
        let done: Observation.Status = entries[index].kind == .sale ? .captured : .authorized
        entries[index].status = approves ? done : .declined
        entries[index].awaitsPayer = false
    }

    /// What its payer confirmed stays undecided for a while.
    mutating func hesitate(_ key: EffectKey, until moment: Timestamp) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        entries[index].status = .pending
        entries[index].pendingUntil = moment
    }

    /// A payer disputes a charge, or its dispute is decided; what is lost is given back.
    mutating func dispute(_ key: EffectKey, _ state: Dispute.State, id: String = "dp_1") {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        let known = entries[index].disputes.firstIndex { $0.id == id }
        let amount =
            known.map { entries[index].disputes[$0].amount }
            ?? Ledger.money(entries[index].net, like: entries[index].amount)
        let dispute = Dispute(id: id, amount: amount, state: state)
        if let known { entries[index].disputes[known] = dispute } else { entries[index].disputes.append(dispute) }
        if state == .lost { refundOutside(key, amount) }
    }

    /// Somebody changes a transaction at the provider's own console.
    mutating func changeOutside(_ key: EffectKey, to status: Observation.Status) {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return }
        entries[index].status = status
    }
}
