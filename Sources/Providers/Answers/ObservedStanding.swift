internal import PaymentCore

/// What a transaction that was read shows of a change that was asked for.
enum ObservedStanding: Sendable, Hashable {
    /// It is there: done, or recorded and not decided.
    case stands
    /// It is there, declined, for this reason.
    case declined(reason: String?)
    /// It is not there, and the transaction no longer permits it.
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

    private static func charge(_ observation: Observation) -> ObservedStanding {
        switch observation.status {
        case .pending, .authorized, .captured: .stands
        case .declined: .declined(reason: observation.reason)
        case .voided, .expired, .tombstoned: .ruledOut
        // It may be there all the same: a read may be older than the answer before it.
        case .notFound, .unavailable: .open
        }
    }

    private static func void(_ observation: Observation) -> ObservedStanding {
        switch observation.status {
        case .voided, .expired, .declined, .tombstoned: .stands
        case .captured: .ruledOut
        default: .open
        }
    }

    private static func movement(
        _ key: EffectKey, _ movements: [Observation.Movement], _ observation: Observation,
        whileIn status: Set<Observation.Status>
    ) -> ObservedStanding {
        if let ours = movements.first(where: { $0.key == key }) {
            return ours.state == .declined ? .declined(reason: ours.reason) : .stands
        }
        let mayCome = status.union([.pending, .notFound, .unavailable])
        return mayCome.contains(observation.status) ? .open : .ruledOut
    }
}

// For wires whose answers show a whole transaction, and whose errors do not say what they are about. Errors of the
// reference contract name their key: ``OutcomeClassification`` reads them.
extension AttemptReport {
    /// The report of a success, by the transaction in its body.
    ///
    /// - Parameter known: the transaction of the order's key. One of another key is no evidence, and never gets here.
    init(of order: SendOrder, showing known: Observation) {
        let shown = known.status.rawValue
        switch ObservedStanding(order, in: known) {
        case .stands: self.init(.accepted, code: shown, observation: known)
        case .declined(let reason): self.init(.declined, code: reason ?? "declined", observation: known)
        // The result of an earlier request under the key: it is used up, and this one made nothing.
        case .ruledOut where order.kind == .authorize || order.kind == .sale:
            self.init(.refused, code: "conflict_\(shown)", observation: known)
        // A success that the transaction does not show.
        case .ruledOut, .open: self.init(.indeterminate, code: "effect_missing")
        }
    }

    /// This refusal or decline, by what a read after it shows.
    ///
    /// Only the read says what it is about: until then it names no key, and the core counts it as a doubt. A read that
    /// failed says nothing; that nothing was found, the core judges.
    func settled(_ order: SendOrder, by known: Observation) -> AttemptReport {
        guard known.status != .unavailable else { return self }
        let shown = known.status.rawValue
        var report = self
        report.observation = known
        guard known.status != .notFound else { return report }
        switch ObservedStanding(order, in: known) {
        case .stands:
            (report.outcome, report.code, report.namesKey) = (.accepted, shown, true)
        case .declined(let reason):
            let code = outcome == .declined ? code : reason ?? "declined"
            (report.outcome, report.code, report.namesKey) = (.declined, code, true)
            if known.status == .declined { report.observation?.reason = code }
        case .ruledOut:
            // What has ended stays so. What is taken may still be given back by a request that is under way.
            (report.outcome, report.code) = (.refused, "conflict_\(shown)")
            report.namesKey = known.status != .captured
        case .open where order.kind == .void || known.status == .pending:
            (report.outcome, report.code) = (.throttled, "conflict_\(shown)")
        case .open:
            break
        }
        return report
    }
}
