internal import PaymentCore

/// An intent that a change made durable.
struct Intent {
    let leg: Int
    let effect: EffectReference
    let key: EffectKey
    let amount: Money
    let number: Int
}

extension Commit {
    /// The intents that this change wrote, read from the payment itself rather than from its trail.
    var newIntents: [Intent] {
        var intents: [Intent] = []
        for leg in after.legs {
            let old = before?.leg(leg.index)
            Commit.add(leg.primary, .primary, old?.primary, leg, &intents)
            if let effect = leg.capture { Commit.add(effect, .capture, old?.capture, leg, &intents) }
            if let effect = leg.void { Commit.add(effect, .void, old?.void, leg, &intents) }
            if let effect = leg.compensation {
                Commit.add(effect, .compensation, old?.compensation, leg, &intents)
            }
        }
        for (refundIndex, refund) in after.refunds.enumerated() {
            for part in refund.parts {
                guard let leg = after.leg(part.leg) else { continue }
                let old = before?.refundPart(refundIndex, leg: part.leg)?.effect
                Commit.add(part.effect, .refund(refundIndex), old, leg, &intents)
            }
        }
        return intents
    }

    private static func add(
        _ effect: Effect, _ reference: EffectReference, _ old: Effect?, _ leg: Leg, _ intents: inout [Intent]
    ) {
        guard let open = effect.open, open.number != old?.open?.number else { return }
        intents.append(
            Intent(
                leg: leg.index, effect: reference, key: effect.key, amount: effect.amount, number: open.number
            ))
    }
}

extension Payment {
    /// The leg of this index.
    func leg(_ index: Int) -> Leg? { legs.indices.contains(index) ? legs[index] : nil }

    /// The part of a refund, by its index, that is of a leg.
    func refundPart(_ refundIndex: Int, leg: Int) -> Refund.Part? {
        guard refunds.indices.contains(refundIndex) else { return nil }
        return refunds[refundIndex].parts.first { $0.leg == leg }
    }
}

extension Leg {
    /// The effect that a reference names, if this leg has it; refunds belong to the payment.
    func named(_ reference: EffectReference) -> Effect? {
        switch reference {
        case .primary: primary
        case .capture: capture
        case .void: void
        case .compensation: compensation
        case .refund: nil
        }
    }
}
