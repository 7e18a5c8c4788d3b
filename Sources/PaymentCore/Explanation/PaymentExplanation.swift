/// What the tables looked at during one planning, and what they decided.
struct Considerations {
    var payment: PaymentConsideration?
    /// In order; an effect that was looked at again comes again.
    var effects: [EffectConsideration] = []
}

/// A decision of the payment table.
public struct PaymentConsideration: Sendable, Hashable {
    /// What it was made from.
    public let facts: PaymentFacts
    /// The row, and what it decides.
    public let verdict: PaymentTable.Verdict
}

/// A decision of the effect table.
public struct EffectConsideration: Sendable, Hashable {
    /// The leg's index.
    public let leg: Int
    /// The effect.
    public let effect: EffectReference
    /// What it was made from, its goal among it.
    public let facts: EffectFacts
    /// The row, and what it decides.
    public let verdict: EffectTable.Verdict
}

/// Why a payment is in its state: what is known of each leg, the row that decides now, and what would change it.
///
/// It is what the machine itself would decide at that moment, of the payment as it is stored: the same code is stepped,
/// and what it would do is not done.
public struct PaymentExplanation: Sendable, Hashable {
    /// The payment.
    public let payment: Payment
    /// When it was asked, by the store's clock.
    public let at: Timestamp
    /// The row of the payment table; `nil` once the payment has ended.
    public let decision: PaymentConsideration?
    /// Each leg, in order.
    public let legs: [LegExplanation]
    /// Each part of a refund that has not ended, in order.
    public let refunds: [LegExplanation]
    /// When a daemon looks at it next by itself; `nil` when nothing is left to be done.
    public var nextLook: Timestamp? { payment.dueAt }
}

/// The same of one leg, or of what is refunded of it.
public struct LegExplanation: Sendable, Hashable {
    /// What it waits for.
    public enum Wait: Sendable, Hashable {
        /// For nothing: it is over, or stands as it shall.
        case nothing
        /// For the answer to a request that has left, since when.
        case answer(effect: EffectReference, attempt: Int, since: Timestamp)
        /// For another leg, or a decision about the whole payment.
        case payment
        /// For its next step, which is due.
        case step(EffectDecision)
        /// For a moment, and its next step then.
        case moment(EffectDecision, Timestamp)
        /// For an event that nobody can foresee: a caller, a comparison, an acknowledgement.
        case event(EffectDecision)
        /// For people, since when.
        case people(QuarantineCause, row: String, since: Timestamp)
        /// For another configuration of its provider.
        case configuration(MissingProvider)
    }

    /// The leg.
    public let leg: Leg
    /// Where it stands.
    public let standing: PaymentFacts.Standing
    /// The refund of which it is a part, by its index; `nil` for the leg itself.
    public let refund: Int?
    /// The row of the effect table that decides now; `nil` where nothing is decided about it.
    public let decision: EffectConsideration?
    /// The effect that the decision is about.
    public let effect: Effect?
    /// What it waits for.
    public let wait: Wait
}

extension PaymentMachine {
    /// Says why a payment is in its state.
    ///
    /// - Parameters:
    ///   - payment: The payment as it is stored.
    ///   - context: As the daemon's own: its time, contracts and policy.
    public static func explain(_ payment: Payment, _ context: MachineContext) -> PaymentExplanation {
        var machine = PaymentMachine(payment: payment)
        machine.considerations = Considerations()
        // Whoever sent it waits for the answer, and decides nothing about it before.
        for leg in payment.legs where machine.openAttempt(of: leg) != nil { machine.busy.insert(leg.index) }
        var asking = context
        asking.mayBegin = true
        let actions = machine.plan(asking)
        let taken = machine.considerations ?? Considerations()
        let legs = payment.legs.map { machine.explain($0, payment, taken, actions, asking) }
        let refunds = payment.refunds.indices.flatMap { index in
            payment.refunds[index].parts.filter { !$0.state.isFinal }.map {
                machine.explain($0, of: index, payment, taken, actions, asking)
            }
        }
        return PaymentExplanation(
            payment: payment, at: context.now, decision: taken.payment, legs: legs, refunds: refunds)
    }

    /// What the effect table decides about an effect, and from which facts.
    mutating func decide(
        _ reference: EffectReference, _ effect: Effect, leg: Leg, goal: EffectGoal, _ contract: ProviderContract,
        _ context: MachineContext
    ) -> (decision: EffectDecision, by: Decided) {
        let facts = facts(reference, effect, leg: leg, goal: goal, contract, context)
        let verdict = context.effectTable.decide(facts)
        considerations?.effects.append(
            EffectConsideration(leg: leg.index, effect: reference, facts: facts, verdict: verdict))
        return (verdict.decision, Decided(verdict, facts))
    }

    private func openAttempt(of leg: Leg) -> LegExplanation.Wait? {
        for reference in effectReferences(ofLeg: leg.index) {
            guard let open = effect(reference, ofLeg: leg.index)?.open else { continue }
            return .answer(effect: reference, attempt: open.number, since: open.at)
        }
        return nil
    }

    private func explain(
        _ leg: Leg, _ before: Payment, _ taken: Considerations, _ actions: [PaymentAction], _ context: MachineContext
    ) -> LegExplanation {
        let decision = taken.effects.last { considered in
            guard considered.leg == leg.index else { return false }
            if case .refund = considered.effect { return false } else { return true }
        }
        let wait: LegExplanation.Wait =
            if let quarantine = leg.quarantine {
                .people(quarantine.cause, row: quarantine.row, since: quarantine.since)
            } else if let open = openAttempt(of: leg) {
                open
            } else if before.conclusion?.state == .succeeded || leg.gone != nil && !isToBeRead(leg, taken) {
                .nothing
            } else if let missing = payment.missingProvider(of: leg, context.contracts) {
                .configuration(missing)
            } else if let decision {
                self.wait(for: decision.verdict.decision, leg: leg.index, actions, context)
            } else if isToBeRead(leg, taken) {
                self.wait(for: .inquire, leg: leg.index, actions, context)
            } else {
                isWithoutWish(leg) ? .nothing : .payment
            }
        return LegExplanation(
            leg: leg, standing: standing(of: leg, context), refund: nil, decision: decision,
            effect: decision.flatMap { leg.effect($0.effect) }, wait: wait)
    }

    private func explain(
        _ part: Refund.Part, of refundIndex: Int, _ before: Payment, _ taken: Considerations,
        _ actions: [PaymentAction], _ context: MachineContext
    ) -> LegExplanation {
        let leg = before.legs[part.leg]
        let decision = taken.effects.last { $0.leg == part.leg && $0.effect == .refund(refundIndex) }
        let wait: LegExplanation.Wait =
            if part.state == .quarantined {
                .people(
                    part.reason.flatMap { QuarantineCause(rawValue: $0) } ?? .refundInDoubt,
                    row: decision?.verdict.row ?? "-", since: part.effect.lastIntentAt ?? before.updatedAt)
            } else if let open = openAttempt(of: leg) {
                open
            } else if let missing = payment.missingProvider(of: leg, context.contracts) {
                .configuration(missing)
            } else if let decision {
                self.wait(for: decision.verdict.decision, leg: part.leg, actions, context)
            } else {
                .payment
            }
        return LegExplanation(
            leg: leg, standing: standing(of: leg, context), refund: refundIndex, decision: decision,
            effect: part.effect, wait: wait)
    }

    /// Whether it is read before anything is decided about the payment, or because a comparison wants that.
    private func isToBeRead(_ leg: Leg, _ taken: Considerations) -> Bool {
        leg.readWantedSince != nil || taken.payment?.verdict.decision == .readAll && !isFreshlyRead(leg)
    }

    /// Whether it is as it shall be, or rests until its caller says what shall become of it.
    private func isWithoutWish(_ leg: Leg) -> Bool {
        payment.isResting || payment.latch == .forward && forward(of: leg) == .done
    }

    private func wait(
        for decision: EffectDecision, leg index: Int, _ actions: [PaymentAction], _ context: MachineContext
    ) -> LegExplanation.Wait {
        switch decision {
        case .done: return .nothing
        case .awaitListing, .awaitCaller, .awaitAcknowledgement: return .event(decision)
        default: break
        }
        let isDue = actions.contains { action in
            switch action {
            case .send(let order): order.leg == index
            case .inquire(let order): order.leg == index
            case .alert: false
            }
        }
        if isDue { return .step(decision) }
        let provider = payment.legs[index].provider
        let moments = wakes.filter { $0.provider == provider && $0.at > context.now }.map(\.at)
        let moment = payment.legs[index].notBefore ?? moments.min()
        return moment.map { .moment(decision, $0) } ?? .step(decision)
    }
}
