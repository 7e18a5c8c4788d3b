internal import GRDB
internal import PaymentCore

/// A leg as a row of `legs`.
struct LegRow: Sendable {
    let leg: Int
    let provider: String
    let isFirstAtProvider: Bool
    let amount: Int64
    let captured: Int64
    let status: String?
    let standing: String
    let createdAt: Int64

    /// The rows of a payment's legs.
    static func rows(of payment: Payment) -> [LegRow] {
        var seen: Set<ProviderName> = []
        return payment.legs.map { leg in
            LegRow(
                leg: leg.index, provider: leg.provider.name,
                isFirstAtProvider: seen.insert(leg.provider).inserted, amount: leg.amount.value,
                captured: leg.capturedAmount.value, status: leg.knowledge?.status.rawValue,
                standing: standing(of: leg), createdAt: payment.createdAt.milliseconds)
        }
    }

    private static func standing(of leg: Leg) -> String {
        if leg.quarantine != nil { return "quarantined" }
        if leg.gone != nil { return "gone" }
        if leg.isCompensated { return "compensated" }
        return leg.lost == nil ? "open" : "lost"
    }

    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
                    created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (payment_id, leg) DO UPDATE
                SET captured = excluded.captured, status = excluded.status, standing = excluded.standing
                WHERE captured <> excluded.captured OR status IS NOT excluded.status
                    OR standing <> excluded.standing
                """
        ).execute(arguments: [
            payment, leg, provider, isFirstAtProvider, amount, captured, status, standing, createdAt,
        ])
    }
}

/// An effect as a row of `effects`: by it, what a provider reports under a key is found.
struct EffectRow: Sendable {
    let provider: String
    let key: String
    let leg: Int
    let kind: String
    let amount: Int64
    let generation: Int
    let attempts: Int
    let worst: Int
    let status: String

    /// The rows of all effects of a payment.
    static func rows(of payment: Payment) -> [EffectRow] {
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

    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO effects (provider, key, payment_id, leg, kind, amount, generation, attempts, worst, status)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (provider, key) DO UPDATE
                SET attempts = excluded.attempts, worst = excluded.worst, status = excluded.status
                WHERE attempts <> excluded.attempts OR worst <> excluded.worst OR status <> excluded.status
                """
        ).execute(arguments: [provider, key, payment, leg, kind, amount, generation, attempts, worst, status])
    }
}
