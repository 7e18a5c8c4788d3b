extension PaymentMachine {
    /// What two people decided about a quarantined leg takes the place of what could not be known.
    mutating func resolve(leg index: Int, _ resolution: Resolution, _ context: MachineContext) {
        guard payment.legs.indices.contains(index), payment.legs[index].quarantine != nil else { return }
        payment.legs[index].quarantine = nil
        payment.legs[index].notBefore = nil
        payment.legs[index].conclusiveReads = 0
        let leg = payment.legs[index]
        switch resolution {
        case .resume:
            payment.legs[index].knowledge = nil
        case .charged:
            let amount = leg.capture?.amount ?? leg.amount
            let key = leg.capture?.key ?? leg.primary.key
            payment.legs[index].capturedAmount = amount
            payment.legs[index].knowledge = Observation(
                .captured, began: context.now, source: .inquiry, amount: leg.amount,
                captures: leg.isOnePhase ? [] : [Observation.Movement(key: key, amount: amount, state: .succeeded)],
                reason: "resolved_by_people")
        case .neverCharged:
            payment.legs[index].gone = Leg.Gone(cause: .neverHappened, status: nil, code: "resolved_by_people")
            payment.legs[index].loss = leg.loss ?? .primary(Reason(.legLost, detail: "resolved by people"))
        case .undoneOutside:
            payment.legs[index].gone = Leg.Gone(
                cause: .status, status: nil, code: "resolved_by_people", isGivenBack: !leg.capturedAmount.isZero)
            payment.legs[index].loss = .capture(Reason(.legLost, detail: "undone outside"))
        }
        record(.resolved, leg: index, [AuditField("resolution", resolution.rawValue)], context)
    }

    /// The same for the part of a refund.
    mutating func resolveRefund(refundIndex: Int, leg index: Int, _ resolution: Resolution, _ context: MachineContext) {
        guard payment.refunds.indices.contains(refundIndex),
            let part = payment.refunds[refundIndex].parts.firstIndex(where: { $0.leg == index }),
            payment.refunds[refundIndex].parts[part].state == .quarantined
        else { return }
        switch resolution {
        case .charged: payment.refunds[refundIndex].parts[part].state = .succeeded
        case .neverCharged, .undoneOutside: payment.refunds[refundIndex].parts[part].state = .failed
        case .resume:
            payment.refunds[refundIndex].parts[part].state = .processing
            payment.legs[index].knowledge = nil
        }
        payment.refunds[refundIndex].parts[part].reason = "resolved_by_people"
        record(
            .resolved, leg: index,
            [
                AuditField("effect", EffectReference.refund(refundIndex).description),
                AuditField("resolution", resolution.rawValue),
            ], context)
    }
}
