/// How far the comparison of both sides over the time of a loss is: a pure function of what is stored.
///
/// What the lost rows' owner did and no row tells is found nowhere but in the providers' listings. So the comparison is
/// finished only when each provider that is configured was compared, by runs that were planned after the loss, from
/// before the first row that may be lost until no lost request can be executed any more; when those runs got all their
/// answers and proved the money; and when what only a provider knows is settled, with people, or in our books again.
public enum LossReview: Sendable, Hashable {
    /// Not finished: what is missing, and runs that are to be planned now.
    case unfinished([LossObstacle], plan: [ComparisonRun])
    /// Finished, and not written down yet.
    case compared
    /// Finished and written down; the window stays open until a moment, or until a person closes it. A refund whose row
    /// was lost cannot be told from one that is under way while its payment is: providers where a run met such payments
    /// are compared `again`, by runs that may be planned now. The window does not stay open for that.
    case open(until: Timestamp?, again: [ProviderName] = [], plan: [ComparisonRun] = [])
    /// Nobody repeats any more what was asked before the loss: the window can be closed.
    case over

    /// What is known of one provider.
    public struct Evidence: Sendable, Hashable {
        /// The provider.
        public var provider: ProviderName
        /// Its contract.
        public var contract: ProviderContract
        /// Its runs that were planned since the loss, in any order.
        public var runs: [Run]
        /// How far what only the provider knows is settled.
        public var settlement: Settlement

        /// What is known; runs of other providers and dry ones are left out.
        public init(
            provider: ProviderName, contract: ProviderContract, runs: some Sequence<ComparisonRun>,
            settlement: Settlement
        ) {
            self.init(
                provider: provider, contract: contract,
                runs: runs.compactMap { $0.provider == provider && !$0.isDry ? Run($0) : nil }, settlement: settlement)
        }

        /// What is known, where a store keeps what counts of this provider's runs.
        public init(provider: ProviderName, contract: ProviderContract, runs: [Run], settlement: Settlement) {
            self.provider = provider
            self.contract = contract
            self.runs = runs
            self.settlement = settlement
        }
    }

    /// What counts of one run. There are thousands of them in a long window: this is small, and holds no references.
    public struct Run: Sendable, Hashable {
        fileprivate let kind: ComparisonRun.Kind
        fileprivate let window: ComparedWindow
        fileprivate let attempt: Int
        fileprivate let createdAt: Timestamp
        /// When it ended; `nil` while it may still change.
        fileprivate let endedAt: Timestamp?
        /// Whether it ended, every key that it asked for was answered, and the money is proven.
        fileprivate let isFlawless: Bool
        /// Whether refunds that it found, and that no row tells of, were taken into the rows.
        fileprivate let takesRefundsIn: Bool
        /// Whether it judged everything: nothing that it met was under way, or too young.
        fileprivate let leftNothing: Bool

        /// What counts of a run that is not dry.
        public init(_ run: ComparisonRun) {
            kind = run.kind
            window = run.window
            attempt = run.attempt
            createdAt = run.createdAt
            endedAt = run.state.isFinal ? run.finishedAt ?? run.createdAt : nil
            isFlawless = run.isProven == true && run.counts.unanswered == 0
            takesRefundsIn = run.isOverLostRows == true
            leftNothing = run.counts[.inFlight] == 0
        }
    }

    /// How far what only a provider knows is settled, by what is furthest from it.
    public enum Settlement: Int, Sendable, Hashable, Comparable {
        /// All of it is closed, or with people.
        case done
        /// Our books have it again, as a payment that undoes it. A caller who repeats its request meets that payment,
        /// whose own refund may wait for the comparison over the loss.
        case beingUndone
        /// The policy has yet to act, or nobody has seen yet that it did.
        case leftToPolicy

        /// How far one difference is settled.
        public init(_ found: Discrepancy) {
            self = found.isBeingUndone ? .beingUndone : found.isLeftToPolicy ? .leftToPolicy : .done
        }

        public static func < (left: Settlement, right: Settlement) -> Bool { left.rawValue < right.rawValue }
    }

    /// The classes of what a provider has and our books do not.
    public static let onlyTheirs: [ComparisonClass] = [.orphan, .duplicate, .foreign]

    /// So many runs over one loss follow each other as soon as may be asked again, and then one a day for as long as
    /// the comparison is not finished: payments wait for it. What was only met under way is not compared beyond it.
    public static let mostAttempts = 100

    /// Decides.
    ///
    /// - Parameters:
    ///   - recovery: The loss, and what was compared over it.
    ///   - evidence: of every provider that is configured.
    ///   - settings: How is compared; a run that left something is repeated after `askAgainAfter`.
    ///   - callersRepeatFor: How long after a loss callers may repeat what they asked before; `nil` if nobody said.
    ///   - now: The present, by the store's clock.
    public static func decide(
        _ recovery: SiteRecovery, _ evidence: [Evidence], _ settings: ComparisonSettings, callersRepeatFor: Span?,
        now: Timestamp
    ) -> LossReview {
        // What is being undone is looked at again and again until it is, also once the rest is finished.
        let unsettled = evidence.filter { $0.settlement != .done }
        if recovery.listingCompared, unsettled.isEmpty {
            let end = callersRepeatFor.map { recovery.at + $0 }
            if let end, end <= now { return .over }
            return lookAgain(recovery, evidence, settings, until: end, now)
        }
        // Of all providers, also of those that are settled: else the window of the others would change with them.
        let end = recovery.claim.window(contracts: evidence.map(\.contract)).latestNotAfter
        let evidence = recovery.listingCompared ? unsettled : evidence
        guard !evidence.isEmpty else { return .unfinished([.noProvider], plan: []) }
        guard let kept = recovery.keptUntil else { return .unfinished([.beginningUnknown], plan: []) }
        var obstacles: [LossObstacle] = []
        var plan: [ComparisonRun] = []
        var isCompared = !recovery.listingCompared
        for provider in evidence.sorted(by: { $0.provider < $1.provider }) {
            guard let window = window(of: provider.contract, from: kept, to: end) else {
                isCompared = false
                obstacles.append(.beginningUnknown)
                continue
            }
            let since = provider.runs.filter { $0.createdAt >= recovery.at }
            let wantsRefunds = mayLackRefunds(at: provider, recovery)
            let counted = since.filter { $0.isFlawless && ($0.takesRefundsIn || !wantsRefunds) }
            if covers(counted.map(\.window), window) {
                isCompared = isCompared && provider.settlement != .leftToPolicy
                guard provider.settlement != .done else { continue }
                obstacles.append(.unsettled(provider.provider))
            } else {
                isCompared = false
                obstacles.append(.notCompared(provider.provider, window))
            }
            switch next(provider, window, recovery.loss, since, settings, now) {
            case .plan(let run): plan.append(run)
            case .wait(let obstacle): obstacles += obstacle.map { [$0] } ?? []
            }
        }
        return isCompared ? .compared : .unfinished(obstacles, plan: plan)
    }

    /// Whether refunds of which no row tells are taken in there. A run of the schedule takes none in: it tells people.
    private static func mayLackRefunds(at provider: Evidence, _ recovery: SiteRecovery) -> Bool {
        !recovery.loss.keepsAcknowledgedRows && provider.contract.refundVisibility == .byKey
    }

    /// The runs that compare once more what was under way when the last of them met it.
    private static func lookAgain(
        _ recovery: SiteRecovery, _ evidence: [Evidence], _ settings: ComparisonSettings, until: Timestamp?,
        _ now: Timestamp
    ) -> LossReview {
        let end = recovery.claim.window(contracts: evidence.map(\.contract)).latestNotAfter
        var again: [ProviderName] = []
        var plan: [ComparisonRun] = []
        for provider in evidence.sorted(by: { $0.provider < $1.provider })
        where mayLackRefunds(at: provider, recovery) {
            guard let kept = recovery.keptUntil, let window = window(of: provider.contract, from: kept, to: end)
            else { continue }
            let since = provider.runs.filter { $0.createdAt >= recovery.at }
            guard let last = last(of: since, over: window), last.attempt + 1 < mostAttempts,
                !(last.isFlawless && last.leftNothing)
            else { continue }
            again.append(provider.provider)
            if case .plan(let run) = next(provider, window, recovery.loss, since, settings, now) { plan.append(run) }
        }
        return .open(until: until, again: again, plan: plan)
    }

    /// The last run over the loss itself.
    private static func last(of runs: [Run], over window: ComparedWindow) -> Run? {
        runs.filter { $0.kind == .asked && $0.window == window }.max { $0.attempt < $1.attempt }
    }

    /// From before the first change of which no row may tell, until after the last that a lost request can make. The
    /// provider's clock may differ, and its listing may show a change late.
    private static func window(
        of contract: ProviderContract, from kept: Timestamp, to end: Timestamp
    ) -> ComparedWindow? {
        let margin = contract.clockSkew + contract.visibilityLag
        return ComparedWindow(
            from: kept + (Span.zero - margin), to: max(kept, end) + contract.visibilityLag + .milliseconds(1))
    }

    /// Whether the compared windows leave no gap in this one.
    private static func covers(_ compared: some Sequence<ComparedWindow>, _ window: ComparedWindow) -> Bool {
        var covered = window.from
        for next in compared.sorted(by: { $0.from < $1.from }) where next.from <= covered {
            covered = max(covered, next.to)
        }
        return covered >= window.to
    }

    private enum Next {
        case plan(ComparisonRun)
        case wait(LossObstacle?)
    }

    /// A run over the whole window, or another attempt at it.
    private static func next(
        _ provider: Evidence, _ window: ComparedWindow, _ loss: RecoveryWindow.Loss, _ runs: [Run],
        _ settings: ComparisonSettings, _ now: Timestamp
    ) -> Next {
        let own = last(of: runs, over: window)
        if let own {
            guard let endedAt = own.endedAt else { return .wait(nil) }
            let isOften = own.attempt + 1 < mostAttempts
            let pause = isOften ? settings.askAgainAfter : max(settings.askAgainAfter, .days(1))
            guard endedAt + pause <= now else { return .wait(nil) }
        }
        do {
            return .plan(
                try ComparisonSchedule.asked(
                    at: provider.provider, window, attempt: own.map { $0.attempt + 1 } ?? 0,
                    isOverLostRows: loss.keepsAcknowledgedRows ? nil : true, provider.contract, settings, now: now))
        } catch .tooYoung {
            return .wait(nil)  // It passes; that the provider was not compared is said already.
        } catch {
            return .wait(.notComparable(provider.provider, error))
        }
    }
}

/// Why the comparison over the time of a loss is not finished.
public enum LossObstacle: Sendable, Hashable, CustomStringConvertible {
    /// No provider is configured: nothing was compared.
    case noProvider
    /// The loss was recorded by a version that did not say from when rows may be missing.
    case beginningUnknown
    /// No run that got all its answers and proved the money covers this window of a provider yet.
    case notCompared(ProviderName, ComparedWindow)
    /// The provider cannot be compared over it.
    case notComparable(ProviderName, ComparisonSchedule.Refusal)
    /// What only the provider knows is not settled yet.
    case unsettled(ProviderName)

    public var description: String {
        switch self {
        case .noProvider: "no provider is configured"
        case .beginningUnknown: "it is not recorded from when rows may be missing: a person has to decide"
        case .notCompared(let provider, let window):
            "\(provider) was not compared from \(window.from.rfc3339) to \(window.to.rfc3339)"
        case .notComparable(let provider, let refusal): "\(provider) cannot be compared: \(refusal)"
        case .unsettled(let provider): "what only \(provider) knows is not settled"
        }
    }
}

extension Discrepancy {
    /// Whether it waits for what the policy wants done, or for the end of that. What is closed, or told to people, does
    /// not.
    public var isLeftToPolicy: Bool { state == .settling || state == .open && suggestion != .tell }

    /// Whether it is being undone by a payment that our books have under its key.
    public var isBeingUndone: Bool { state == .settling && oursNet != nil }
}
