extension PaymentMachine {
    /// The caller cancels. Latches back durably before anything is undone.
    ///
    /// - Throws: ``OperationRefusal/tooLate(state:)`` once the payment went forward.
    public mutating func cancel(
        _ request: CancelRequest, _ context: MachineContext
    ) throws(OperationRefusal) -> [PaymentAction] {
        switch payment.latch {
        case .forward, .compensate: throw .tooLate(state: payment.state)
        case .back:
            if payment.conclusion?.state == .failed {
                throw .wrongState(.failed, allowed: "a payment that failed holds nothing to cancel")
            }
        case .none:
            if payment.cancel == nil {
                payment.cancel = request
                payment.stopReason = payment.stopReason ?? Reason(.canceledByCaller, detail: request.reason)
            }
        }
        record(operation: "cancel", key: request.key, context)
        return plan(context)
    }

    /// The caller captures what is held: all of it, or the amounts given by leg (legs not named are released).
    ///
    /// - Throws: ``OperationRefusal`` unless the payment rests in `authorized` and the amounts fit.
    public mutating func capture(
        key: IdempotencyKey, amounts: [Int: Money]?, _ context: MachineContext
    ) throws(OperationRefusal) -> [PaymentAction] {
        guard payment.captureMode == .manual else {
            throw .wrongState(payment.state, allowed: "only a payment with capture: manual is captured")
        }
        if let named = try foundCapture(by: key, amounts, context) {
            payment.capture = named
            record(operation: "capture", key: key, amounts: named.amounts.map(\.description), context)
            return plan(context)
        }
        let found = legsFoundCaptured(by: key, context)
        guard payment.isResting && !holdRanOut(context) || awaitsLostCapture(context) || !found.isEmpty else {
            if payment.capture != nil { throw .tooLate(state: payment.state) }
            if payment.latch == .none { try requireConfirmed() }
            throw .wrongState(payment.state, allowed: "capture needs the state authorized")
        }
        let request = CaptureRequest(
            key: key, amounts: try captureAmounts(amounts), at: context.now)
        payment.capture = request
        for index in found {
            payment.legs[index].quarantine = nil
            payment.legs[index].notBefore = nil
        }
        record(
            operation: "capture", key: key, amounts: request.amounts.map(\.description), context)
        return plan(context)
    }

    /// The capture that was found after its row was lost, under its caller's key, where this is its caller asking
    /// again: every provider shows that key.
    private func foundCapture(
        by key: IdempotencyKey, _ amounts: [Int: Money]?, _ context: MachineContext
    ) throws(OperationRefusal) -> CaptureRequest? {
        guard let found = payment.capture, found.isFound == true else { return nil }
        let isThis = payment.legs.allSatisfy { leg in
            let ours = effectKey(.capture, operation: key, leg: leg, context)
            return leg.knowledge?.captures.contains { $0.key == ours && $0.state == .succeeded } ?? false
        }
        guard isThis else { return nil }
        guard try captureAmounts(amounts) == found.amounts else {
            let words = found.amounts.map(\.description).joined(separator: ", ")
            throw .invalid(field: "legs", detail: "under this key \(words) was captured; the same is allowed")
        }
        return CaptureRequest(key: key, amounts: found.amounts, at: found.at)
    }

    /// After lost rows a caller may have been told more than the row says: the payment is read first, and then judged.
    private func requireConfirmed() throws(OperationRefusal) {
        guard let window = payment.recovery, payment.isBeingConfirmed else { return }
        throw .beingConfirmed(from: window.readsCountFrom)
    }

    /// The legs that people were asked about because they are captured by a request which no row knows, where this is
    /// that request: its caller repeats it. Empty unless that answers all that people were asked.
    private func legsFoundCaptured(by key: IdempotencyKey, _ context: MachineContext) -> [Int] {
        let asked = payment.legs.filter { $0.quarantine != nil }
        guard payment.latch == .none, payment.conclusion == nil, payment.capture == nil else { return [] }
        let isAll = asked.allSatisfy { leg in
            let ours = effectKey(.capture, operation: key, leg: leg, context)
            return leg.quarantine?.cause == .captureRequestLost
                && leg.knowledge?.captures.contains { $0.key == ours && $0.state == .succeeded } ?? false
        }
        return isAll ? asked.map(\.index) : []
    }

    private func captureAmounts(_ asked: [Int: Money]?) throws(OperationRefusal) -> [Money] {
        guard let asked else { return payment.legs.map(\.amount) }
        var amounts = payment.legs.map { Money.zero($0.amount.currency) }
        for index in asked.keys.sorted() {
            guard let amount = asked[index], payment.legs.indices.contains(index) else {
                throw .invalid(field: "legs[].index", detail: "there is no leg \(index)")
            }
            guard amount.currency == payment.legs[index].amount.currency,
                amount.value <= payment.legs[index].amount.value
            else {
                throw .invalid(
                    field: "legs[].amount",
                    detail: "leg \(index) holds \(payment.legs[index].amount); \(amount) is not allowed")
            }
            amounts[index] = amount
        }
        guard amounts.contains(where: { !$0.isZero }) else {
            throw .invalid(field: "legs", detail: "nothing would be captured; cancel the payment instead")
        }
        return amounts
    }

    /// The caller wants money back: the amounts by leg, or everything that remains.
    ///
    /// The amounts are reserved with the same durable change, so that refunds never exceed what was captured.
    public mutating func refund(
        key: IdempotencyKey, amounts: [Int: Money]?, reason: String?, _ context: MachineContext
    ) throws(OperationRefusal) -> [PaymentAction] {
        guard payment.conclusion?.state == .succeeded else {
            if payment.latch == .none || payment.latch == .forward { try requireConfirmed() }
            throw .wrongState(payment.state, allowed: "refund needs the state succeeded")
        }
        let found = foundRefunds(by: key, context)
        let asked = try refundAmounts(amounts, key, context)
        for (index, refund) in found where !asked.contains(where: { $0 == (index, refund.amount) }) {
            throw .invalid(
                field: "legs[].amount",
                detail: "under this key \(refund.amount) of leg \(index) was given back; the same is allowed")
        }
        try refuseDisputed(asked.map(\.0).filter { found[$0] == nil })
        let parts = asked.map { index, amount in
            Refund.Part(
                leg: index,
                effect: Effect(
                    kind: .refund,
                    key: effectKey(.refund, operation: key, leg: payment.legs[index], context),
                    amount: amount),
                state: found[index] == nil ? .processing : .succeeded, reason: nil)
        }
        for (index, _) in asked {
            // The moment of the next look is of what was asked before: a day away where that waits for people.
            payment.legs[index].notBefore = nil
            payment.legs[index].inquiries = 0
        }
        let refund = Refund(key: key, reason: reason, createdAt: context.now, parts: parts)
        payment.refunds.append(refund)
        record(
            operation: "refund", key: key, amounts: asked.map { "leg \($0.0): \($0.1)" }, context)
        forget(found)
        recordEnd(of: refund, context)
        if let window = context.recovery?.needed(by: payment) { openRecovery(window, context) }
        return plan(context)
    }

    private func refundAmounts(
        _ asked: [Int: Money]?, _ key: IdempotencyKey, _ context: MachineContext
    ) throws(OperationRefusal) -> [(Int, Money)] {
        guard let asked else {
            let remaining = payment.legs.map { ($0.index, refundableAmount(of: $0, by: key, context)) }
                .filter { !$0.1.isZero }
            guard !remaining.isEmpty else {
                throw .invalid(
                    field: "amount",
                    detail: "everything that was captured was given back, or is reserved by a refund under way")
            }
            return remaining
        }
        var amounts: [(Int, Money)] = []
        for index in asked.keys.sorted() {
            guard let amount = asked[index], payment.legs.indices.contains(index) else {
                throw .invalid(field: "legs[].index", detail: "there is no leg \(index)")
            }
            let available = refundableAmount(of: payment.legs[index], by: key, context)
            guard amount.currency == available.currency, amount.value > 0, amount.value <= available.value else {
                throw .invalid(
                    field: "legs[].amount",
                    detail: "leg \(index) can give back at most \(available); \(amount) is not allowed")
            }
            amounts.append((index, amount))
        }
        guard !amounts.isEmpty else { throw .invalid(field: "legs", detail: "name at least one leg") }
        return amounts
    }

    /// Keeps that an operation came too late: that is its settled answer, and its key is spent.
    public mutating func keepRefusal(of operation: String, key: IdempotencyKey, _ context: MachineContext) {
        record(.operation, [AuditField("operation", "\(operation), too late"), AuditField("key", key.text)], context)
    }

    /// What this refund may give back: what was captured, less what other refunds of ours reserve, and less what the
    /// provider shows as given back by nobody that we know, at its console or by a request whose row was lost. The
    /// latter is found again when its caller asks under its key.
    private func refundableAmount(of leg: Leg, by key: IdempotencyKey, _ context: MachineContext) -> Money {
        let available = payment.refundableAmount(ofLeg: leg.index)
        guard let contract = contract(of: leg, context), contract.refundVisibility == .byKey else { return available }
        let parts = payment.refunds.flatMap(\.parts).filter { $0.leg == leg.index }
        let found = payment.refundsFound(ofLeg: leg.index)
        let own = effectKey(.refund, operation: key, leg: leg, context)
        let ours = parts.map(\.effect.key) + found.map(\.key) + [own]
        let strangers = leg.knowledge?.refunds.filter { $0.state == .succeeded && !ours.contains($0.key) } ?? []
        do {
            let again = try Money.sum(found.filter { $0.key == own }.map(\.amount), in: available.currency)
            return try available.adding(again)
                .subtracting(Money.sum(strangers.map(\.amount), in: available.currency))
        } catch {
            return .zero(available.currency)  // More was given back than is left.
        }
    }

    /// The entry names the caller's key: two operations that are equal in all else are two.
    private mutating func record(
        operation: String, key: IdempotencyKey, amounts: [String] = [], _ context: MachineContext
    ) {
        var fields = [AuditField("operation", operation), AuditField("key", key.description)]
        if !amounts.isEmpty { fields.append(AuditField("amounts", amounts.joined(separator: ", "))) }
        record(.operation, fields, context)
    }

    func effectKey(
        _ kind: EffectKind, operation: IdempotencyKey, leg: Leg, _ context: MachineContext
    ) -> EffectKey {
        EffectKey(
            EffectKey.Source(
                caller: payment.caller, payment: payment.id, operation: operation, leg: leg.index, effect: kind),
            format: context.contracts[leg.provider]?.keyFormat ?? .hex40)
    }
}
