/// What our books say of one leg: everything that a comparison looks at, without the payment itself.
///
/// Stores keep it beside the leg, derived anew from the payment at every commit, so that a page of a listing is
/// compared without reading a payment.
public struct BookedPosition: Sendable, Hashable, Codable {
    /// Where the leg's money stands.
    public enum Standing: String, Sendable, Hashable, Codable, CaseIterable {
        /// Not known yet.
        case undecided
        /// Held.
        case held
        /// Taken, and not all of it given back.
        case taken
        /// Taken, and given back.
        case givenBack = "given_back"
        /// Nothing was taken, and nothing is held.
        case ended
    }

    /// Who is still at work on it.
    public enum Work: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody: it rests as it is.
        case none
        /// The daemon: a request, an inquiry or a decision is outstanding.
        case underWay = "under_way"
        /// People: it is quarantined.
        case people
    }

    /// The payment.
    public let payment: PaymentID
    /// The leg's index.
    public let leg: Int
    /// The provider.
    public let provider: ProviderName
    /// The key of the authorization or sale.
    public let key: EffectKey
    /// The leg's amount.
    public let amount: Money
    /// What was taken.
    public let captured: Money
    /// What was given back, refund by refund, in order of their keys: what the caller asked for and what undid the leg.
    public let refunds: [RefundPosition]
    /// Where the money stands.
    public let standing: Standing
    /// Who is still at work on it.
    public let work: Work
    /// The payment's state.
    public let state: PaymentState
    /// When the payment changed last, by the store's clock.
    public let updatedAt: Timestamp
    /// When the latest of what its provider did for it was asked for first: the provider did that then, or later. Our
    /// row may have learned of it days after. `nil` in rows of a version that did not note it.
    public let askedAt: Timestamp?

    /// A position as it is stored.
    public init(
        payment: PaymentID, leg: Int, provider: ProviderName, key: EffectKey, amount: Money, captured: Money,
        refunds: [RefundPosition], standing: Standing, work: Work, state: PaymentState, updatedAt: Timestamp,
        askedAt: Timestamp? = nil
    ) {
        self.payment = payment
        self.leg = leg
        self.provider = provider
        self.key = key
        self.amount = amount
        self.captured = captured
        self.refunds = refunds
        self.standing = standing
        self.work = work
        self.state = state
        self.updatedAt = updatedAt
        self.askedAt = askedAt
    }

    /// What was given back.
    public var refunded: Money {
        do {
            return try Money.sum(refunds.map(\.amount), in: captured.currency)
        } catch {
            return captured  // Parts are of the leg's currency and bounded by what was captured.
        }
    }

    /// Captured less given back.
    public var net: NetAmount { NetAmount(captured: captured, refunded: refunded) }

    /// Whether the payment's machine can still act on what it learns. A payment that succeeded keeps its state; one
    /// that failed or was canceled undoes what appears later.
    public var isActionable: Bool { work != .none || state != .succeeded }
}

extension Payment {
    /// What its books say of each leg, in order.
    public var bookedPositions: [BookedPosition] { legs.map { position(of: $0) } }

    private func position(of leg: Leg) -> BookedPosition {
        let parts = refunds.flatMap(\.parts).filter { $0.leg == leg.index }
        var given = parts.filter { $0.state == .succeeded }
            .map { RefundPosition(key: $0.effect.key, amount: $0.effect.amount) }
        given += refundsFound(ofLeg: leg.index).map { RefundPosition(key: $0.key, amount: $0.amount) }
        if leg.isCompensated, !leg.capturedAmount.isZero { given = undoing(leg) }
        return BookedPosition(
            payment: id, leg: leg.index, provider: leg.provider, key: leg.primary.key, amount: leg.amount,
            captured: leg.capturedAmount, refunds: given.sorted { $0.key < $1.key },
            standing: standing(of: leg, givenBack: given), work: work(on: leg, parts), state: state,
            updatedAt: updatedAt, askedAt: askedAt(of: leg, parts))
    }

    private func askedAt(of leg: Leg, _ parts: [Refund.Part]) -> Timestamp {
        var done = [leg.primary] + parts.filter { $0.state == .succeeded }.map(\.effect)
        if !leg.capturedAmount.isZero { done += [leg.capture].compactMap { $0 } }
        if leg.gone != nil { done += [leg.void, leg.compensation].compactMap { $0 } }
        return done.compactMap(\.firstIntentAt).max() ?? createdAt
    }

    /// What gave back all of a leg that was undone: the refunds that were seen. Where a completed sale was reversed
    /// by a cancel, or people say so, there is none that has a key of its own.
    private func undoing(_ leg: Leg) -> [RefundPosition] {
        let seen = (leg.knowledge?.refunds ?? []).filter { $0.state == .succeeded }
            .map { RefundPosition(key: $0.key, amount: $0.amount) }
        if seen.reduce(Int64(0), { $0 &+ $1.amount.value }) == leg.capturedAmount.value { return seen }
        return [RefundPosition(key: leg.compensation?.key ?? leg.primary.key, amount: leg.capturedAmount)]
    }

    private func standing(of leg: Leg, givenBack: [RefundPosition]) -> BookedPosition.Standing {
        if !leg.capturedAmount.isZero {
            let left = givenBack.reduce(leg.capturedAmount.value) { $0 - $1.amount.value }
            return left <= 0 ? .givenBack : .taken
        }
        if leg.gone != nil { return .ended }
        // What people decide about is where it was seen: both sides know of the hold, and its quarantine tells of it.
        if leg.quarantine != nil, leg.knowledge?.status == .authorized { return .held }
        return leg.isHeld(inRecovery: recovery) ? .held : .undecided
    }

    /// Whether a leg is captured, and its payment goes on only when people decide about another one. That may take
    /// days, and what others do to the leg is seen meanwhile (seed 1244803314).
    private func isCapturedBesidePeople(_ leg: Leg, _ parts: [Refund.Part]) -> Bool {
        conclusion == nil && latch == .forward && !leg.capturedAmount.isZero && leg.readWantedSince == nil
            && !parts.contains { $0.state == .processing } && legs.contains { $0.quarantine != nil }
    }

    private func work(on leg: Leg, _ parts: [Refund.Part]) -> BookedPosition.Work {
        if leg.quarantine != nil || parts.contains(where: { $0.state == .quarantined }) { return .people }
        if isCapturedBesidePeople(leg, parts) { return .people }
        if parts.contains(where: { $0.state == .processing }) || recovery != nil { return .underWay }
        if isSearched(leg: leg.index) { return .underWay }
        if let conclusion { return conclusion.state != .succeeded && leg.gone == nil ? .underWay : .none }
        if leg.readWantedSince != nil { return .underWay }
        return isResting || leg.gone != nil ? .none : .underWay
    }
}
