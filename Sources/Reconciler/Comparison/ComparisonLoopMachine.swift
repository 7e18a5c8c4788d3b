public import PaymentCore

/// What one process does at one provider, as a machine: which run it takes up next, and how long it waits. It has no
/// clock, no tasks and no I/O: one job at a time goes out, and what came of it comes in.
public struct ComparisonLoopMachine: Sendable {
    /// What it is told.
    public enum Input: Sendable {
        /// A pause is over; whether the process may work at present.
        case woken(mayWork: Bool)
        /// The runs that people asked for and that are not finished, the oldest first.
        case asked([ComparisonRun])
        /// The chain's head, and the store's clock.
        case chain(head: ComparisonRun?, at: Timestamp)
        /// The run that was planned, as it is stored.
        case planned(ComparisonRun)
        /// What came of an execution.
        case executed(ComparisonRunner.Outcome)
        /// The store failed.
        case failed(StoreFailure)
    }

    /// What it wants done; the last job of an answer is the one whose outcome it waits for.
    public enum Job: Sendable {
        /// Wait so long, and wake it.
        case pause(Span)
        /// Find the runs that people asked for, in one of these states.
        case findAsked([ComparisonRun.State])
        /// Read the chain's head and the store's clock.
        case readChain
        /// Plan a run.
        case plan(ComparisonRun)
        /// Execute a run.
        case execute(ComparisonRunID)
        /// Tell whoever watches.
        case tell(News)
    }

    /// What others are told.
    public enum News: Sendable, Hashable {
        /// A run was finished.
        case finished(ComparisonRun)
        /// A run did not get through.
        case failed(code: String, needsPerson: Bool)
    }

    private let provider: ProviderName
    private let contract: ProviderContract
    private let pauses: ComparisonLoop.Pauses
    /// What the operator decided about comparing.
    public var settings: ComparisonSettings
    /// When it looks at the schedule next.
    private var chainAt: Timestamp
    /// Whether it was time for the schedule when it was woken.
    private var isChainDue = false
    /// Failures in a row.
    private var failures = 0
    /// The runs that were asked for and are to be tried.
    private var waiting: [ComparisonRunID] = []
    /// The run in work, if it was asked for.
    private var asked: ComparisonRunID?
    /// The run that failed last: the schedule comes before it, so that one that never gets through holds up nothing.
    private var failed: ComparisonRunID?

    /// A loop at a provider that lists its transactions.
    public init(
        provider: ProviderName, contract: ProviderContract, settings: ComparisonSettings,
        pauses: ComparisonLoop.Pauses, now: Timestamp
    ) {
        self.provider = provider
        self.contract = contract
        self.settings = settings
        self.pauses = pauses
        chainAt = now
    }

    /// Takes in what happened.
    ///
    /// - Parameter now: the process's own clock.
    public mutating func handle(_ input: Input, at now: Timestamp) -> [Job] {
        switch input {
        case .woken(false): return [.pause(pauses.asked)]
        case .woken(true):
            isChainDue = now >= chainAt
            return [.findAsked(isChainDue ? [.running, .planned] : [.planned])]
        case .asked(let runs):
            waiting = runs.map(\.id).filter { $0 != failed || !isChainDue }
            failed = nil
            return next()
        case .chain(let head, let moment): return chain(head, moment, now)
        case .planned(let run): return [.execute(run.id)]
        case .executed(let outcome): return executed(outcome, now)
        case .failed(let failure):
            return afterFailure("store_\(failure.code.rawValue)", needsPerson: false, nil, now)
        }
    }

    /// What people asked for comes first, then the schedule.
    private mutating func next() -> [Job] {
        guard waiting.isEmpty else {
            let id = waiting.removeFirst()
            asked = id
            return [.execute(id)]
        }
        asked = nil
        return isChainDue ? [.readChain] : [.pause(pauses.asked)]
    }

    private mutating func chain(_ head: ComparisonRun?, _ moment: Timestamp, _ now: Timestamp) -> [Job] {
        switch ComparisonSchedule.next(at: provider, after: head, contract, settings, now: moment) {
        case .wait(let until):
            chainAt = now + min(max(until - moment, .milliseconds(1)), pauses.chain)
            return [.pause(pauses.asked)]
        case .resume(let run): return [.execute(run.id)]
        case .begin(let run): return [.plan(run)]
        }
    }

    private mutating func executed(_ outcome: ComparisonRunner.Outcome, _ now: Timestamp) -> [Job] {
        switch outcome {
        case .notOurs where asked != nil: return next()
        case .notOurs:
            chainAt = now + pauses.chain
            return [.pause(pauses.asked)]
        case .letGo: return [.pause(pauses.asked)]
        case .failed(let code, let needsPerson, let retryAt):
            failed = asked
            return afterFailure(code, needsPerson: needsPerson, retryAt, now)
        case .finished(let run):
            failures = 0
            // After an outage there may be many windows.
            return [.tell(.finished(run)), .pause(.zero)]
        }
    }

    private mutating func afterFailure(
        _ code: String, needsPerson: Bool, _ retryAt: Timestamp?, _ now: Timestamp
    ) -> [Job] {
        let doubled = pauses.afterFailure.milliseconds << Int64(min(failures, 20))
        failures += 1
        let pause = needsPerson ? pauses.longest : min(Span(milliseconds: doubled), pauses.longest)
        let wanted = min((retryAt ?? now) - now, pauses.longest)
        return [.tell(.failed(code: code, needsPerson: needsPerson)), .pause(max(pause, wanted))]
    }
}
