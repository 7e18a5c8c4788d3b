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

    private func compare(with runner: ComparisonRunner) async {
        var machine = ComparisonLoopMachine(
            provider: runner.provider.name, contract: runner.provider.contract, settings: settings, pauses: pauses,
            now: clock.now())
        var input = ComparisonLoopMachine.Input.woken(mayWork: mayWork())
        while !Task.isCancelled {
            var next: ComparisonLoopMachine.Input?
            for job in machine.handle(input, at: clock.now()) {
                next = await done(job, with: runner)
            }
            guard let next else { return }
            input = next
        }
    }

    /// Does a job; `nil` if nothing comes of it, or if this process stops.
    private func done(
        _ job: ComparisonLoopMachine.Job, with runner: ComparisonRunner
    ) async -> ComparisonLoopMachine.Input? {
        let name = runner.provider.name
        do throws(StoreFailure) {
            switch job {
            case .tell(let news):
                tell(news, name)
                return nil
            case .execute(let id): return .executed(await runner.execute(id))
            case .findAsked(let states):
                var found: [ComparisonRun] = []
                for state in states {
                    var query = RunQuery(limit: 200)
                    (query.provider, query.kind, query.state) = (name, .asked, state)
                    found += try await store.runs(query).items.reversed()
                }
                return .asked(found)
            case .readChain:
                let now = try await store.now()
                return .chain(head: try await store.chainHead(of: name), at: now)
            case .plan(let run): return .planned(try await store.begin(run))
            case .pause(let pause): return await woken(after: pause)
            }
        } catch {
            return .failed(error)
        }
    }

    private func woken(after pause: Span) async -> ComparisonLoopMachine.Input? {
        guard pause > .zero else { return .woken(mayWork: mayWork()) }
        do {
            try await clock.sleep(until: clock.now() + pause)
        } catch {
            return nil
        }
        return .woken(mayWork: mayWork())
    }

    private func tell(_ news: ComparisonLoopMachine.News, _ provider: ProviderName) {
        switch news {
        case .finished(let run):
            let proven = run.isProven.map { $0 ? "true" : "false" } ?? "-"
            Counter(
                label: "reconciled_comparisons_finished",
                dimensions: [("provider", provider.name), ("kind", run.kind.rawValue), ("proven", proven)]
            ).increment()
        case .failed(let code, let needsPerson):
            Counter(
                label: "reconciled_comparison_failures", dimensions: [("provider", provider.name), ("code", code)]
            ).increment()
            let words: Logger.Metadata = ["provider": "\(provider)", "code": "\(code)"]
            if needsPerson {
                logger.error("a comparison cannot go on without a person", metadata: words)
            } else {
                logger.warning("a comparison did not get through; it goes on where it was", metadata: words)
            }
        }
    }
}
