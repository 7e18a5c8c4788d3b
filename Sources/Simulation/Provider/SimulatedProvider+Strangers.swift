internal import PaymentCore

/// What others do in a provider's books that a comparison is to find.
extension SimulatedProvider {
    /// Enters a transaction that nobody here sent. It names a payment and a leg, or nobody.
    ///
    /// - Parameter store: the store that it names.
    mutating func enterStranger(
        _ key: EffectKey, naming payment: PaymentID, leg: Int, amount: Money, isForeign: Bool,
        store: StoreID? = SimulatedProvider.ours, at now: Timestamp
    ) {
        var transaction = SimulatedTransaction(
            stranger: key, kind: contract.phases == .sale ? .sale : .authorize, amount: amount, payment: payment,
            leg: leg, at: now)
        transaction.isForeign = isForeign
        transaction.store = store
        let index = transactions.count
        transactions.append(transaction)
        // It is no transaction of a leg of ours, whatever it names; under a key of ours it is not what is asked for.
        indicesByKey[key, default: []].insert(index, at: 0)
    }

    /// Whether somebody else made the transaction under a key.
    func isStranger(_ key: EffectKey) -> Bool { indicesByKey[key]?.last.map { transactions[$0].isStranger } ?? false }

    /// The transaction under a key, if it is decided and nobody touched it yet.
    private mutating func untouched(_ key: EffectKey, at now: Timestamp) -> Int? {
        guard let index = indicesByKey[key]?.last else { return nil }
        transactions[index].settle(at: now, lag: contract.visibilityLag)
        let known = transactions[index]
        let isFree = !known.isUndecided && !known.changedOutside && !known.contradicts && !known.isLost
        return isFree && known.status != .tombstoned ? index : nil
    }

    /// The provider shows another amount from now on.
    mutating func changeAmount(_ key: EffectKey, at now: Timestamp) -> Bool {
        guard let index = untouched(key, at: now), transactions[index].isLive else { return false }
        transactions[index].change(at: now, lag: contract.visibilityLag) { _ in }
        transactions[index].contradicts = true
        transactions[index].changedOutside = true
        return true
    }

    /// A refund of ours is taken out of the books.
    mutating func removeRefund(_ key: EffectKey, at now: Timestamp) -> Bool {
        guard let index = untouched(key, at: now),
            let refund = transactions[index].refunds.last(where: { $0.state == .succeeded })
        else { return false }
        transactions[index].change(at: now, lag: contract.visibilityLag) { visibleState in
            visibleState.refunds.removeAll { $0.key == refund.key }
        }
        transactions[index].removedOutside += refund.amount.value
        transactions[index].changedOutside = true
        return true
    }

    /// The provider forgets a transaction altogether.
    mutating func forget(_ key: EffectKey, at now: Timestamp) -> Bool {
        guard let index = untouched(key, at: now), transactions[index].isLive else { return false }
        let net = transactions[index].captured - transactions[index].refunded
        transactions[index].removedOutside -= net
        transactions[index].change(at: now, lag: contract.visibilityLag) { $0.status = .notFound }
        transactions[index].changedOutside = true
        goneAt[key] = now
        return true
    }

    /// The listing withholds a transaction for a time.
    mutating func hide(_ key: EffectKey, until moment: Timestamp, at now: Timestamp) -> Bool {
        guard let index = untouched(key, at: now), transactions[index].isLive else { return false }
        hiddenUntil[key] = moment
        return true
    }
}
