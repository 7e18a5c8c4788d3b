public import PaymentCore

/// What a provider's books say of a leg, or of everything in one currency. Amounts are in minor units.
public struct BookFigures: Sendable, Hashable {
    /// What was taken.
    public var captured: Int64 = 0
    /// What was given back, at the provider's own console or asked for by us.
    public var refunded: Int64 = 0
    /// How much of what was given back was given back at the provider's own console.
    public var refundedOutside: Int64 = 0
    /// By how much the net is more than what was done by us, because somebody took something out of the books.
    public var removedOutside: Int64 = 0
    /// What is held and not taken.
    public var held: Int64 = 0
    /// How many transactions hold an amount, or took one and did not give it back.
    public var liveCharges = 0

    /// Nothing.
    public init() {}

    /// What was taken and not given back.
    public var net: Int64 { captured - refunded }

    mutating func count(_ transaction: SimulatedTransaction) {
        captured += transaction.captured
        refunded += transaction.refunded
        refundedOutside += transaction.refundedOutside
        removedOutside += transaction.removedOutside
        held += transaction.status == .authorized ? transaction.amount.value : 0
        liveCharges += transaction.isLive ? 1 : 0
    }
}

extension SimulatedProvider {
    /// The transaction that is known under a key at `now`; `nil` also if it was lost.
    public func transaction(_ key: EffectKey, at now: Timestamp) -> SimulatedTransaction? {
        let known = indicesByKey[key]?.last.map { transactions[$0].settled(at: now) }
        return known.flatMap { $0.isLost ? nil : $0 }
    }

    /// Every transaction under a key that was not lost, in the order of their first use.
    func transactions(under key: EffectKey, at now: Timestamp) -> [SimulatedTransaction] {
        (indicesByKey[key] ?? []).map { transactions[$0].settled(at: now) }.filter { !$0.isLost }
    }

    /// Every transaction of a leg that was not lost, under whatever key, in the order of their first use.
    public func transactions(of payment: PaymentID, leg: Int, at now: Timestamp) -> [SimulatedTransaction] {
        (indicesByLeg[LegPlace(payment: payment, leg: leg)] ?? []).map { transactions[$0].settled(at: now) }
            .filter { !$0.isLost }
    }

    /// What the books say of a leg at `now`, over every key.
    public func figures(of payment: PaymentID, leg: Int, at now: Timestamp) -> BookFigures {
        var figures = BookFigures()
        for index in indicesByLeg[LegPlace(payment: payment, leg: leg)] ?? [] {
            if transactions[index].isDue(at: now) {
                figures.count(transactions[index].settled(at: now))
            } else {
                figures.count(transactions[index])
            }
        }
        return figures
    }

    /// What the books say under a key at `now`.
    func figures(of key: EffectKey, at now: Timestamp) -> BookFigures {
        var figures = BookFigures()
        for index in indicesByKey[key] ?? [] { figures.count(transactions[index].settled(at: now)) }
        return figures
    }

    /// When anything changed last.
    func lastChange(at now: Timestamp) -> Timestamp? {
        transactions.map { $0.settled(at: now).changedAt }.max()
    }

    /// What the books say at `now`, per currency, in the order of their codes.
    public func sums(at now: Timestamp) -> [(currency: Currency, figures: BookFigures)] {
        var sums: [(currency: Currency, figures: BookFigures)] = []
        for transaction in transactions where !transaction.isStranger {
            let currency = transaction.amount.currency
            let index: Int
            if let known = sums.firstIndex(where: { $0.currency == currency }) {
                index = known
            } else {
                sums.append((currency, BookFigures()))
                index = sums.count - 1
            }
            sums[index].figures.count(transaction.settled(at: now))
        }
        return sums.sorted { $0.currency.code < $1.currency.code }
    }
}
