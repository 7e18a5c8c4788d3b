/// A difference between the sides, from when it was seen first until it is closed, with what was seen and done.
///
/// A value: it changes only through ``handle(_:at:)``. Its identifier is derived from what it is about, so that it is
/// found again by every later run.
public struct Discrepancy: Sendable, Hashable, Codable {
    /// Where it stands.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing is under way: a wait runs, or a person has to look.
        case open
        /// What the policy says was begun.
        case settling
        /// It is over.
        case closed
    }

    /// Why it is over.
    public enum CloseReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// Our side learned what the other said already, by itself.
        case healedByLateAnswer = "healed_by_late_answer"
        /// The provider shows, or lists, what it did not at first.
        case listedLate = "listed_late"
        /// The payment's machine settled it.
        case settled
        /// What the provider had beyond our books was voided or given back.
        case undone
        /// Our books have the payment again.
        case adopted
        /// The provider changed, and both sides agree.
        case correctedThere = "corrected_there"
        /// The money is proven again.
        case proven
        /// A person closed it.
        case resolvedByPerson = "resolved_by_person"
    }

    /// What a person reads of it: what it is decided by, without times.
    public struct Facts: Sendable, Hashable, Codable {
        /// What was found.
        public var finding: ComparisonClass
        /// What our books counted.
        public var ours: NetAmount?
        /// What the provider showed.
        public var theirs: NetAmount?
        /// Where our leg stood.
        public var standing: BookedPosition.Standing?
        /// The provider's status.
        public var status: Observation.Status?
        /// What could not be explained, for money that is not proven.
        public var unexplained: Int64?

        /// The facts of a finding.
        public init(_ finding: ComparisonFinding) {
            self.finding = finding.finding
            ours = finding.ours?.net
            theirs = finding.theirs?.net
            standing = finding.ours?.standing
            status = finding.theirs?.status
            unexplained = finding.balance?.unexplained
        }
    }

    /// One entry of its history.
    public struct Entry: Sendable, Hashable, Codable {
        /// The kinds of entry.
        public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
            /// It was seen for the first time.
            case opened
            /// It came back.
            case reopened
            /// Other facts were seen.
            case changed
            /// What the policy says was begun; the text names the action.
            case acted
            /// It was given to somebody, or to nobody.
            case assigned
            /// Somebody said something.
            case commented
            /// It closed; the text names the reason.
            case closed
        }

        /// When, by the store's clock.
        public let at: Timestamp
        /// What.
        public let kind: Kind
        /// The run, where a run did it.
        public let run: ComparisonRunID?
        /// The person, where a person did it.
        public let by: String?
        /// More words, without secrets.
        public let text: String
    }

    /// The identifier.
    public let id: DiscrepancyID
    /// The provider.
    public let provider: ProviderName
    /// What it is about.
    public let subject: DiscrepancySubject
    /// When it was seen first, or first since it came back.
    public internal(set) var openedAt: Timestamp
    /// When it was seen last.
    public internal(set) var lastSeenAt: Timestamp
    /// The run that saw it last.
    public internal(set) var lastRun: ComparisonRunID
    /// When it was closed.
    public internal(set) var closedAt: Timestamp?
    /// Why it was closed.
    public internal(set) var closeReason: CloseReason?
    /// Where it stands.
    public internal(set) var state: State
    /// What was seen last, with both sides.
    public internal(set) var evidence: ComparisonFinding
    /// What our books count for it at present. Differs from the evidence only while the position is in flight again.
    public internal(set) var oursNet: NetAmount?
    /// What the provider shows for it at present.
    public internal(set) var theirsNet: NetAmount?
    /// The money in question when it was seen last.
    public internal(set) var atRisk: Money?
    /// What the policy says is to be done, or what a person is asked to.
    public internal(set) var suggestion: ComparisonAction
    /// When that is done, at the earliest; `nil` once it was begun.
    public internal(set) var actsAt: Timestamp?
    /// To whom it is given.
    public internal(set) var assignee: String?
    /// What two people ordered; `nil` where nobody did, once it is done, and when something else is seen.
    public internal(set) var undoOrder: UndoOrder?
    /// What happened, in order.
    public internal(set) var history: [Entry]
    /// 0 before it is stored; raised by one with every change, which names the version that it read.
    public internal(set) var version: Int64

    /// What was found last.
    public var finding: ComparisonClass { evidence.finding }
    /// The payment that it is about.
    public var payment: PaymentID? { evidence.payment }
    /// The leg that it is about.
    public var leg: Int? { evidence.leg }
    /// The transaction's key; `nil` if it is about a balance.
    public var key: EffectKey? {
        guard case .transaction(let key) = subject else { return nil }
        return key
    }

    /// Whether it accounts for a difference between the sides' sums.
    public var explainsMoney: Bool { oursNet != theirsNet }

    /// A discrepancy that is seen for the first time.
    public init(_ finding: ComparisonFinding, rule: ComparisonPolicy.Rule, run: ComparisonRunID, at now: Timestamp) {
        id = finding.id
        provider = finding.provider
        subject = finding.subject
        openedAt = now
        lastSeenAt = now
        lastRun = run
        closedAt = nil
        closeReason = nil
        state = .open
        evidence = finding
        oursNet = finding.ours?.net
        theirsNet = finding.theirs?.net
        atRisk = finding.atRisk
        suggestion = rule.action
        actsAt = now + rule.wait
        assignee = nil
        undoOrder = nil
        history = [
            Entry(at: now, kind: .opened, run: run, by: nil, text: "\(finding.finding.rawValue) by \(finding.row)")
        ]
        version = 0
    }

    /// What a store writes of a change: the next version.
    public func stored(version: Int64) -> Discrepancy {
        var discrepancy = self
        discrepancy.version = version
        return discrepancy
    }
}
