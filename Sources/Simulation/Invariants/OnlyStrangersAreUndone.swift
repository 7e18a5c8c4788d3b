public import PaymentCore

/// Invariant 22. What a comparison undoes is undone once, and is nothing that a caller's payment carries out: nobody
/// who was told of a success loses it so.
public struct OnlyStrangersAreUndone: Invariant {
    /// Its number in the protocol.
    public static let number = 22
    /// What holds.
    public static let sentence =
        "what a comparison undoes is undone once, and nobody was or will be told that it succeeded"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// Payments whose caller was told that they succeeded, or that all is held.
    private var told: Set<PaymentID> = []

    /// What a run looked up so long ago it may still act on.
    private static let longestRun = Span.minutes(10)

    /// The invariant.
    public init() {}

    /// Judges an answer.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {
        guard case .settled(let state, _) = answer, state == .succeeded || state == .authorized else { return }
        told.insert(operation.payment)
        findings.require(
            evidence.rows.payment(operation.payment)?.isUndoing != true, at, operation.payment,
            "its caller is told \(state.rawValue) of what is undone")
    }

    /// Judges a payment that undoes a transaction.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        guard payment.isUndoing, commit.before?.legs.count != payment.legs.count else { return }
        findings.require(
            !told.contains(payment.id), at, payment.id, "it is undone, and its caller was told that it stands")
        let carried = evidence.rows.everyPayment().filter { !$0.isUndoing }
        for leg in payment.legs {
            let owner = carried.first { other in
                other.legs.contains { $0.provider == leg.provider && $0.primary.key == leg.primary.key }
            }
            findings.require(
                owner == nil, at, owner?.id, "leg \(leg.index) of \(payment.id) undoes what it carries out")
        }
    }

    /// Judges an order: what a payment of ours has is never undone as a stranger's.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        guard case .ordered(let order, _) = news, order.action == .undo,
            case .transaction(let key) = order.finding.subject, let provider = evidence.provider(order.finding.provider)
        else { return }
        if let transaction = provider.transaction(key, at: evidence.now) {
            let isOthers = transaction.store != nil && transaction.store != SimulatedProvider.ours
            findings.require(!isOthers, at, nil, "\(key) of another store is to be undone")
            findings.require(
                transaction.store != nil, at, nil, "\(key) names no store, and is to be undone by itself")
        }
        // Its caller may have come again a moment ago; then the order finds its place taken.
        guard let owner = TrueSides(key, at: provider, evidence).ours?.payment, !owner.isUndoing,
            owner.createdAt + OnlyStrangersAreUndone.longestRun < at
        else { return }
        findings.require(false, at, owner.id, "a leg that it carries out is to be undone as a stranger's")
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for provider in evidence.providers {
            for transaction in provider.transactions where transaction.isStranger {
                let isOurs = transaction.store == SimulatedProvider.ours && !transaction.isForeign
                findings.require(
                    isOurs || transaction.isLive, evidence.now, nil,
                    "\(transaction.key) at \(provider.name), no business of this store, does not stand any more")
            }
        }
        var undone: [EffectKey: PaymentID] = [:]
        for payment in evidence.rows.everyPayment() where payment.isUndoing {
            for leg in payment.legs {
                let other = undone.updateValue(payment.id, forKey: leg.primary.key)
                findings.require(
                    other == nil, evidence.now, payment.id, "leg \(leg.index) is undone by another payment as well")
                guard leg.quarantine == nil, !evidence.misjudged.contains(payment.id),
                    let provider = evidence.provider(leg.provider),
                    let transaction = provider.transaction(leg.primary.key, at: evidence.now)
                else { continue }
                findings.require(
                    !transaction.isLive, evidence.now, payment.id, "leg \(leg.index) was undone, and still stands")
            }
        }
    }
}

extension Payment {
    /// Whether it undoes what no payment of a caller knows.
    var isUndoing: Bool { caller.name == UnbookedTransaction.caller }
}
