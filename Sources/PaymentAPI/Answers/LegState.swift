internal import PaymentCore

/// The state of a leg as callers see it.
enum LegState: String, Sendable, Hashable, CaseIterable {
    case pending, authorizing, authorized, capturing, captured, voiding, voided, refunding, refunded, declined
    case refused, none
    case inDoubt = "in_doubt"
    case quarantined

    /// Derives the state from what is known of the leg and from what is under way.
    init(_ leg: Leg, of payment: Payment) {
        if leg.quarantine != nil {
            self = .quarantined
        } else if let gone = leg.gone {
            self = LegState.ended(gone, leg)
        } else if payment.conclusion?.state == .succeeded {
            self = LegState.refunds(of: leg, in: payment)
        } else {
            self = LegState.underWay(leg, payment)
        }
    }

    /// A leg that will never stand (again).
    private static func ended(_ gone: Leg.Gone, _ leg: Leg) -> LegState {
        if leg.isCompensated { return .refunded }
        switch leg.isLost ? leg.loss?.reason.code : nil {
        case .declined: return .declined
        case .refused: return .refused
        default: break
        }
        switch gone.cause {
        case .refused: return .refused
        case .neverSent, .neverHappened: return .none
        case .status:
            switch gone.status {
            case .declined: return .declined
            case .tombstoned, .notFound: return .none
            default: return .voided
            }
        }
    }

    /// A leg that was captured: what its refunds make of it.
    private static func refunds(of leg: Leg, in payment: Payment) -> LegState {
        let parts = payment.refunds.flatMap(\.parts).filter { $0.leg == leg.index }
        if parts.contains(where: { $0.state == .processing }) { return .refunding }
        let given = payment.refundedAmount(ofLeg: leg.index)
        return !given.isZero && given == leg.capturedAmount ? .refunded : .captured
    }

    private static func underWay(_ leg: Leg, _ payment: Payment) -> LegState {
        let isTurnedBack = payment.latch == .back || payment.latch == .compensate
        switch leg.knowledge?.status {
        case .authorized:
            if isTurnedBack { return .voiding }
            return payment.latch == .forward ? .capturing : .authorized
        case .captured:
            if leg.void != nil { return .voiding }
            return isTurnedBack || leg.compensation != nil ? .refunding : .captured
        case .declined: return isTurnedBack ? .voiding : .declined
        case .voided, .expired: return .voided
        case .tombstoned: return .none
        case .pending: return activity(leg).state
        case .notFound, .unavailable, nil:
            let active = activity(leg)
            return active.effect.worst == .indeterminate ? .inDoubt : active.state
        }
    }

    /// The effect that is being pursued.
    private static func activity(_ leg: Leg) -> (effect: Effect, state: LegState) {
        // An authorization may be sent once more only to be undone: then it is what is under way.
        if leg.primary.open == nil {
            if let effect = leg.compensation { return (effect, .refunding) }
            if let effect = leg.void { return (effect, .voiding) }
            if let effect = leg.capture { return (effect, .capturing) }
        }
        return (leg.primary, leg.primary.attempts == 0 ? .pending : .authorizing)
    }
}
