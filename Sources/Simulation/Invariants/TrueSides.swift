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
    /// All transactions under the key.
    let all: [SimulatedTransaction]
    /// The payment that the transaction names, if our rows have it.
    let namedPayment: Payment?
    let now: Timestamp

    init(_ key: EffectKey, at provider: SimulatedProvider, _ evidence: Evidence) {
        self.provider = provider
        now = evidence.now
        transaction = provider.transaction(key, at: evidence.now)
        all = provider.transactions(under: key, at: evidence.now)
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
        all.reduce(into: Side()) { side, transaction in
            side.held += transaction.status == .authorized ? transaction.amount.value : 0
            side.taken += transaction.captured
            side.given += transaction.refunded
        }
    }

    /// Whether another store made it.
    var isOfOtherStore: Bool { ours == nil && transaction?.store == SimulatedProvider.others }

    /// What our rows say; nil while that is not known.
    var ourSide: Side? {
        guard let (payment, leg) = ours else { return Side() }
        if leg.capturedAmount.value > 0 {
            let given = leg.isCompensated ? leg.capturedAmount : payment.refundedAmount(ofLeg: leg.index)
            return Side(taken: leg.capturedAmount.value, given: given.value)
        }
        if leg.gone != nil { return Side() }
        guard let known = leg.knowledge, known.status == .authorized else { return nil }
        // A hold that was declined first, and was taken by a late copy, is nothing that our rows vouch for; once it is
        // with people, they have it before them (seed 3609419327).
        if leg.isLost, leg.quarantine == nil { return nil }
        // What was read before the end of lost requests was known is not known any more once rows were lost.
        if let recovery = payment.recovery, known.began < recovery.readsCountFrom { return nil }
        return Side(held: leg.amount.value)
    }

    /// Whether what is there differs.
    var differ: Bool {
        if isOfOtherStore { return false }
        guard let ourSide else { return !theirSide.isNothing }
        if ourSide.isNothing, theirSide.isNothing { return false }
        return ourSide != theirSide
    }

    /// Whether ours ended, and another under its key holds or took money: the sums may agree, and nothing else does
    /// (seed 3042848539).
    var isReplaced: Bool { transaction?.isLive == false && all.contains(where: \.isLive) }

    /// Whether we do not know what it is, and the provider does not show any more what became of it: what it showed
    /// last may still stand, for all that anybody can see (seed 3042850265).
    var isForgotten: Bool { ours != nil && ourSide == nil && !isShown }

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
            if all.count(where: \.isLive) > 1 { return [.duplicate] }
            let classes: Set<ComparisonClass> = [.statusDiffers, .amountDiffers, .refundDiffers, .lateReversal]
            // Where it cannot be told from a second transaction, what changed against all rules counts as one. What is
            // asked for after another transaction under the key was shown may deny that one. One of two may be gone
            // since both were shown: a listing of what changed does not say so.
            if all.count > 1 || goneAt != nil { return classes.union([.duplicate, .contradiction]) }
            return provider.saysWhenRecorded ? classes : classes.union([.duplicate])
        }
        if transaction?.isForeign == true { return [.foreign] }
        let hasLeg = namedPayment?.legs.contains { $0.provider == provider.name } ?? false
        return hasLeg ? [.duplicate] : [.orphan]
    }

    /// When a side changed last, by what either has of it: what is gone bears no date.
    var writtenAt: Timestamp { max(all.map(\.changedAt).max() ?? .init(milliseconds: 0), writtenHereAt) }

    /// When our side was written last.
    private var writtenHereAt: Timestamp {
        ours?.payment.updatedAt ?? namedPayment?.updatedAt ?? Timestamp(milliseconds: 0)
    }

    /// When what a run can see was written last. A listing shows a transaction in the window of its latest change only.
    /// One that changed after the window is seen by the question for its key alone, and that shows one of several
    /// (seeds 1250203066, 2012487766): how young the change of another is cannot be seen.
    func seenAt(by run: ComparisonRun) -> Timestamp {
        var seen = all.map(\.changedAt).filter { $0 < run.window.to }
        if provider.contract.inquiry == .byOwnKey, let transaction { seen.append(transaction.changedAt) }
        return max(seen.max() ?? .init(milliseconds: 0), writtenHereAt)
    }

    /// Whether the listing withheld the key for a time after a second transaction was entered under it.
    var wasWithheldBesideAnother: Bool {
        guard all.count > 1, let key = all.first?.key, let until = provider.hiddenUntil[key] else { return false }
        return all.contains { $0.changedAt < until }
    }

    /// When a transaction went that somebody took out of the provider's books.
    var goneAt: Timestamp? { ours.flatMap { provider.goneAt[$0.leg.primary.key] } }

    /// Whether the provider lost what we know as taken: then it is missing there, though all of it was given back and
    /// the sums of both sides are nothing (seed 3223003059851).
    var isMissing: Bool { transaction == nil && goneAt != nil && ourSide.map { $0.taken > 0 } ?? false }

    /// When a side changed last.
    var changedAt: Timestamp { max(writtenAt, goneAt ?? writtenAt) }

    /// Whether the provider shows the transaction as its books have it.
    var isShown: Bool {
        if isShownOtherwise { return false }
        guard let retention = provider.contract.statusRetention else { return true }
        return all.allSatisfy { now - $0.changedAt <= retention }
    }

    /// Whether the provider shows another amount than its books have.
    var isShownOtherwise: Bool { all.contains(where: \.contradicts) }

    /// Whether somebody else changed it: what was given back may then be as much as we gave back, and not by us.
    var wasChangedByOthers: Bool { all.contains(where: \.changedOutside) }
}
