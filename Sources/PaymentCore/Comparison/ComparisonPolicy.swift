/// What is done about a difference.
public enum ComparisonAction: String, Sendable, Hashable, Codable, CaseIterable {
    /// The payment reads its status and acts on it, by the rows by which it always acts.
    case settle
    /// What the provider has beyond our books is voided or given back.
    case undo
    /// The leg is quarantined: people decide, and nothing more is sent for it.
    case quarantine
    /// A person is told, and nothing else is done.
    case tell
}

/// What is done about each class of difference, and how long after it was seen first. Data, with safe defaults.
public struct ComparisonPolicy: Sendable, Hashable {
    /// The rule of one class.
    public struct Rule: Sendable, Hashable {
        /// What is done.
        public var action: ComparisonAction
        /// Only once the difference is so old: until then it may heal by itself.
        public var wait: Span

        /// A rule.
        public init(_ action: ComparisonAction, after wait: Span = .zero) {
            self.action = action
            self.wait = wait
        }
    }

    /// Why a rule is refused.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The class is not a difference, so that nothing is ever done about it.
        case notADifference(ComparisonClass)
        /// The action makes no sense for the class.
        case notAllowed(ComparisonAction, ComparisonClass)
        /// The wait is negative.
        case negativeWait(ComparisonClass)

        public var description: String {
            switch self {
            case .notADifference(let found):
                "\(found.rawValue) is not a difference; rules are for "
                    + ComparisonClass.differences.map(\.rawValue).joined(separator: ", ")
            case .notAllowed(let action, let found):
                "\(action.rawValue) is not allowed for \(found.rawValue); allowed are "
                    + ComparisonPolicy.allowed(for: found).map(\.rawValue).joined(separator: ", ")
            case .negativeWait(let found): "the wait of \(found.rawValue) is negative; it must be 0 or more"
            }
        }
    }

    private var rules: [ComparisonClass: Rule]

    /// The documented defaults, with other rules in their place.
    ///
    /// What is ours and differs is settled by the payment's own rows where they can act. What only the provider has is
    /// never touched unless that is configured. What may yet heal by itself waits a day.
    public init(_ changed: [ComparisonClass: Rule] = [:]) throws(Failure) {
        rules = ComparisonPolicy.defaults
        for (found, rule) in changed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard found.isDifference else { throw .notADifference(found) }
            guard ComparisonPolicy.allowed(for: found).contains(rule.action) else {
                throw .notAllowed(rule.action, found)
            }
            guard rule.wait >= .zero else { throw .negativeWait(found) }
            rules[found] = rule
        }
    }

    private init() { rules = ComparisonPolicy.defaults }

    /// The documented defaults.
    public static let standard = ComparisonPolicy()

    /// The rule of a class; of what is no difference, that somebody is told.
    public func rule(for found: ComparisonClass) -> Rule { rules[found] ?? Rule(.tell) }

    /// What is done about a difference. Where that could do nothing, a person is told instead: the payment's machine
    /// cannot act any more, or the transaction does not show what it would take to undo it. So it is where it might
    /// reach another transaction: the key has several, or the provider denies or forgot the one that its listing shows.
    ///
    /// - Parameters:
    ///   - finding: The difference.
    ///   - findsRefunds: Whether it was found over a loss that may have taken acknowledged rows, at a provider that
    ///     shows refunds one by one: what was given back there is read, and taken into our books.
    public func rule(for finding: ComparisonFinding, findsRefunds: Bool = false) -> Rule {
        if findsRefunds, !finding.refundsOfOthers.isEmpty, finding.theirs?.isShared != true { return Rule(.settle) }
        let rule = rule(for: finding.finding)
        let isUnreachable = [ComparisonTable.denied, ComparisonTable.forgotten].contains(finding.row)
        if finding.theirs?.isShared == true || isUnreachable {
            return Rule(.tell, after: rule.wait)
        }
        let doesSomething =
            switch rule.action {
            case .settle: finding.ours?.isActionable == true
            // What has ended is not quarantined any more (seed 34335134032211).
            case .quarantine: finding.ours.map { $0.isActionable && !$0.state.isFinal } ?? false
            case .undo: UnbookedTransaction.isShown(by: finding)
            case .tell: true
            }
        return doesSomething ? rule : Rule(.tell, after: rule.wait)
    }

    /// The actions that make sense for a class, in the order of ``ComparisonAction``.
    public static func allowed(for found: ComparisonClass) -> [ComparisonAction] {
        switch found {
        case .matched, .inert, .otherStore, .inFlight: []
        case .contradiction, .currencyDiffers, .amountDiffers, .statusDiffers, .refundDiffers, .oursOnly, .hidden,
            .lateReversal:
            [.settle, .quarantine, .tell]
        case .orphan: [.undo, .tell]
        case .duplicate: [.undo, .tell]
        case .foreign, .unproven: [.tell]
        }
    }

    private static let defaults: [ComparisonClass: Rule] = [
        .contradiction: Rule(.settle), .currencyDiffers: Rule(.settle), .amountDiffers: Rule(.settle),
        .statusDiffers: Rule(.settle), .refundDiffers: Rule(.settle), .oursOnly: Rule(.settle),
        .hidden: Rule(.tell, after: .days(1)), .lateReversal: Rule(.tell),
        .orphan: Rule(.tell, after: .days(1)), .duplicate: Rule(.tell), .foreign: Rule(.tell),
        .unproven: Rule(.tell),
    ]
}
