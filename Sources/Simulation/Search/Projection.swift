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
        put(state.payment, state.window)
        for leg in state.payment.legs {
            put(state.payment, leg)
            put(flag: state.machine.busy.contains(leg.index))
            put(flag: state.reading[leg.index] != nil)
            if let reading = state.reading[leg.index] { put(reading, leg, state.payment) }
        }
    }

    private mutating func put(_ reading: LocalState.Reading, _ leg: Leg, _ payment: Payment) {
        let contract = world.legContracts[leg.index]
        put(number: Int64(reading.view.bits))
        put(readAt: reading.began, payment, leg)
        if let end = readable(leg.primary, contract) { put(flag: reading.began < end) }
        for effect in [leg.primary, leg.compensation].compactMap({ $0 }) {
            guard let last = effect.lastIntentAt else { continue }
            put(flag: reading.began > last + contract.maxRequestLife + contract.proofMargin)
        }
        putShown(reading.began, payment, leg.index)
    }

    /// Until when the status of what an effect began can surely be read; nil without such a limit.
    private func readable(_ effect: Effect, _ contract: ProviderContract) -> Timestamp? {
        guard let first = effect.firstIntentAt, let retention = contract.statusRetention else { return nil }
        return first + (retention - contract.clockSkew)
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

    private mutating func put(_ payment: Payment, _ open: RecoveryWindow?) {
        put(text: payment.latch.rawValue)
        put(flag: payment.latchAcknowledged)
        put(text: payment.stopReason?.code.rawValue)
        put(flag: payment.cancel != nil)
        put(flag: payment.capture != nil)
        put(flag: payment.capture?.isFound == true)
        put(flag: payment.heldAt != nil)
        put(text: payment.conclusion?.state.rawValue)
        put(flag: now >= payment.deadline)
        put(ahead: payment.dueAt)
        if payment.captureMode == .manual { put(ahead: holdsEnd(payment)) }
        if let window = payment.recovery {
            put(ahead: window.readsCountFrom)
            put(flag: window.listingCompared)
            put(flag: window.repetition == .awaited)
        }
        // A refund that is yet to be asked for meets it.
        if let window = open, payment.conclusion != nil, payment.refunds.count < world.scenario.refunds.count {
            put(ahead: window.readsCountFrom)
            put(flag: now + SearchWorld.tick >= window.readsCountFrom)
            for contract in world.legContracts { put(flag: now > window.latestNotAfter + contract.proofMargin) }
        }
        for refund in payment.refunds {
            for part in refund.parts {
                put(text: part.state.rawValue)
                put(part.effect, payment.legs[part.leg], payment)
                put(flag: (payment.legs[part.leg].knowledge?.began ?? payment.createdAt) >= refund.createdAt)
            }
        }
        putFound(payment)
        if world.scenario.people != .none { putWords(payment) }
    }

    /// What is known by the word of people alone.
    private mutating func putWords(_ payment: Payment) {
        for leg in payment.legs {
            put(word: leg.knowledge?.reason)
            put(word: leg.gone?.code)
        }
        for refund in payment.refunds { for part in refund.parts { put(word: part.reason) } }
    }

    private mutating func put(word: String?) {
        put(small: word.flatMap { [Leg.Gone.byPeople, Leg.Gone.writtenOff].firstIndex(of: $0) } ?? 2)
    }

    /// What was given back by requests of lost rows, and whether that is looked for.
    private mutating func putFound(_ payment: Payment) {
        let found = payment.foundRefunds ?? []
        put(number: Int64(found.count))
        for refund in found {
            put(number: Int64(refund.leg))
            put(text: refund.key.text)
            put(number: refund.amount.value)
        }
        guard let search = payment.refundSearch else { return }
        for leg in payment.legs {
            put(flag: search.legs.contains(leg.index))
            put(flag: leg.knowledge.map { $0.began >= search.since } ?? false)
        }
    }

    /// When the first hold runs out, where the provider does not say so.
    private func holdsEnd(_ payment: Payment) -> Timestamp? {
        payment.legs.compactMap { leg in
            world.legContracts[leg.index].authorizationLife.map {
                leg.holdEnds ?? (leg.primary.firstIntentAt ?? payment.createdAt) + $0
            }
        }.min()
    }

    /// Whether a read that begins at a moment shows all that was accepted of a leg.
    private mutating func putShown(_ moment: Timestamp, _ payment: Payment, _ index: Int) {
        let leg = payment.legs[index]
        var effects = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0 }
        for refund in payment.refunds { effects += refund.parts.filter { $0.leg == index }.map(\.effect) }
        let times = effects.flatMap { [$0.acceptedAt, $0.lastIntentAt] }.compactMap { $0 }
        let last = max(payment.createdAt, times.max() ?? payment.createdAt)
        put(flag: moment > last + world.legContracts[index].proofMargin)
    }

    private mutating func put(_ payment: Payment, _ leg: Leg) {
        put(leg.primary, leg, payment)
        for effect in [leg.capture, leg.void, leg.compensation] {
            put(flag: effect != nil)
            if let effect { put(effect, leg, payment) }
        }
        put(leg.knowledge, leg, payment)
        put(small: min(leg.conclusiveReads, 2))
        putShown(now, payment, leg.index)
        if world.legContracts[leg.index].inquiry == .byResend { put(flag: leg.inquiries > 0) }
        if world.legContracts[leg.index].refundVisibility == .sumsOnly {
            // The sum before a refund is asked for at its own time, unless the leg is asked about already.
            put(flag: leg.inquiries > 0)
            if let known = leg.knowledge { putShown(known.began, payment, leg.index) }
        }
        put(ahead: leg.notBefore)
        put(flag: leg.isLost)
        put(text: leg.loss?.reason.code.rawValue)
        put(text: leg.gone?.cause.rawValue)
        put(number: leg.capturedAmount.value)
        put(flag: leg.isCompensated)
        put(text: leg.quarantine?.cause.rawValue)
        put(flag: leg.standsSince != nil)
        put(flag: leg.disputes != nil)
        put(flag: !leg.openDisputes.isEmpty)
        put(flag: leg.readWantedSince != nil)
        if let wanted = leg.readWantedSince, let known = leg.knowledge { put(flag: known.began >= wanted) }
        if let agreeing = leg.quarantine?.agreeing {
            put(small: min(agreeing.reads, 4))
            put(text: agreeing.status?.rawValue)
            put(flag: agreeing.since.map { now - $0 >= .minutes(10) } ?? false)
        }
        if let window = payment.recovery {
            let contract = world.legContracts[leg.index]
            put(flag: now > window.latestNotAfter + contract.proofMargin)
            if let known = leg.knowledge, let limit = contract.safeResendAge {
                put(flag: known.began > window.latestNotAfter + contract.proofMargin)
                put(flag: now - known.began + contract.proofMargin < limit)
            }
        }
        put(text: leg.quarantine?.effect.description)
    }

    private mutating func put(_ effect: Effect, _ leg: Leg, _ payment: Payment) {
        let contract = world.legContracts[leg.index]
        put(number: effect.amount.value)
        // Whether there was one attempt or more is asked only as long as nothing worse than a refusal happened.
        put(small: min(effect.attempts, 1))
        let left = effect.attempts - (effect.unsent ?? 0) - (effect.open == nil ? 0 : 1)
        put(small: effect.worst <= .refused ? min(left, 2) : 0)
        put(flag: effect.open != nil)
        put(small: effect.worst.rawValue)
        put(small: effect.lastOutcome?.rawValue ?? 0)
        put(small: min(effect.credentialRefusals, 1))
        if world.scenario.plugAllowed, contract.inquiry != .byResend { put(small: min(effect.sentAfterDecline, 8)) }
        if let first = effect.firstIntentAt, let limit = contract.safeResendAge {
            bytes.append(now - first < limit ? 1 : 2)
        } else {
            bytes.append(effect.firstIntentAt == nil ? 0 : 3)
        }
        if let deadline = contract.cancelDeadline, let first = effect.firstIntentAt {
            put(flag: now < first + deadline)
        }
        put(flag: effect.hasUnboundedAttempt)
        if let latest = effect.latestNotAfter {
            bytes.append(now > latest + contract.proofMargin ? 2 : 1)
        } else {
            bytes.append(0)
        }
        put(number: effect.sumBefore ?? -1)
        put(flag: effect.acceptedAt != nil)
        put(flag: effect.keyConflicts ?? false)
        put(flag: effect.troubledSince != nil)
        put(flag: effect.isRefusalKeyless ?? false)
        if contract.inquiry == .byResend { putWord(effect, contract) }
        let endsByLife = effect.key == leg.primary.key && (contract.cancel != .tombstoning || contract.memory != nil)
        if endsByLife || effect.kind == .refund { putLife(effect, leg, payment) }
        if let first = effect.firstIntentAt, let limit = contract.memory { put(flag: now - first < limit) }
        if effect.key == leg.primary.key, let end = readable(effect, contract) {
            put(flag: now < end)
            put(flag: leg.knowledge.map { $0.began < end } ?? true)
        }
    }

    /// What a provider that cannot be asked said of an effect, and what decides whether it is in doubt.
    private mutating func putWord(_ effect: Effect, _ contract: ProviderContract) {
        put(text: effect.word?.state.rawValue)
        put(flag: effect.word?.isTold ?? false)
        put(flag: effect.word?.reason == Leg.Gone.byPeople)
        put(flag: effect.isInDoubt(contract))
        put(flag: effect.isCredentialRefusal ?? false)
        let life = contract.maxRequestLife + contract.clockSkew
        put(flag: effect.lastIntentAt.map { now - $0 <= life } ?? false)
        // The next answer may be a refusal, to this request or to the one after it.
        guard let earlier = effect.earlierIntentAt else { return bytes.append(0) }
        bytes.append((effect.lastIntentAt ?? now) - earlier <= life ? 1 : 2)
        put(flag: now - earlier <= life)
    }

    /// Whether the life of an effect's requests is over, now and by what was read.
    private mutating func putLife(_ effect: Effect, _ leg: Leg, _ payment: Payment) {
        let contract = world.legContracts[leg.index]
        guard let last = effect.lastIntentAt else { return }
        let over = last + contract.maxRequestLife + contract.proofMargin
        put(flag: now > over)
        put(flag: leg.knowledge.map { $0.began > over } ?? false)
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
