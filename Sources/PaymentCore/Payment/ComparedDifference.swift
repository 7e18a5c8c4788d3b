/// What a comparison of both sides found of one leg, and wants done about it.
public struct ComparedDifference: Sendable, Hashable {
    /// The leg's index.
    public let leg: Int
    /// The run that found it.
    public let run: ComparisonRunID
    /// What was found.
    public let finding: ComparisonClass
    /// The row of the comparison's table that found it.
    public let row: String
    /// What the policy wants.
    public let action: ComparisonAction
    /// Whether the payment had ended when it was found: what was found before its end says nothing against the end.
    public let hadEnded: Bool
    /// What the provider shows given back, and our books do not have.
    public let refunds: [RefundPosition]

    /// A difference.
    public init(
        leg: Int, run: ComparisonRunID, finding: ComparisonClass, row: String, action: ComparisonAction,
        hadEnded: Bool = true, refunds: [RefundPosition] = []
    ) {
        self.leg = leg
        self.run = run
        self.finding = finding
        self.row = row
        self.action = action
        self.hadEnded = hadEnded
        self.refunds = refunds
    }

    /// What is to be done about a finding that has a leg of ours; `nil` for others.
    public init?(_ finding: ComparisonFinding, action: ComparisonAction, run: ComparisonRunID) {
        guard let ours = finding.ours else { return nil }
        self.init(
            leg: ours.leg, run: run, finding: finding.finding, row: finding.row, action: action,
            hadEnded: ours.state.isFinal, refunds: finding.refundsOfOthers)
    }
}

/// A transaction that a provider has and our books do not, and that is to be undone.
public struct UnbookedTransaction: Sendable, Hashable {
    /// The payments by which such transactions are undone belong to this caller, who has no token: no configured caller
    /// may have the name.
    public static let caller = "reconciled-undo"

    /// The provider.
    public let provider: ProviderName
    /// The transaction's key there.
    public let key: EffectKey
    /// The amount of its hold or sale.
    public let amount: Money
    /// The payment that it names.
    public let payment: PaymentID
    /// When it changed last, by the provider's clock; before that it was accepted there.
    public let updatedAt: Timestamp?
    /// The run that found it.
    public let run: ComparisonRunID
    /// What was found.
    public let finding: ComparisonClass
    /// Whose the payment is that undoes it.
    public let owner: CallerID
    /// The key of the payment that undoes it: the same transaction is undone by the same payment, however often, and by
    /// whichever run, it is found.
    public let ownerKey: IdempotencyKey
    /// Nobody here knows what was charged, and undoing does not need it.
    let instrument: Instrument

    /// The transaction of a finding; `nil` if it is not about one that can be undone: it shows no amount, names nobody,
    /// or names no store. What names no store may be another's, whose callers were told that it succeeded.
    public init?(_ finding: ComparisonFinding, run: ComparisonRunID) {
        guard let (theirs, amount, payment) = UnbookedTransaction.shown(by: finding) else { return nil }
        let digest = Digest(of: ["reconciled.undo.1", finding.provider.name, theirs.key.text])
        do {
            owner = try CallerID(UnbookedTransaction.caller)
            ownerKey = try IdempotencyKey("undo-" + Digest.hex(digest.bytes.prefix(20)))
            instrument = try Instrument(token: "unknown")
        } catch {
            return nil  // Not reached: these names have the form that is asked for.
        }
        provider = finding.provider
        key = theirs.key
        self.amount = amount
        self.payment = payment
        updatedAt = theirs.updatedAt
        self.run = run
        self.finding = finding.finding
    }

    /// Whether a finding shows a transaction that can be undone.
    public static func isShown(by finding: ComparisonFinding) -> Bool { shown(by: finding) != nil }

    private static func shown(
        by finding: ComparisonFinding
    ) -> (theirs: ListedPosition, amount: Money, payment: PaymentID)? {
        guard finding.finding == .orphan || finding.finding == .duplicate, let theirs = finding.theirs,
            let amount = theirs.amount, !amount.isZero, let payment = theirs.payment, finding.ours == nil,
            theirs.store != nil, !theirs.isShared
        else { return nil }
        return (theirs, amount, payment)
    }
}
