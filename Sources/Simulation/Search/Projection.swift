internal import PaymentCore

/// The part of a payment's row that its future can depend on, as bytes: two rows with the same bytes take the same
/// steps.
///
/// What is left out never decides: identity, hashes of the audit trail, the version, texts of reasons, and counters
/// that only choose a delay. Times become what is asked of them: whether a key is still safe to send, whether a proof
/// holds, whether a read counts. The search checks by sampling that rows with the same bytes do take the same steps.
struct Projection {
    private(set) var bytes: [UInt8] = []
    private let world: SearchWorld
    private let now: Timestamp

    init(_ state: LocalState, _ world: SearchWorld) {
        self.world = world
        now = state.now
        bytes.reserveCapacity(64 + 64 * state.payment.legs.count)
        put(state.payment)
        for index in state.payment.legs.indices {
            put(state.payment, state.payment.legs[index])
            put(flag: state.machine.busy.contains(index))
            guard let reading = state.reading[index] else {
                bytes.append(0)
                continue
            }
            bytes.append(1)
            put(number: Int64(reading.view.bits))
            put(readAt: reading.began, state.payment, state.payment.legs[index])
            if let first = state.payment.legs[index].primary.firstIntentAt,
                let retention = world.legContracts[index].statusRetention
            {
                put(flag: reading.began < first + (retention - world.legContracts[index].clockSkew))
            }
            put(flag: reading.began > lastChange(state.payment, index) + world.legContracts[index].visibilityLag)
        }
    }

    private mutating func put(flag: Bool) { bytes.append(flag ? 1 : 0) }
    private mutating func put(small: Int) { bytes.append(UInt8(truncatingIfNeeded: small)) }

    private mutating func put(number: Int64) {
        bytes.append(UInt8(truncatingIfNeeded: number))
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number >> 16))
    }

    private mutating func put(text: String?) {
        guard let text else { return bytes.append(255) }
        bytes.append(UInt8(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8.prefix(8))
    }

    /// How far ahead a time is.
    private mutating func put(ahead moment: Timestamp?) {
        guard let moment else { return bytes.append(0) }
        let ahead = moment - now
        if ahead <= SearchWorld.soon { return bytes.append(1) }
        if ahead <= SearchWorld.toDeadline { return bytes.append(2) }
        if ahead <= world.requestLife { return bytes.append(3) }
        if let retention = world.retention, ahead <= retention { return bytes.append(4) }
        bytes.append(ahead <= world.holdLife ? 5 : 6)
    }

    private mutating func put(_ payment: Payment) {
        put(text: payment.latch.rawValue)
        put(flag: payment.latchAcknowledged)
        put(text: payment.stopReason?.code.rawValue)
        put(flag: payment.cancel != nil)
        put(flag: payment.capture != nil)
        put(text: payment.conclusion?.state.rawValue)
        put(flag: now >= payment.deadline)
        put(ahead: payment.dueAt)
        if payment.captureMode == .manual { put(ahead: holdsEnd(payment)) }
        if let window = payment.recovery {
            put(ahead: window.readsCountFrom)
            put(flag: window.listingCompared)
        }
        for refund in payment.refunds {
            for part in refund.parts {
                put(text: part.state.rawValue)
                put(part.effect, payment.legs[part.leg], payment)
                put(flag: (payment.legs[part.leg].knowledge?.began ?? payment.createdAt) >= refund.createdAt)
            }
        }
    }

    /// When the first hold runs out, where the provider does not say so.
    private func holdsEnd(_ payment: Payment) -> Timestamp? {
        payment.legs.compactMap { leg in
            world.legContracts[leg.index].authorizationLife.map {
                (leg.primary.firstIntentAt ?? payment.createdAt) + $0
            }
        }.min()
    }

    /// When the leg was last changed by us, as far as its row knows.
    private func lastChange(_ payment: Payment, _ index: Int) -> Timestamp {
        let leg = payment.legs[index]
        var effects = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0 }
        for refund in payment.refunds { effects += refund.parts.filter { $0.leg == index }.map(\.effect) }
        let times = effects.flatMap { [$0.acceptedAt, $0.lastIntentAt] }.compactMap { $0 }
        return max(payment.createdAt, times.max() ?? payment.createdAt)
    }

    private mutating func put(_ payment: Payment, _ leg: Leg) {
        put(leg.primary, leg, payment)
        for effect in [leg.capture, leg.void, leg.compensation] {
            put(flag: effect != nil)
            if let effect { put(effect, leg, payment) }
        }
        put(leg.knowledge, leg, payment)
        put(small: min(leg.conclusiveReads, 2))
        put(flag: now > lastChange(payment, leg.index) + world.legContracts[leg.index].visibilityLag)
        put(flag: leg.inquiries > 0)
        put(ahead: leg.notBefore)
        put(text: leg.lost?.code.rawValue)
        put(text: leg.captureLost?.code.rawValue)
        put(text: leg.gone?.cause.rawValue)
        put(number: leg.capturedAmount.value)
        put(flag: leg.isCompensated)
        put(text: leg.quarantine?.cause.rawValue)
        if let window = payment.recovery {
            put(flag: now > window.latestNotAfter + world.legContracts[leg.index].proofMargin)
        }
        put(text: leg.quarantine?.effect.description)
    }

    private mutating func put(_ effect: Effect, _ leg: Leg, _ payment: Payment) {
        let contract = world.legContracts[leg.index]
        put(number: effect.amount.value)
        // Whether there was one attempt or more is asked only as long as nothing worse than a refusal happened.
        put(small: min(effect.attempts, effect.worst <= .refused ? 2 : 1))
        put(flag: effect.open != nil)
        put(small: effect.worst.rawValue)
        put(small: effect.lastOutcome?.rawValue ?? 0)
        put(small: min(effect.credentialRefusals, 1))
        if world.scenario.plugAllowed { put(small: min(effect.sentAfterDecline, 8)) }
        if let first = effect.firstIntentAt, let limit = contract.safeResendAge {
            bytes.append(now - first < limit ? 1 : 2)
        } else {
            bytes.append(effect.firstIntentAt == nil ? 0 : 3)
        }
        if contract.cancelDeadline != nil, let first = effect.firstIntentAt {
            put(flag: now < first + (contract.cancelDeadline ?? .zero))
        }
        put(flag: effect.hasUnboundedAttempt)
        if let latest = effect.latestNotAfter {
            bytes.append(now > latest + contract.proofMargin ? 2 : 1)
        } else {
            bytes.append(0)
        }
        put(number: effect.sumBefore ?? -1)
        put(flag: effect.acceptedAt != nil)
        if effect.key == leg.primary.key, let first = effect.firstIntentAt, let retention = contract.statusRetention {
            put(flag: now < first + (retention - contract.clockSkew))
            put(flag: leg.knowledge.map { $0.began < first + (retention - contract.clockSkew) } ?? true)
        }
    }

    private mutating func put(_ known: Observation?, _ leg: Leg, _ payment: Payment) {
        guard let known else { return bytes.append(0) }
        put(text: known.status.rawValue)
        put(flag: known.source == .answer)
        put(flag: known.contradiction != nil || known.amount.map { $0 != leg.amount } ?? false)
        for movement in known.captures + known.refunds {
            put(text: movement.state.rawValue)
            put(text: movement.key.text)
            put(number: movement.amount.value)
        }
        bytes.append(254)
        put(readAt: known.began, payment, leg)
    }

    /// What is asked of the time at which a read began.
    private mutating func put(readAt began: Timestamp, _ payment: Payment, _ leg: Leg) {
        let margin = world.legContracts[leg.index].proofMargin
        if let window = payment.recovery {
            put(flag: began >= window.readsCountFrom)
            put(flag: began > window.latestNotAfter + margin)
        }
        put(flag: leg.primary.latestNotAfter.map { began > $0 + margin } ?? true)
    }
}
