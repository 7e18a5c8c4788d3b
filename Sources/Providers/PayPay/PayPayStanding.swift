internal import PaymentCore

/// What a payment shows of a change that was asked for.
enum PayPayStanding: Sendable, Hashable {
    /// It is there: done, or recorded and not decided.
    case stands
    /// It is there, declined, for this reason.
    case declined(reason: String?)
    /// It is not there, and the payment no longer permits it.
    case ruledOut
    /// It is not there, and may still be.
    case open

    init(_ order: SendOrder, in observation: Observation) {
        switch order.kind {
        case .authorize, .sale: self = Self.charge(observation)
        case .capture: self = Self.movement(order.key, observation.captures, observation, whileIn: [.authorized])
        case .refund: self = Self.movement(order.key, observation.refunds, observation, whileIn: [.captured])
        case .void: self = Self.void(observation)
        }
    }

    private static func charge(_ observation: Observation) -> PayPayStanding {
        switch observation.status {
        case .pending, .authorized, .captured: .stands
        case .declined: .declined(reason: observation.reason)
        default: .ruledOut
        }
    }

    private static func void(_ observation: Observation) -> PayPayStanding {
        switch observation.status {
        case .voided, .expired, .declined, .tombstoned: .stands
        case .captured: .ruledOut
        default: .open
        }
    }

    private static func movement(
        _ key: EffectKey, _ movements: [Observation.Movement], _ observation: Observation,
        whileIn status: Set<Observation.Status>
    ) -> PayPayStanding {
        if let ours = movements.first(where: { $0.key == key }) {
            return ours.state == .declined ? .declined(reason: ours.reason) : .stands
        }
        return status.contains(observation.status) || observation.status == .pending ? .open : .ruledOut
    }
}
