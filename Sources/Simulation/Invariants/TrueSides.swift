internal import PaymentCore

/// What both sides of a transaction truly are, read from the books and from the rows, apart from everything by which
/// the shipped code compares them.
struct TrueSides {
    /// What is there of a transaction, in minor units.
    struct Side: Equatable, CustomStringConvertible {
        var held: Int64 = 0
        var taken: Int64 = 0
        var given: Int64 = 0

        /// Whether there is nothing.
        var isNothing: Bool { held == 0 && taken - given == 0 }

        var description: String {
            if held == 0, taken == 0 { return "nothing" }
            return held > 0 ? "\(held) held" : "\(taken) taken, \(given) given back"
        }
    }

    let provider: SimulatedProvider
    let ours: (payment: Payment, leg: Leg)?
    let transaction: SimulatedTransaction?
    /// The payment that the transaction names, if our rows have it.
    let namedPayment: Payment?
    let now: Timestamp

    init(_ key: EffectKey, at provider: SimulatedProvider, _ evidence: Evidence) {
        self.provider = provider
        now = evidence.now
        transaction = provider.transaction(key, at: evidence.now)
        namedPayment = transaction.flatMap { $0.isForeign ? nil : evidence.rows.payment($0.payment) }
        ours = TrueSides.owner(key, provider.name, first: namedPayment, evidence)
    }

    private static func owner(
        _ key: EffectKey, _ provider: ProviderName, first: Payment?, _ evidence: Evidence
    ) -> (payment: Payment, leg: Leg)? {
        func leg(_ payment: Payment) -> Leg? {
            payment.legs.first { $0.provider == provider && $0.primary.key == key }
        }
        if let first, let leg = leg(first) { return (first, leg) }
        for payment in evidence.rows.everyPayment() {
            if let leg = leg(payment) { return (payment, leg) }
        }
        return nil
    }

    /// Whose it is.
    var named: PaymentID? { ours?.payment.id ?? transaction?.payment }

    /// What the provider's books say.
    var theirSide: Side {
        guard let transaction else { return Side() }
        return Side(
            held: transaction.status == .authorized ? transaction.amount.value : 0, taken: transaction.captured,
            given: transaction.refunded)
    }

    /// What our rows say; nil while that is not known.
    var ourSide: Side? {
        guard let (payment, leg) = ours else { return Side() }
        if leg.capturedAmount.value > 0 {
            let given = leg.isCompensated ? leg.capturedAmount : payment.refundedAmount(ofLeg: leg.index)
            return Side(taken: leg.capturedAmount.value, given: given.value)
        }
        if leg.gone != nil { return Side() }
        return leg.knowledge?.status == .authorized ? Side(held: leg.amount.value) : nil
    }

    /// Whether what is there differs.
    var differ: Bool {
        guard let ourSide else { return !theirSide.isNothing }
        if ourSide.isNothing, theirSide.isNothing { return false }
        return ourSide != theirSide
    }

    /// Whether people have to decide about it on our side.
    var isWithPeople: Bool {
        guard let (payment, leg) = ours else { return false }
        return leg.quarantine != nil
            || payment.refunds.contains { refund in
                refund.parts.contains { $0.leg == leg.index && $0.state == .quarantined }
            }
    }

    /// What a difference may be called.
    var classes: Set<ComparisonClass> {
        guard ours == nil else {
            if theirSide.isNothing, transaction == nil { return [.oursOnly] }
            return [.statusDiffers, .amountDiffers, .refundDiffers, .lateReversal]
        }
        if transaction?.isForeign == true { return [.foreign] }
        let hasLeg = namedPayment?.legs.contains { $0.provider == provider.name } ?? false
        return hasLeg ? [.duplicate] : [.orphan]
    }

    /// When a side changed last, by what either has of it: what is gone bears no date.
    var writtenAt: Timestamp {
        let never = Timestamp(milliseconds: 0)
        let here = ours?.payment.updatedAt ?? namedPayment?.updatedAt
        return max(transaction?.changedAt ?? never, here ?? never)
    }

    /// When a transaction went that somebody took out of the provider's books.
    var goneAt: Timestamp? { ours.flatMap { provider.goneAt[$0.leg.primary.key] } }

    /// When a side changed last.
    var changedAt: Timestamp { max(writtenAt, goneAt ?? writtenAt) }

    /// Whether the provider shows the transaction as its books have it.
    var isShown: Bool {
        guard let transaction else { return true }
        if transaction.contradicts { return false }
        guard let retention = provider.contract.statusRetention else { return true }
        return now - transaction.changedAt <= retention
    }

    /// Whether the provider shows another amount than its books have.
    var isShownOtherwise: Bool { transaction?.contradicts ?? false }

    /// Whether somebody else changed it: what was given back may then be as much as we gave back, and not by us.
    var wasChangedByOthers: Bool { transaction?.changedOutside ?? false }
}
