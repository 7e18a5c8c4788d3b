public import Logging
internal import Metrics
public import PaymentCore

/// Compares what is to be compared, of each provider one run after the other: what people ask for first, then the
/// windows of the schedule, the oldest first. Any number of processes may do so; the runs' leases see to it that one
/// works at each.
public struct ComparisonLoop: Sendable {
    /// How often it looks.
    public struct Pauses: Sendable {
        /// For runs that people asked for.
        public var asked = Span.seconds(2)
        /// For runs that another process left, and for the schedule.
        public var chain = Span.seconds(30)
        /// After the first failure; doubled with each that follows.
        public var afterFailure = Span.seconds(1)
        /// After failures, at the longest; at once where a person is needed.
        public var longest = Span.minutes(5)

        /// The documented defaults.
        public init() {}
    }

    let store: any PaymentStore & ComparisonStore
    let runners: [ProviderName: ComparisonRunner]
    let settings: ComparisonSettings
    let pauses: Pauses
    let mayWork: @Sendable () -> Bool
    let clock: any WallClock
    let logger: Logger

    /// A loop over the providers that list their transactions.
    /// - Parameters:
    ///   - store: Where the runs and the payments are.
    ///   - providers: The providers; those without a listing are left out.
    ///   - settlement: Carries out what the policy wants.
    ///   - settings: What the operator decided about comparing.
    ///   - identity: The store's; what names another's is left alone.
    ///   - holder: Unique for each start of each process.
    ///   - lease: How long a run belongs to a process that does not renew its claim.
    ///   - mayWork: Whether this process may work at present; asked before each run.
    public init(
        store: any PaymentStore & ComparisonStore, providers: [any PaymentProvider],
        settlement: any DifferenceSettlement, settings: ComparisonSettings, identity: StoreID?, holder: String,
        lease: Span, pauses: Pauses = Pauses(), mayWork: @escaping @Sendable () -> Bool = { true },
        clock: any WallClock, logger: Logger
    ) {
        self.store = store
        self.settings = settings
        self.pauses = pauses
        self.mayWork = mayWork
        self.clock = clock
        self.logger = logger
        var runners: [ProviderName: ComparisonRunner] = [:]
        for provider in providers where provider.contract.listing && provider.listing != nil {
            runners[provider.name] = ComparisonRunner(
                store: store, provider: provider, settlement: settlement, settings: settings,
                identity: identity, holder: holder, lease: lease, clock: clock, logger: logger)
        }
        self.runners = runners
    }

    /// Works until the task is cancelled. A run that is under way then goes on where it was recorded last. Where no
    /// provider lists, it waits for that: a daemon ends with the first of its services that ends.
    public func run() async {
        while runners.isEmpty, !Task.isCancelled {
            do {
                try await clock.sleep(until: clock.now() + .hours(1))
            } catch {
                return
            }
        }
        await withDiscardingTaskGroup { group in
            for runner in runners.values { group.addTask { await compare(with: runner) } }
        }
    }

    /// What one provider's loop remembers between two looks.
    private struct Course {
        /// When it looks at the schedule next.
        var chainAt: Timestamp
        /// Failures in a row.
        var failures = 0
    }

    private func compare(with runner: ComparisonRunner) async {
        var course = Course(chainAt: clock.now())
        while !Task.isCancelled {
            var pause = pauses.asked
            if mayWork() {
                do throws(StoreFailure) {
                    pause = try await look(runner, &course)
                } catch {
                    pause = afterFailure(&course, "store_\(error.code.rawValue)", needsPerson: false, nil, runner)
                }
            }
            guard pause > .zero else { continue }
            do {
                try await clock.sleep(until: clock.now() + pause)
            } catch {
                return
            }
        }
    }

    /// Looks for one run and executes it; returns how long to wait before the next look.
    private func look(_ runner: ComparisonRunner, _ course: inout Course) async throws(StoreFailure) -> Span {
        let isChainDue = clock.now() >= course.chainAt
        for run in try await asked(runner, withLeftovers: isChainDue) {
            let outcome = await runner.execute(run.id)
            if outcome == .notOurs { continue }
            return after(outcome, &course, runner)
        }
        guard isChainDue else { return pauses.asked }
        let now = try await store.now()
        let head = try await store.chainHead(of: runner.provider.name)
        let next = ComparisonSchedule.next(
            at: runner.provider.name, after: head, runner.provider.contract, settings, now: now)
        let run: ComparisonRun
        switch next {
        case .wait(let until):
            course.chainAt = clock.now() + min(max(until - now, .milliseconds(1)), pauses.chain)
            return pauses.asked
        case .resume(let left): run = left
        case .begin(let planned): run = try await store.begin(planned)
        }
        let outcome = await runner.execute(run.id)
        if outcome == .notOurs {
            course.chainAt = clock.now() + pauses.chain
            return pauses.asked
        }
        return after(outcome, &course, runner)
    }

    /// Runs that people asked for and that are not finished, the oldest first.
    private func asked(
        _ runner: ComparisonRunner, withLeftovers: Bool
    ) async throws(StoreFailure) -> [ComparisonRun] {
        var found: [ComparisonRun] = []
        for state in withLeftovers ? [ComparisonRun.State.running, .planned] : [.planned] {
            var query = RunQuery(limit: 200)
            query.provider = runner.provider.name
            query.kind = .asked
            query.state = state
            found += try await store.runs(query).items.reversed()
        }
        return found
    }

    private func after(
        _ outcome: ComparisonRunner.Outcome, _ course: inout Course, _ runner: ComparisonRunner
    ) -> Span {
        switch outcome {
        case .notOurs, .letGo: return pauses.asked
        case .failed(let code, let needsPerson, let retryAt):
            return afterFailure(&course, code, needsPerson: needsPerson, retryAt, runner)
        case .finished(let run):
            course.failures = 0
            let proven = run.isProven.map { $0 ? "true" : "false" } ?? "-"
            Counter(
                label: "reconciled_comparisons_finished",
                dimensions: [("provider", run.provider.name), ("kind", run.kind.rawValue), ("proven", proven)]
            ).increment()
            return .zero  // After an outage there may be many windows.
        }
    }

    private func afterFailure(
        _ course: inout Course, _ code: String, needsPerson: Bool, _ retryAt: Timestamp?, _ runner: ComparisonRunner
    ) -> Span {
        let name = runner.provider.name.name
        Counter(
            label: "reconciled_comparison_failures", dimensions: [("provider", name), ("code", code)]
        ).increment()
        let words: Logger.Metadata = ["provider": "\(name)", "code": "\(code)"]
        if needsPerson {
            logger.error("a comparison cannot go on without a person", metadata: words)
        } else {
            logger.warning("a comparison did not get through; it goes on where it was", metadata: words)
        }
        let doubled = pauses.afterFailure.milliseconds << Int64(min(course.failures, 20))
        course.failures += 1
        let pause = needsPerson ? pauses.longest : min(Span(milliseconds: doubled), pauses.longest)
        return max(pause, min((retryAt ?? clock.now()) - clock.now(), pauses.longest))
    }
}
