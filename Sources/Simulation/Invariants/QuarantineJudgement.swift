internal import PaymentCore

/// Whether the facts of an effect leave no safe row, judged by the contract and by the books instead of by
/// the table.
struct QuarantineJudgement {
    let payment: Payment
    let leg: Leg
    let effect: Effect
    let reference: EffectReference
    let provider: SimulatedProvider
    let evidence: Evidence

    private var contract: ProviderContract { provider.contract }
    private var transactions: [SimulatedTransaction] {
        if payment.isUndoing { return provider.transaction(leg.primary.key, at: evidence.now).map { [$0] } ?? [] }
        return provider.transactions(of: payment.id, leg: leg.index, at: evidence.now)
    }

    /// - Parameter undoing: whether it was the goal that the leg does not stand.
    func justifies(_ cause: QuarantineCause, undoing: Bool) -> Bool {
        switch cause {
        case .contradiction:
            // What two people said is not so, and its provider contradicts it (seed 16178346515019).
            if evidence.misjudged.contains(payment.id) { return true }
            // Also what was pending when it was answered, and is gone since.
            let everKnown = transactions + provider.transactions.filter { $0.key == leg.primary.key }
            return everKnown.contains { $0.contradicts || $0.changedOutside }
        case .acceptedButMissing:
            // Accepted, and the provider forgot; what is in the books and readable is not missing. Where only sums are
            // shown, a refund that somebody took out of the books hides another.
            let isHiddenInSum = contract.refundVisibility == .sumsOnly && transactions.contains { $0.changedOutside }
            return contract.statusRetention != nil || !isInBooks || isHiddenInSum
        case .keyTooOld:
            if undoing, contract.cancel == .tombstoning { return mayBeForgotten && !isProvable }
            return isTooOld && !isProvable
        case .unconfirmed:
            // Without it the payment would wait for a word that may never come.
            return contract.inquiry == .byResend && effect.word?.state == .pending
        case .undoImpossible:
            let isSentToLearn = contract.inquiry == .byResend
            let mayPlug =
                evidence.policy.plugAllowed && !payment.isUndoing
                && (isSentToLearn || effect.sentAfterDecline < QuarantineJudgement.mostPlugs)
            return contract.cancel != .tombstoning && !isProvable && !mayPlug
        case .captureRequestLost:
            // Only what the caller asked for after the hold can be lost so, and only where rows can be.
            return payment.captureMode == .manual && payment.capture == nil
        case .undoRefused:
            let wasOvertaken = effect.lastCode?.hasPrefix("conflict_") == true
            // What was given back at the provider's console leaves less than the refund that undoes the leg.
            let isLess = transactions.contains { $0.changedOutside }
            guard contract.inquiry != .byResend else {
                // Where nothing can be read, neither people's word that is not so (seed 2541051524866), nor what a
                // request that was lost with its row did, can be read away.
                if evidence.misjudged.contains(payment.id) { return true }
                return wasTurnedDown && (!wasOvertaken || payment.recovery != nil || isLess)
            }
            return wasTurnedDown && (!wasOvertaken || contract.statusRetention != nil || isLess)
        case .refundInDoubt:
            return wasTurnedDown || isBehindAnother
        }
    }

    /// A key that was declined so often, and may yet succeed, is a matter for people.
    private static let mostPlugs = 8

    /// Whether it was surely in the books when they were read last: a copy may be executed after that, and the reader's
    /// clock dates the read.
    private var isInBooks: Bool {
        transactions.contains { transaction in
            if let read = leg.knowledge?.began, shownFrom(transaction) > read { return false }
            return switch reference {
            case .primary:
                // Under a key that was used anew, what was declined before is not what was accepted and then lost.
                provider.transaction(effect.key, at: evidence.now) != nil
            case .capture: transaction.captures.contains { $0.key == effect.key }
            case .void: transaction.status == .voided || transaction.status == .tombstoned
            case .compensation, .refund: transaction.refunds.contains { $0.key == effect.key }
            }
        }
    }

    /// From when a read has to show it. What was executed by a late copy, after what was accepted had been lost, is as
    /// new to reads as its first execution was (seed 1815318523).
    private func shownFrom(_ transaction: SimulatedTransaction) -> Timestamp {
        let begun = transaction.firstUse + contract.clockSkew
        guard let accepted = effect.acceptedAt, transaction.firstUse > accepted + contract.clockSkew else {
            return begun
        }
        return begun + contract.visibilityLag
    }

    private var isTooOld: Bool {
        guard let age = contract.safeResendAge else { return false }
        guard let first = effect.firstIntentAt else { return payment.recovery != nil }
        // The decision was made by the store's clock, a little before or after the true time.
        return evidence.now + contract.clockSkew - first >= age
    }

    /// A tombstone that is left now may stand on a key that the provider has forgotten.
    private var mayBeForgotten: Bool {
        guard let limit = contract.memory else { return false }
        guard let first = effect.firstIntentAt else { return payment.recovery != nil }
        return evidence.now + contract.clockSkew - first >= limit
    }

    /// A provider that forgets statuses, or what it accepted, proves nothing by not finding it. One that cannot be
    /// asked never says that it does not find something.
    private var isProvable: Bool {
        reference == .primary && contract.enforcesNotAfter && !effect.hasUnboundedAttempt
            && contract.inquiry != .byResend && contract.statusRetention == nil && effect.acceptedAt == nil
    }

    private var wasTurnedDown: Bool {
        effect.lastOutcome == .refused || effect.lastOutcome == .declined || effect.worst == .refused
            || effect.worst == .declined || transactions.contains { $0.undoDeclines > 0 }
    }

    /// Where only sums are shown, a refund that follows one in doubt cannot be told from it.
    private var isBehindAnother: Bool {
        guard contract.refundVisibility == .sumsOnly else { return false }
        return payment.refunds.contains { refund in
            refund.parts.contains {
                $0.leg == leg.index && $0.state == .quarantined && $0.effect.key != effect.key
            }
        }
    }
}
