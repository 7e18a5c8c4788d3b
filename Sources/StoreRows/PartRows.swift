package import PaymentCore
package import Reconciler

/// A leg as a row of `legs`.
package struct LegRow: Sendable {
    /// Its place in the payment.
    package let leg: Int
    /// The provider.
    package let provider: String
    /// Whether it is the payment's first leg there: a listing by provider names a payment once.
    package let isFirstAtProvider: Bool
    /// What was asked, in minor units.
    package let amount: Int64
    /// What was taken, in minor units.
    package let captured: Int64
    /// What the provider said last.
    package let status: String?
    /// Where it stands.
    package let standing: String
    /// When the payment was created.
    package let createdAt: Int64
    /// The key of its authorization or sale.
    package let key: String
    /// The currency of its amounts.
    package let currency: String
    /// What was given back, as JSON; `nil` where nothing was.
    package let refunds: String?
    /// Where its money stands (``BookedPosition/Standing``).
    package let stands: String
    /// Who is still at work on it (``BookedPosition/Work``).
    package let work: String
    /// When the latest of what its provider did was asked for first (``BookedPosition/askedAt``).
    package let askedAt: Int64?

    /// The rows of a payment's legs.
    package static func rows(of payment: Payment) throws(StoreFailure) -> [LegRow] {
        var seen: Set<ProviderName> = []
        var rows: [LegRow] = []
        for (leg, position) in zip(payment.legs, payment.bookedPositions) {
            rows.append(
                LegRow(
                    leg: leg.index, provider: leg.provider.name,
                    isFirstAtProvider: seen.insert(leg.provider).inserted, amount: leg.amount.value,
                    captured: leg.capturedAmount.value, status: leg.knowledge?.status.rawValue,
                    standing: standing(of: leg), createdAt: payment.createdAt.milliseconds, key: position.key.text,
                    currency: position.amount.currency.code, refunds: try RefundColumn.text(position.refunds),
                    stands: position.standing.rawValue, work: position.work.rawValue,
                    askedAt: position.askedAt?.milliseconds))
        }
        return rows
    }

    private static func standing(of leg: Leg) -> String {
        if leg.quarantine != nil { return "quarantined" }
        if leg.gone != nil { return "gone" }
        return leg.isLost ? "lost" : "open"
    }
}

extension WaitingOperation {
    /// An operation that waits, of its columns; `nil` if one of them is unknown.
    package init?(stored operation: String, _ waitsFor: String) {
        guard let operation = IdempotencyRecord.Operation(rawValue: operation),
            let waitsFor = WaitsFor(rawValue: waitsFor)
        else { return nil }
        self.init(operation, for: waitsFor)
    }
}

/// An effect as a row of `effects`: by it, what a provider reports under a key is found.
package struct EffectRow: Sendable {
    /// The provider.
    package let provider: String
    /// The key under which the provider knows it.
    package let key: String
    /// Its place in the payment.
    package let leg: Int
    /// What it does.
    package let kind: String
    /// What was asked, in minor units.
    package let amount: Int64
    /// Which of several it is.
    package let generation: Int
    /// How often it was tried.
    package let attempts: Int
    /// The worst outcome.
    package let worst: Int
    /// Where it stands.
    package let status: String

    /// The rows of all effects of a payment.
    package static func rows(of payment: Payment) -> [EffectRow] {
        payment.legs.flatMap { leg in
            let refunds = payment.refunds.flatMap { refund in
                refund.parts.filter { $0.leg == leg.index }
                    .map { EffectRow($0.effect, leg: leg, status: $0.state.rawValue) }
            }
            let others = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0 }
            return others.map { EffectRow($0, leg: leg, status: status(of: $0)) } + refunds
        }
    }

    private init(_ effect: Effect, leg: Leg, status: String) {
        provider = leg.provider.name
        key = effect.key.text
        self.leg = leg.index
        kind = effect.kind.rawValue
        amount = effect.amount.value
        generation = effect.generation
        attempts = effect.attempts
        worst = effect.worst.rawValue
        self.status = status
    }

    private static func status(of effect: Effect) -> String {
        if effect.open != nil { return "open" }
        if effect.acceptedAt != nil { return "accepted" }
        return effect.attempts == 0 ? "new" : "tried"
    }
}
