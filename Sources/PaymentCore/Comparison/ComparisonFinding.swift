/// A difference that a run found, with both sides as its evidence.
public struct ComparisonFinding: Sendable, Hashable, Codable {
    /// The provider.
    public let provider: ProviderName
    /// What it is about.
    public let subject: DiscrepancySubject
    /// What was found.
    public let finding: ComparisonClass
    /// The row of the table that found it.
    public let row: String
    /// What our books say of the key.
    public let ours: BookedPosition?
    /// The leg of ours that a transaction names whose key is not ours.
    public let named: BookedPosition?
    /// What the provider shows.
    public let theirs: ListedPosition?
    /// The money that is not proven, where it is about that.
    public let balance: BalanceProof?

    /// A position that differs.
    public init(
        provider: ProviderName, key: EffectKey, _ verdict: ComparisonTable.Verdict, ours: BookedPosition?,
        named: BookedPosition?, theirs: ListedPosition?
    ) {
        self.provider = provider
        subject = .transaction(key)
        finding = verdict.finds
        row = verdict.row
        self.ours = ours
        self.named = named
        self.theirs = theirs
        balance = nil
    }

    /// What the provider shows given back, refund by refund, that our books do not have, where they differ in nothing
    /// else.
    public var refundsOfOthers: [RefundPosition] {
        guard row == ComparisonTable.refundedByOthers, let ours, let theirs else { return [] }
        let known = Set(ours.refunds.map(\.key))
        return theirs.refunds.filter { !known.contains($0.key) }
    }

    /// Money that is not proven.
    public init(provider: ProviderName, unproven balance: BalanceProof) {
        self.provider = provider
        subject = .balance(balance.currency)
        finding = .unproven
        row = "balance.unproven"
        ours = nil
        named = nil
        theirs = nil
        self.balance = balance
    }

    /// The discrepancy that it is.
    public var id: DiscrepancyID { DiscrepancyID(provider: provider, subject: subject) }
    /// The payment that it is about: its own, or the one that the transaction names.
    public var payment: PaymentID? { ours?.payment ?? named?.payment ?? theirs?.payment }
    /// The leg that it is about.
    public var leg: Int? { ours?.leg ?? named?.leg ?? theirs?.leg }

    /// The money in question: by how much the sides' nets differ; where they do not, the amount that is held, asked for
    /// or hidden. `nil` where no amount can be read.
    public var atRisk: Money? {
        if let balance { return ComparisonFinding.money(balance.unexplained.magnitude, balance.currency) }
        let shown = theirs?.amount ?? ours?.amount
        guard let currency = shown?.currency else { return nil }
        if let ours, ours.amount.currency != currency { return max(shown, ours.amount) }
        let (difference, overflow) = (ours?.net.value ?? 0).subtractingReportingOverflow(theirs?.net?.value ?? 0)
        if overflow { return ComparisonFinding.money(.max, currency) }
        if difference != 0 { return ComparisonFinding.money(difference.magnitude, currency) }
        if finding == .amountDiffers, let ours, let theirs = theirs?.amount {
            return ComparisonFinding.money((ours.amount.value - theirs.value).magnitude, currency)
        }
        return shown
    }

    private func max(_ shown: Money?, _ booked: Money) -> Money {
        guard let shown, shown.value > booked.value else { return booked }
        return shown
    }

    private static func money(_ magnitude: UInt64, _ currency: Currency) -> Money {
        do {
            return try Money(Int64(clamping: magnitude), currency)
        } catch {
            return .zero(currency)  // Not reached: a magnitude is not negative.
        }
    }
}
