internal import MemoryStore
public import PaymentCore

/// Invariant 1. What we say was taken and given back is what the providers' books say.
public struct MoneyMatchesBooks: Invariant {
    /// Its number in the protocol.
    public static let number = 1
    /// What holds.
    public static let sentence = "captured − refunded = what the books say, per currency and provider"
    /// What did not.
    public private(set) var findings = Findings(number)
    /// Whether rows that somebody relied on were lost.
    private var lostRows = false

    /// The sums of one provider in one currency: ours, and the provider's over the same legs.
    private struct Account {
        let provider: ProviderName
        let currency: Currency
        var ours: Int64 = 0
        /// Legs that nobody can speak for yet, by the books: they are left out on both sides.
        var leftOut: Int64 = 0
        /// Made at the provider's own console; a final payment keeps its state, so it may or may not show.
        var outside: Int64 = 0
        /// Taken out of the books by others. Our side keeps what it knew, or learns of it.
        var more: Int64 = 0
        var less: Int64 = 0
    }

    /// The invariant.
    public init() {}

    /// Notes what a promotion lost.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        lostRows = lostRows || rowsLost > 0
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        var accounts: [Account] = []
        for payment in evidence.rows.everyPayment() {
            for leg in payment.legs { judge(leg, of: payment, &accounts, evidence) }
        }
        for provider in evidence.providers {
            for (currency, figures) in provider.sums(at: evidence.now) {
                let account =
                    accounts.first { $0.provider == provider.name && $0.currency == currency }
                    ?? Account(provider: provider.name, currency: currency)
                let books = figures.net - account.leftOut
                findings.require(
                    books - account.more <= account.ours && account.ours <= books + account.outside + account.less,
                    evidence.now, nil,
                    "\(provider.name) has \(books) \(currency) in its books, we have \(account.ours)")
            }
        }
    }

    private mutating func judge(
        _ leg: Leg, of payment: Payment, _ accounts: inout [Account], _ evidence: Evidence
    ) {
        // What somebody else made is in no account of ours; whether it is undone, 22 judges.
        if payment.isUndoing, evidence.provider(leg.provider)?.isStranger(leg.primary.key) == true { return }
        let accountIndex = MoneyMatchesBooks.account(leg, &accounts)
        let figures = evidence.figures(payment.id, leg)
        guard payment.conclusion != nil, leg.quarantine == nil,
            !MoneyMatchesBooks.hasRefundInDoubt(payment, leg), !isRefundLost(leg, evidence),
            !MoneyMatchesBooks.isTakenAnew(leg, evidence), !evidence.misjudged.contains(payment.id)
        else {
            accounts[accountIndex].leftOut += figures.net
            return
        }
        let ours = leg.capturedAmount.value - payment.refundedAmount(ofLeg: leg.index).value
        accounts[accountIndex].ours += ours
        accounts[accountIndex].outside += figures.refundedOutside
        let (more, less) = (max(0, figures.removedOutside), max(0, -figures.removedOutside))
        accounts[accountIndex].more += more
        accounts[accountIndex].less += less
        findings.require(
            figures.net - more <= ours && ours <= figures.net + figures.refundedOutside + less, evidence.now,
            payment.id,
            "leg \(leg.index) at \(leg.provider): \(figures.net) in the books, \(ours) in our rows")
    }

    /// Whether a refund went with lost rows, and its caller did not come again for it: people are told that more was
    /// given back than we know of. The comparison over the loss takes it in where refunds are shown one by one.
    private func isRefundLost(_ leg: Leg, _ evidence: Evidence) -> Bool {
        guard lostRows, let provider = evidence.provider(leg.provider) else { return false }
        let comparisons = evidence.rows.comparisons
        let isTakenIn =
            provider.contract.refundVisibility == .byKey
            && comparisons.runs.values.contains {
                $0.provider == leg.provider && $0.isOverLostRows == true && $0.state == .completed
            }
        let id = DiscrepancyID(provider: leg.provider, subject: .transaction(leg.primary.key))
        guard !isTakenIn, let found = comparisons.discrepancies[id], found.state != .closed else { return false }
        return found.finding == .lateReversal
    }

    /// Whether its provider lost it altogether, and a late copy of the first request was executed once more: what was
    /// given back is lost with the first, and a comparison tells people (seed 1153057004).
    private static func isTakenAnew(_ leg: Leg, _ evidence: Evidence) -> Bool {
        guard let provider = evidence.provider(leg.provider), provider.goneAt[leg.primary.key] != nil else {
            return false
        }
        let id = DiscrepancyID(provider: leg.provider, subject: .transaction(leg.primary.key))
        guard let found = evidence.rows.comparisons.discrepancies[id], found.state != .closed else { return false }
        return provider.transactions(under: leg.primary.key, at: evidence.now).contains(where: \.isLive)
    }

    private static func hasRefundInDoubt(_ payment: Payment, _ leg: Leg) -> Bool {
        payment.refunds.contains { refund in
            refund.parts.contains { $0.leg == leg.index && !$0.state.isFinal }
        }
    }

    private static func account(_ leg: Leg, _ accounts: inout [Account]) -> Int {
        let currency = leg.amount.currency
        if let accountIndex = accounts.firstIndex(where: { $0.provider == leg.provider && $0.currency == currency }) {
            return accountIndex
        }
        accounts.append(Account(provider: leg.provider, currency: currency))
        return accounts.count - 1
    }
}
