/// Which window of a provider is compared next. Pure: the same chain, settings and time give the same answer on every
/// replica, so that it does not matter who asks.
public enum ComparisonSchedule {
    /// What is to be done.
    public enum Next: Sendable, Hashable {
        /// Plan this run and do it.
        case begin(ComparisonRun)
        /// Go on with a run that is not finished.
        case resume(ComparisonRun)
        /// Nothing before this moment.
        case wait(until: Timestamp)
    }

    /// Why a window cannot be compared.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It ends too late: what changed so lately may be in flight.
        case tooYoung(settledUntil: Timestamp)
        /// It begins before the oldest payments that are kept.
        case tooOld(keptFrom: Timestamp)
        /// The provider lists nothing.
        case noListing

        public var description: String {
            switch self {
            case .tooYoung(let moment):
                "the window ends too late: what changed at or after \(moment.rfc3339) may still be in flight"
            case .tooOld(let moment):
                "the window begins too early: payments that ended before \(moment.rfc3339) are pruned (store.retention)"
            case .noListing: "the provider does not list its transactions, so that there is nothing to compare"
            }
        }
    }

    /// Before this moment of the provider's clock nothing is in flight any more: every request that could change it has
    /// been executed, and every read and listing shows it.
    public static func settledUntil(
        _ contract: ProviderContract, _ settings: ComparisonSettings, now: Timestamp
    ) -> Timestamp {
        now + (Span.zero - delay(contract, settings))
    }

    /// The next step of a provider's chain. Windows adjoin: after an outage of any length they are caught up with one
    /// by one, oldest first. A window that was given up is begun again under the next attempt.
    ///
    /// - Parameters:
    ///   - provider: whose chain it is.
    ///   - head: the chain's head as the store knows it; `nil` before the first run.
    ///   - contract: of the provider: how late a change may show.
    ///   - settings: how long a window is, and where the first one begins.
    ///   - now: the present, by the store's clock.
    public static func next(
        at provider: ProviderName, after head: ComparisonRun?, _ contract: ProviderContract,
        _ settings: ComparisonSettings, now: Timestamp
    ) -> Next {
        let settled = settledUntil(contract, settings, now: now)
        if let head, !head.state.isFinal { return .resume(head) }
        if let head, head.state == .abandoned {
            return .begin(
                run(
                    at: provider, head.window, .scheduled, attempt: head.attempt + 1, coveredFrom: head.coveredFrom,
                    contract, settings, now))
        }
        let from = head?.window.to ?? settings.begin ?? settled + (Span.zero - settings.window)
        guard let window = ComparedWindow(from: from, to: from + settings.window), window.to <= settled else {
            return .wait(until: max(now + .milliseconds(1), from + settings.window + delay(contract, settings)))
        }
        return .begin(
            run(
                at: provider, window, .scheduled, attempt: 0, coveredFrom: head?.coveredFrom ?? from, contract,
                settings, now))
    }

    /// A run that somebody asks for; it does not move the chain. Asked for again under the same attempt it is the same
    /// run.
    public static func asked(
        at provider: ProviderName, _ window: ComparedWindow, attempt: Int = 0, isDry: Bool = false,
        isOverLostRows: Bool? = nil, _ contract: ProviderContract, _ settings: ComparisonSettings, now: Timestamp
    ) throws(Refusal) -> ComparisonRun {
        guard contract.listing else { throw .noListing }
        let settled = settledUntil(contract, settings, now: now)
        guard window.to <= settled else { throw .tooYoung(settledUntil: settled) }
        if let kept = settings.paymentsKeptFor, window.from < now + (Span.zero - kept) {
            throw .tooOld(keptFrom: now + (Span.zero - kept))
        }
        return run(
            at: provider, window, .asked, attempt: attempt, isDry: isDry, isOverLostRows: isOverLostRows,
            coveredFrom: window.from, contract, settings, now)
    }

    /// How long after its end a window is compared.
    public static func delay(_ contract: ProviderContract, _ settings: ComparisonSettings) -> Span {
        contract.clockSkew + contract.visibilityLag + contract.maxRequestLife + settings.settleDelay
    }

    private static func run(
        at provider: ProviderName, _ window: ComparedWindow, _ kind: ComparisonRun.Kind, attempt: Int,
        isDry: Bool = false, isOverLostRows: Bool? = nil, coveredFrom: Timestamp, _ contract: ProviderContract,
        _ settings: ComparisonSettings, _ now: Timestamp
    ) -> ComparisonRun {
        ComparisonRun(
            provider: provider, window: window, kind: kind, attempt: attempt, isDry: isDry,
            isOverLostRows: isOverLostRows, createdAt: now,
            horizon: settledUntil(contract, settings, now: now), coveredFrom: coveredFrom,
            overlap: max(.zero, settings.overlap ?? contract.visibilityLag), clockMargin: contract.clockSkew)
    }
}
