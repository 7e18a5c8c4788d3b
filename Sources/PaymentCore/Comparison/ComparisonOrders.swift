/// One page of a provider's listing.
public struct ListedPage: Sendable, Hashable {
    /// The transactions, in the provider's order.
    public var positions: [ListedPosition]
    /// The provider's cursor of the next page; `nil` on the last.
    public var next: String?
    /// The disputes that it shows, by the keys of the disputed transactions.
    public var disputes: [EffectKey: [Dispute]]

    /// A page.
    public init(positions: [ListedPosition], next: String?, disputes: [EffectKey: [Dispute]] = [:]) {
        self.positions = positions
        self.next = next
        self.disputes = disputes
    }
}

/// A key for which the provider is asked before anything is called a difference.
public struct KeyQuestion: Sendable, Hashable {
    /// The key of the authorization or sale.
    public var key: EffectKey
    /// The payment to which it belongs, where one is known.
    public var payment: PaymentID?
    /// The latest change that the listing showed. What the provider shows of a later change is looked for in its
    /// listing as well; with `nil` whatever it shows.
    public var listedAt: Timestamp?
    /// Earlier changes that the listing showed under the key. What it still shows of them is a transaction of its own,
    /// and is answered among ``ListedPosition/others``.
    public var earlier: [Timestamp]
    /// Whether only the listing is asked, for its changes at the moments ``earlier``: the provider has no inquiry under
    /// our key. What it does not show at the latest of them is `unavailable`.
    public var isOfListing: Bool

    /// A question.
    public init(
        key: EffectKey, payment: PaymentID?, listedAt: Timestamp?, earlier: [Timestamp] = [], isOfListing: Bool = false
    ) {
        self.key = key
        self.payment = payment
        self.listedAt = listedAt
        self.earlier = earlier
        self.isOfListing = isOfListing
    }
}

/// What the provider says of a key.
public enum KeyAnswer: Sendable, Hashable {
    /// It shows a transaction. Whether its listing shows it too: `nil` where that was not looked for, or cannot be,
    /// also where it could not be seen whether it shows ``KeyQuestion/earlier`` ones.
    case shown(ListedPosition, isListed: Bool?)
    /// It does not know the key.
    case absent
    /// It could not be asked, or does not say.
    case unavailable
}

/// Something that the policy wants done about a difference. It may be given more than once; whoever carries it out does
/// it once.
public struct SettlementOrder: Sendable, Hashable {
    /// The run that found it.
    public let run: ComparisonRunID
    /// The discrepancy.
    public let discrepancy: DiscrepancyID
    /// What is to be done; never `tell`.
    public let action: ComparisonAction
    /// What was found, with both sides.
    public let finding: ComparisonFinding
    /// What the listing shows of disputes of the charge. Where there are any, the payment learns of them, and nothing
    /// else is done.
    public let disputes: [Dispute]

    /// An order; only the machine makes those that are carried out.
    public init(
        run: ComparisonRunID, discrepancy: DiscrepancyID, action: ComparisonAction, finding: ComparisonFinding,
        disputes: [Dispute] = []
    ) {
        self.run = run
        self.discrepancy = discrepancy
        self.action = action
        self.finding = finding
        self.disputes = disputes
    }
}

/// What ``ComparisonMachine`` wants done. Those of one answer may be done at the same time.
public enum ComparisonOrder: Sendable, Hashable {
    /// Read what stands at the provider.
    case readStanding
    /// Read a page of the listing of the run's ``ComparisonRun/listingWindow``.
    case readPage(cursor: String?, limit: Int)
    /// Read what the store knows of keys; and, where a window is named, of the keys that agreed when they were compared
    /// last and that the listing showed in that window then.
    case lookUp([PositionQuestion], listedIn: ComparedWindow?)
    /// Read our legs that changed in the run's ``ComparisonRun/booksWindow``.
    case readOurs(after: BookedPlace?, limit: Int)
    /// Read unsettled positions.
    case readUnsettled(after: EffectKey?, limit: Int)
    /// Ask the provider for keys.
    case ask([KeyQuestion])
    /// Read discrepancies.
    case readDiscrepancies([DiscrepancyID])
    /// Carry out what the policy wants. It comes before the step that says so: a crash between the two does it again
    /// rather than never.
    case carryOut([SettlementOrder])
    /// Make a step durable.
    case record(ComparisonStep)
    /// Read what explains the differences.
    case readDifferences
    /// Nothing is left to do: release the run.
    case finish
    /// Let go of the run, which another holds or changed: what is stored counts.
    case letGo
    /// Let go of the run and tell a person: a sum does not fit.
    case giveUp(reason: String)
}

/// What ``ComparisonMachine`` is told.
public enum ComparisonEvent: Sendable, Hashable {
    /// The run was claimed.
    case claimed
    /// What stands at the provider.
    case standing(NetSums)
    /// A page of the listing.
    case page(ListedPage)
    /// The provider does not take its cursor any more: the listing is begun again. That a first page is refused is a
    /// failure, and no such event.
    case cursorRefused
    /// What the store knows of the keys that were looked up, in any order.
    case known([KnownPosition])
    /// Our legs that changed.
    case ours(BookedPage)
    /// Unsettled positions.
    case unsettled([KnownPosition])
    /// What the provider says of the keys that it was asked for; a missing one counts as unavailable.
    case answers([EffectKey: KeyAnswer])
    /// The discrepancies that were asked for, as far as they exist.
    case discrepancies([Discrepancy])
    /// What was to be carried out was handed on.
    case carriedOut
    /// What became of a step.
    case recorded(StepResult)
    /// What explains the differences.
    case differences([Currency: ExplainedDifference])
}
