internal import PaymentCore

extension SearchWorld {
    /// What the adapter makes of a status that a provider shows.
    func observation(
        _ view: ProviderLeg, leg index: Int, began: Timestamp, source: Observation.Source
    ) -> Observation {
        let contract = legContracts[index]
        var seen = Observation(
            status(view.status), began: began, source: source, key: keys[index][0],
            amount: view.status == .tombstoned ? nil : money(SearchWorld.legAmount))
        if view.status == .pending, scenario.asksPayers {
            seen.payerAction = PayerAction(url: WebAddress("https://bank.example/"))
        }
        if view.status == .absent { return Observation(.notFound, began: began, source: source) }
        if contract.phases == .authorizeCapture {
            let isOurs = !(view.status == .taken && view.changedOutside)
            let key = isOurs ? keys[index][ProviderLeg.Slot.capture.rawValue] : EffectKey(reported: "console")
            let amount = money(captured(index))
            if view.captureDeclined {
                seen.captures.append(Observation.Movement(key: key, amount: amount, state: .declined))
            } else if view.status == .taken {
                seen.captures.append(Observation.Movement(key: key, amount: amount, state: .succeeded))
            }
        }
        seen.refunds = refunds(view, index, contract)
        return seen
    }

    /// What a provider that cannot be asked tells of an effect. Its moment is not signed, as at Adyen.
    func news(of slot: ProviderLeg.Slot, leg: Int, isDone: Bool, at: Timestamp) -> EffectNews {
        let word = ProviderWord(isDone ? .succeeded : .declined, reason: isDone ? nil : "declined_later", at: at)
        return EffectNews(
            key: keys[leg][slot.rawValue], kind: kind(of: slot, leg: leg),
            amount: slot == .void ? nil : amount(of: slot, leg: leg), word: word, isDateSigned: false)
    }

    private func status(_ status: ProviderLeg.Status) -> Observation.Status {
        switch status {
        case .absent: .notFound
        case .pending: .pending
        case .held: .authorized
        case .taken: .captured
        case .declined: .declined
        case .tombstoned: .tombstoned
        case .voided: .voided
        case .expired: .expired
        }
    }

    private func refunds(
        _ view: ProviderLeg, _ index: Int, _ contract: ProviderContract
    ) -> [Observation.Movement] {
        if contract.refundVisibility == .sumsOnly {
            let sum = givenBack(view, index)
            guard sum > 0 else { return [] }
            return [Observation.Movement(key: EffectKey(reported: "sum"), amount: money(sum), state: .succeeded)]
        }
        var movements: [Observation.Movement] = []
        func add(_ state: ProviderLeg.Movement, _ slot: ProviderLeg.Slot, _ amount: Int64) {
            guard state != .none else { return }
            movements.append(
                Observation.Movement(
                    key: keys[index][slot.rawValue], amount: money(amount),
                    state: state.isDone ? .succeeded : .declined))
        }
        add(view.compensation, .compensation, captured(index))
        for refundIndex in scenario.refunds.indices {
            guard let slot = ProviderLeg.Slot.refund(refundIndex) else { continue }
            add(view[refund: refundIndex], slot, scenario.refunds[refundIndex])
        }
        return movements
    }
}
