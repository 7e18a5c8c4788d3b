internal import MemoryStore
internal import PaymentCore

/// Invariant 20. Whatever differs between the sides at the end is a discrepancy that is not closed, under the right
/// name.
///
/// Left out is what nobody can see: transactions that their provider forgot, or shows otherwise than they are; and
/// those that it took out of its books after it had shown them: a listing of what changed says nothing of what is gone;
/// and a second transaction under a key that the listing withheld: whoever asks for the key is shown the other one;
/// and a change that the listing withheld until its window was read; and a change past what was read of a listing, of
/// what people or a runner have in hand: the next window shows it.
/// Providers that list nothing are not compared.
public struct DifferencesAreFound: Invariant {
    /// Its number in the protocol.
    public static let number = 20
    /// What holds.
    public static let sentence =
        "every difference between the sides is found, named for what it is, and settled where the policy says so"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for provider in evidence.providers where provider.contract.listing {
            guard let head = evidence.rows.comparisons.head(of: provider.name) else { continue }
            var keys = provider.transactions.map(\.key)
            for payment in evidence.rows.everyPayment() {
                keys += payment.legs.filter { $0.provider == provider.name }.map(\.primary.key)
            }
            var judged: Set<EffectKey> = []
            for key in keys where judged.insert(key).inserted {
                judge(key, at: provider, after: head, evidence)
            }
        }
    }

    /// Whether the provider was asked so late that it may have forgotten what it had: its silence denied nothing (seed
    /// 1815320777).
    private static func mayBeForgotten(_ row: ComparedPosition?, _ contract: ProviderContract) -> Bool {
        guard let row, row.row == "provider.forgot", let asked = row.ours?.askedAt,
            let retention = contract.statusRetention
        else { return false }
        return row.comparedAt - asked + contract.clockSkew > retention
    }

    /// Whether the listing withheld the last change whenever a window with it was read: no later window shows it (seed
    /// 3963320922).
    private static func wasWithheld(
        _ sides: TrueSides, _ key: EffectKey, at provider: SimulatedProvider, _ evidence: Evidence
    ) -> Bool {
        guard let until = provider.hiddenUntil[key], let changed = sides.all.map(\.changedAt).max(), changed < until
        else { return false }
        return !evidence.rows.comparisons.runs.values.contains { run in
            run.provider == provider.name && !run.isDry && run.createdAt >= until
                && run.listingWindow.contains(changed)
        }
    }

    /// Whether the last run looked at what is in hand here, found that both sides agree, and had no reason to ask; the
    /// change came after what it had read of the listing (seed 4762558787929).
    private static func isPastTheListing(
        _ sides: TrueSides, _ row: ComparedPosition?, _ last: ComparisonRun
    ) -> Bool {
        guard row?.row == "ours.under-way", let changed = sides.all.map(\.changedAt).max() else { return false }
        return changed >= last.listingWindow.to
    }

    private mutating func judge(
        _ key: EffectKey, at provider: SimulatedProvider, after last: ComparisonRun, _ evidence: Evidence
    ) {
        let sides = TrueSides(key, at: provider, evidence)
        // What the last run found too young is for the next one.
        guard sides.differ, sides.isShown, sides.changedAt + provider.contract.clockSkew < last.horizon else { return }
        let row = evidence.rows.comparisons.row(provider.name, key)
        if sides.theirSide.isNothing, sides.goneAt != nil, row?.theirs != nil { return }
        if sides.goneAt != nil || sides.isWithPeople, DifferencesAreFound.mayBeForgotten(row, provider.contract) {
            return
        }
        if sides.wasWithheldBesideAnother { return }
        // Where nobody can be asked for a key, the listing has to be read past the moment at which it was judged last.
        if let row, row.row == "listing.behind",
            last.window.to <= row.comparedAt + provider.contract.clockSkew
        {
            return
        }
        if DifferencesAreFound.isPastTheListing(sides, row, last) { return }
        let id = DiscrepancyID(provider: provider.name, subject: .transaction(key))
        let found = evidence.rows.comparisons.discrepancies[id]
        let (theirs, ours) = (sides.theirSide, sides.ourSide)
        let what = "\(key) at \(provider.name), \(theirs) there and \(ours.map { "\($0)" } ?? "undecided") here"
        guard let found, found.state != .closed else {
            if DifferencesAreFound.wasWithheld(sides, key, at: provider, evidence) { return }
            return findings.require(
                false, evidence.now, sides.named,
                "\(what), is no open discrepancy; \(row?.row ?? "never compared")")
        }
        findings.require(
            found.state != .settling || sides.isWithPeople, evidence.now, sides.named,
            "\(what), is to be settled, and nobody does it")
        findings.require(
            sides.classes.contains(found.finding), evidence.now, sides.named,
            "\(what), is called \(found.finding.rawValue)")
    }
}
