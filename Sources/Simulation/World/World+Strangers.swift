internal import MemoryStore
public import PaymentCore

/// What others do at the providers: differences that a comparison has to find.
extension World {
    /// Carries out a planted difference about a payment's leg; nothing if what is there does not allow it.
    mutating func plantDifference(_ kind: FaultKind, _ payment: Int, _ bits: UInt64) {
        switch kind {
        case .plantedOrphan: return plantOrphan("orphan", payment, store: SimulatedProvider.ours)
        case .plantedStoreless: return plantOrphan("storeless", payment, store: nil)
        case .plantedOtherStore where bits & 1 == 0:
            return plantOrphan("elsewhere", payment, store: SimulatedProvider.others)
        default: break
        }
        guard let known = sites[activeSite].store.rows[payment]?.payment, !known.isUndoing else { return }
        let leg = known.legs[Chance.below(known.legs.count, bits)]
        // Where nothing is listed nobody can find it.
        guard let provider = providerPlaces[leg.provider], plan.providers[provider].contract.listing else { return }
        let key = leg.primary.key
        switch kind {
        case .plantedDuplicate:
            guard providers[provider].transaction(key, at: time)?.isLive == true else { return }
            providers[provider].enterStranger(
                RunPlan.strangerKey("duplicate", known.id), naming: known.id, leg: leg.index, amount: leg.amount,
                isForeign: false, at: time)
        case .plantedTwice:
            guard let there = providers[provider].transaction(key, at: time), there.isLive, !there.isDisputed
            else { return }
            providers[provider].enterStranger(
                key, naming: known.id, leg: leg.index, amount: leg.amount, isForeign: false, at: time)
        case .plantedOtherStore:
            providers[provider].enterStranger(
                RunPlan.strangerKey("other store", known.id), naming: known.id, leg: leg.index, amount: leg.amount,
                isForeign: false, store: SimulatedProvider.others, at: time)
        case .plantedForeign:
            providers[provider].enterStranger(
                RunPlan.strangerKey("foreign", known.id), naming: known.id, leg: leg.index, amount: leg.amount,
                isForeign: true, at: time)
        case .amountChanged where known.conclusion != nil: _ = providers[provider].changeAmount(key, at: time)
        case .refundRemoved where known.conclusion != nil: _ = providers[provider].removeRefund(key, at: time)
        case .transactionForgotten where known.state == .succeeded:
            _ = providers[provider].forget(key, at: time)
        case .listingHides:
            let longest = bits & 1 == 0 ? plan.faultPhase.milliseconds : 3_600_000
            _ = providers[provider].hide(key, until: time + .milliseconds(1 + span(Int(longest), bits)), at: time)
        default: break
        }
    }

    /// It names a payment that no caller ever asked for.
    private mutating func plantOrphan(_ what: String, _ payment: Int, store: StoreID?) {
        guard let leg = plan.payments[payment].requests.first?.legs.first,
            let provider = providerPlaces[leg.provider], plan.providers[provider].contract.listing
        else { return }
        let id = RunPlan.strangerPayment(of: plan.payments[payment].id)
        providers[provider].enterStranger(
            RunPlan.strangerKey(what, plan.payments[payment].id), naming: id, leg: 0, amount: leg.amount,
            isForeign: false, store: store, at: time)
    }
}

extension RunPlan {
    /// The key of a transaction that somebody else makes beside a payment.
    static func strangerKey(_ what: String, _ payment: PaymentID) -> EffectKey {
        EffectKey(reported: String(Digest(of: ["stranger", what, payment.text]).hex.prefix(40)))
    }

    /// A payment that nobody has, named by a transaction that somebody else makes.
    static func strangerPayment(of payment: PaymentID) -> PaymentID {
        do {
            return PaymentID(
                caller: try CallerID("elsewhere"), key: try IdempotencyKey("stranger-\(payment.text.suffix(32))"))
        } catch {
            return payment  // Not reached: these names have the form that is asked for.
        }
    }

    /// The payments that may come to be beside those of the plan: what somebody else makes names them, or they undo it.
    public var strangers: [PaymentID] {
        let chance = Chance(seed: seed)
        var ids: [PaymentID] = []
        for (index, payment) in payments.enumerated() {
            if isPlanted(.plantedOrphan, index, chance) { ids.append(RunPlan.strangerPayment(of: payment.id)) }
            guard isPlanted(.plantedDuplicate, index, chance) else { continue }
            let key = RunPlan.strangerKey("duplicate", payment.id)
            ids += providers.compactMap { RunPlan.undoing(key, at: $0.name) }
        }
        return ids
    }

    private func isPlanted(_ kind: FaultKind, _ payment: Int, _ chance: Chance) -> Bool {
        Chance.happens(perMillion: rates[kind], chance.bits(kind.word, UInt64(payment), 0, 0, 0))
    }

    private static func undoing(_ key: EffectKey, at provider: ProviderName) -> PaymentID? {
        let digest = Digest(of: ["reconciled.undo.1", provider.name, key.text])
        do {
            return PaymentID(
                caller: try CallerID(UnbookedTransaction.caller),
                key: try IdempotencyKey("undo-" + digest.hex.prefix(40)))
        } catch {
            return nil
        }
    }
}
