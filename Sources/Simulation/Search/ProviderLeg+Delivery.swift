internal import PaymentCore

/// What happens when a request arrives, and what its answer would say.
struct Delivery {
    /// The leg afterwards.
    var leg: ProviderLeg
    /// The class of the answer.
    var outcome: OutcomeClass
    /// In words.
    var words: String

    init(_ leg: ProviderLeg, _ outcome: OutcomeClass, _ words: String) {
        self.leg = leg
        self.outcome = outcome
        self.words = words
    }
}

extension SearchWorld {
    /// Everything that a provider may do with a request. The first is what it does when nothing goes wrong.
    func deliveries(_ slot: ProviderLeg.Slot, leg index: Int, to leg: ProviderLeg) -> [Delivery] {
        switch slot {
        case .primary: primary(leg, index)
        case .capture: capture(leg, index)
        case .void: void(leg, index)
        case .compensation: refund(leg, index, nil)
        case .firstRefund: refund(leg, index, 0)
        case .secondRefund: refund(leg, index, 1)
        }
    }

    private func changed(_ leg: ProviderLeg, _ change: (inout ProviderLeg) -> Void) -> ProviderLeg {
        var next = leg
        change(&next)
        guard legMayLag, next.shown != leg.shown else { return next }
        next.isRecent = true
        if leg.status == .absent { next.isNew = true }
        return next
    }

    /// Whether reads can be stale at all in this search.
    var legMayLag: Bool { legContracts.contains { $0.visibilityLag > .zero } }

    private func primary(_ leg: ProviderLeg, _ index: Int) -> [Delivery] {
        let contract = legContracts[index]
        let isSale = contract.phases == .sale
        let isNew =
            leg.status == .absent || (leg.status == .declined && !contract.declinesBound)
            || leg.keyForgotten && leg.status != .tombstoned
        guard isNew || has(.keysNotHonoured) else {
            switch leg.status {
            case .declined: return [Delivery(leg, .declined, "declined again")]
            case .tombstoned: return [Delivery(leg, .refused, "refused: tombstoned")]
            default: return [Delivery(leg, .accepted, "replayed the answer")]
            }
        }
        let isLive = leg.status == .held || leg.status == .pending || net(leg, index) > 0
        let done = changed(leg) {
            let chargedTwice = $0.chargedTwice || isLive
            $0 = ProviderLeg()
            $0.chargedTwice = chargedTwice
            $0.status = scenario.mayBePending ? .pending : isSale ? .taken : .held
        }
        var deliveries = [Delivery(done, .accepted, isSale ? "SOLD" : "AUTHORIZED")]
        if scenario.refusals.contains(.primary), leg.status != .declined, !isLive {
            let declined = changed(leg) { $0.status = .declined }
            deliveries.append(Delivery(declined, .declined, "declined"))
        }
        return deliveries
    }

    private func capture(_ leg: ProviderLeg, _ index: Int) -> [Delivery] {
        if leg.status == .taken { return [Delivery(leg, .accepted, "replayed the capture")] }
        guard leg.status == .held else { return [Delivery(leg, .refused, "refused: nothing is held")] }
        if leg.captureDeclined, legContracts[index].declinesBound {
            return [Delivery(leg, .declined, "declined the capture again")]
        }
        let taken = changed(leg) {
            $0.status = .taken
            $0.captureDeclined = false
        }
        var deliveries = [Delivery(taken, .accepted, "CAPTURED")]
        if scenario.refusals.contains(.capture), !leg.captureDeclined {
            let declined = changed(leg) { $0.captureDeclined = true }
            deliveries.append(Delivery(declined, .declined, "declined the capture"))
        }
        return deliveries
    }

    private func void(_ leg: ProviderLeg, _ index: Int) -> [Delivery] {
        let contract = legContracts[index]
        if leg.keyForgotten, leg.statusForgotten, leg.status != .tombstoned {
            // A forgotten key is new to the provider.
            guard contract.cancel == .tombstoning else { return [Delivery(leg, .refused, "refused: unknown")] }
            return [Delivery(tombstoned(leg, index), .accepted, "tombstoned the forgotten key")]
        }
        switch leg.status {
        case .held, .pending:
            let voided = changed(leg) {
                $0.status = .voided
                $0.captureDeclined = false
            }
            var deliveries = [Delivery(voided, .accepted, "voided")]
            if scenario.refusals.contains(.void) { deliveries.append(Delivery(leg, .declined, "declined the void")) }
            return deliveries
        case .absent:
            guard contract.cancel == .tombstoning else { return [Delivery(leg, .refused, "refused: unknown")] }
            return [Delivery(changed(leg) { $0.status = .tombstoned }, .accepted, "tombstoned")]
        case .declined:
            guard contract.cancel == .tombstoning, !contract.declinesBound else {
                return [Delivery(leg, .accepted, "nothing to void")]
            }
            return [Delivery(changed(leg) { $0.status = .tombstoned }, .accepted, "tombstoned")]
        case .taken:
            let refused = Delivery(leg, .refused, "refused: captured")
            guard contract.phases == .sale, contract.cancelReversesSale, givenBack(leg, index) == 0 else {
                return [refused]
            }
            let reversed = Delivery(changed(leg) { $0.status = .voided }, .accepted, "REVERSED the sale")
            return contract.cancelDeadline == nil ? [reversed] : [reversed, refused]
        case .tombstoned, .voided, .expired:
            return [Delivery(leg, .accepted, "nothing to void")]
        }
    }

    private func tombstoned(_ leg: ProviderLeg, _ index: Int) -> ProviderLeg {
        let isLive = leg.status == .held || leg.status == .pending || net(leg, index) > 0
        return changed(leg) {
            $0 = ProviderLeg()
            $0.status = .tombstoned
            $0.keyForgotten = isLive
        }
    }

    private func refund(_ leg: ProviderLeg, _ index: Int, _ refundIndex: Int?) -> [Delivery] {
        let present = refundIndex.map { leg[refund: $0] } ?? leg.compensation
        let amount = refundIndex.map { scenario.refunds[$0] } ?? captured(index)
        if present == .done || present == .doneAndForgotten && net(leg, index) < amount {
            return [Delivery(leg, .accepted, "replayed the refund")]
        }
        if present == .doneAndForgotten {
            return [Delivery(changed(leg) { $0.chargedTwice = true }, .accepted, "REFUNDED \(amount) AGAIN")]
        }
        if present == .declined, legContracts[index].declinesBound {
            return [Delivery(leg, .declined, "declined the refund again")]
        }
        guard leg.status == .taken, net(leg, index) >= amount else {
            return [Delivery(leg, .refused, "refused: not so much was taken")]
        }
        func with(_ movement: ProviderLeg.Movement) -> ProviderLeg {
            changed(leg) {
                if let refundIndex { $0[refund: refundIndex] = movement } else { $0.compensation = movement }
            }
        }
        var deliveries = [Delivery(with(.done), .accepted, "REFUNDED \(amount)")]
        if scenario.refusals.contains(.refund), present == .none {
            deliveries.append(Delivery(with(.declined), .declined, "declined the refund"))
        }
        return deliveries
    }
}
