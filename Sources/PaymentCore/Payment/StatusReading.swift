/// Turns what a provider said of a transaction into the status of one effect.
enum StatusReading {
    /// The status of an effect that is wanted.
    static func whenWanted(
        _ known: Observation?, _ reference: EffectReference, _ effect: Effect, leg: Leg,
        _ contract: ProviderContract
    ) -> StatusFact {
        guard let known else { return .notAsked }
        if contradicts(known, leg: leg) { return .contradiction }
        if let after = endedWithoutBeginning(known, leg: leg) { return after }
        switch reference {
        case .primary: return primary(known, leg: leg, contract)
        case .capture: return capture(known, effect, leg: leg, contract)
        case .void: return void(known)
        case .compensation: return refund(known, effect, contract)
        case .refund:
            // Only what was taken is refunded, whether that was seen on trusted rows or on others.
            let wasSeen = leg.standsSince != nil || !leg.capturedAmount.isZero
            return known.status == .notFound && wasSeen ? .denied : refund(known, effect, contract)
        }
    }

    /// The status of a leg that is not wanted.
    static func whenUnwanted(_ known: Observation?, leg: Leg, _ contract: ProviderContract) -> StatusFact {
        guard let known else { return .notAsked }
        if contradicts(known, leg: leg) { return .contradiction }
        if let after = endedWithoutBeginning(known, leg: leg) { return after }
        switch known.status {
        case .notFound: return .notFound
        // What a payer has not confirmed is canceled like a hold.
        case .pending:
            // What was taken is never asked about again: the read shows what was before.
            let isFirst = leg.compensation == nil && leg.capturedAmount.isZero
            return known.awaitsPayer && isFirst ? .held : .pending
        case .unavailable: return .unavailable
        case .authorized:
            // What was taken is never only held again: the read shows what was before.
            return leg.compensation == nil ? .held : .pending
        case .declined: return contract.declinesBound ? .declinedBound : .declinedUnbound
        case .voided: return .voided
        case .tombstoned: return .tombstoned
        case .expired: return .expired
        case .captured:
            if leg.capturedAmount(in: known).isZero { return .contradiction }
            if isGivenBack(known, leg: leg) { return .refunded }
            let ours = known.refunds.first { $0.key == leg.compensation?.key }
            return ours?.state == .pending ? .pending : .taken
        }
    }

    static func isGivenBack(_ known: Observation, leg: Leg) -> Bool {
        let taken = leg.capturedAmount(in: known).value
        return taken > 0 && givenBack(known) >= taken
    }

    /// The sum of the refunds that succeeded, in minor units.
    static func givenBack(_ known: Observation) -> Int64 {
        known.refunds.filter { $0.state == .succeeded }.reduce(Int64(0)) { sum, movement in
            let (next, overflow) = sum.addingReportingOverflow(movement.amount.value)
            return overflow ? .max : next
        }
    }

    /// Whether it is about something else than what was asked: another key, amount, currency or merchant.
    static func contradicts(_ known: Observation, leg: Leg) -> Bool {
        if known.contradiction != nil { return true }
        if known.status == .notFound || known.status == .unavailable { return false }
        if let key = known.key, key != leg.primary.key { return true }
        if let amount = known.amount, amount != leg.amount { return true }
        return (known.captures + known.refunds).contains { $0.amount.currency != leg.amount.currency }
    }

    /// What was seen held or taken is released, reversed or runs out. It is never declined, and a tombstone in its
    /// place stands on a key that its provider has forgotten. A read that may be stale may show what was before.
    private static func endedWithoutBeginning(_ known: Observation, leg: Leg) -> StatusFact? {
        guard leg.standsSince != nil else { return nil }
        switch known.status {
        case .tombstoned: return .contradiction
        case .declined: return leg.conclusiveReads == 0 ? .pending : .contradiction
        default: return nil
        }
    }

    private static func primary(_ known: Observation, leg: Leg, _ contract: ProviderContract) -> StatusFact {
        switch known.status {
        case .notFound: .notFound
        case .pending: .pending
        case .unavailable: .unavailable
        case .authorized: leg.isOnePhase ? .contradiction : .asAsked
        case .captured: isGivenBack(known, leg: leg) ? .refunded : .asAsked
        case .declined: contract.declinesBound ? .declinedBound : .declinedUnbound
        case .voided: .voided
        case .tombstoned: .tombstoned
        case .expired: .expired
        }
    }

    private static func capture(
        _ known: Observation, _ effect: Effect, leg: Leg, _ contract: ProviderContract
    ) -> StatusFact {
        let ours = known.captures.first { $0.key == effect.key }
        switch known.status {
        case .notFound: return .notFound
        case .pending: return .pending
        case .unavailable: return .unavailable
        case .declined: return .declinedBound
        case .voided: return .voided
        case .tombstoned: return .tombstoned
        case .expired: return .expired
        case .authorized:
            guard let ours else { return .notFound }
            return movement(ours, effect, contract)
        case .captured:
            if isGivenBack(known, leg: leg) { return .refunded }
            // Taken, but not by us, or not only.
            guard let ours, leg.capturedAmount(in: known) == effect.amount || ours.state != .succeeded else {
                return .contradiction
            }
            return movement(ours, effect, contract)
        }
    }

    private static func movement(
        _ movement: Observation.Movement, _ effect: Effect, _ contract: ProviderContract
    ) -> StatusFact {
        guard movement.amount == effect.amount else { return .contradiction }
        switch movement.state {
        case .pending: return .pending
        case .succeeded: return .asAsked
        case .declined: return contract.declinesBound ? .declinedBound : .declinedUnbound
        }
    }

    private static func void(_ known: Observation) -> StatusFact {
        switch known.status {
        case .pending: known.awaitsPayer ? .notFound : .pending
        case .unavailable: .unavailable
        case .voided, .tombstoned, .expired: .asAsked
        case .notFound, .authorized, .captured, .declined: .notFound
        }
    }

    private static func refund(
        _ known: Observation, _ effect: Effect, _ contract: ProviderContract
    ) -> StatusFact {
        switch known.status {
        case .unavailable: return .unavailable
        case .pending: return .pending
        default: break
        }
        if contract.refundVisibility == .sumsOnly {
            guard let before = effect.sumBefore, effect.attempts > 0 else { return .notFound }
            switch givenBack(known) - before {
            case 0: return .notFound
            case effect.amount.value: return .asAsked
            default: return .contradiction  // Somebody else refunds at the same time.
            }
        }
        guard let ours = known.refunds.first(where: { $0.key == effect.key }) else { return .notFound }
        return movement(ours, effect, contract)
    }
}
