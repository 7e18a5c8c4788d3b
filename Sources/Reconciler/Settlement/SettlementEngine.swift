public import Logging
public import PaymentCore

/// Executes what the engine's machine decides: commits, requests, inquiries, leases, timers. It keeps no rule of its
/// own (``EngineMachine``).
///
/// Every await happens in a job of its own, whose result comes back as an input. The machine is never touched between a
/// check and its act.
public actor SettlementEngine {
    let store: any PaymentStore
    let providers: [ProviderName: any PaymentProvider]
    let clock: any WallClock
    let jitter: any JitterSource
    let settings: EngineSettings
    let logger: Logger
    let telemetry: SettlementTelemetry

    private(set) var machine: EngineMachine
    private var waiting: [Int: CheckedContinuation<EngineAnswer, Never>] = [:]
    private var lastTicket = 0
    private var watchers: [PaymentID: [Int: AsyncStream<PaymentNews>.Continuation]] = [:]
    private var lastWatcher = 0
    private let jobs: AsyncStream<EngineJob>
    private let jobSink: AsyncStream<EngineJob>.Continuation

    /// A payment as it is durable now, and the answer that was kept with the change that made it so.
    struct PaymentNews: Sendable {
        let payment: Payment
        let answer: StoredAnswer?
    }

    /// An engine over a store and providers.
    public init(
        store: any PaymentStore, providers: [any PaymentProvider], clock: any WallClock, jitter: any JitterSource,
        settings: EngineSettings, logger: Logger
    ) {
        self.store = store
        self.clock = clock
        self.jitter = jitter
        self.settings = settings
        telemetry = SettlementTelemetry(objective: settings.settleWithin)
        self.logger = logger
        var byName: [ProviderName: any PaymentProvider] = [:]
        for provider in providers { byName[provider.name] = provider }
        self.providers = byName
        machine = EngineMachine(settings.machine(byName.mapValues(\.contract)), recovery: settings.recovery)
        (jobs, jobSink) = AsyncStream.makeStream(of: EngineJob.self)
    }

    /// Payments in work.
    public var activeCount: Int { machine.activeCount }

    /// How many decisions wait until the standby has them, and since when the one that waits longest.
    public var unconfirmedLatches: (count: Int, since: Timestamp?) { machine.unconfirmedLatches }

    /// Works until the task is cancelled, or until ``drain(for:)`` is through.
    public func run() async {
        await withDiscardingTaskGroup { group in
            if settings.sweeps {
                group.addTask { await self.take(.look) }
                group.addTask { await self.sealPeriodically() }
                group.addTask { for await _ in self.store.dueChanges() { await self.take(.look) } }
            }
            for await job in jobs {
                group.addTask { await self.execute(job) }
            }
            group.cancelAll()
        }
        // However it ended: nobody may wait for an answer that will not come.
        end()
    }

    /// Begins nothing new, takes in what is on the wire, at most `grace` long, and then stops. What is left is durable,
    /// and due for whoever comes next.
    public func drain(for grace: Span) async {
        take(.drain)
        let end = clock.now() + grace
        while !machine.isIdle, clock.now() < end, !Task.isCancelled {
            do {
                try await clock.sleep(until: min(end, clock.now() + .milliseconds(10)))
            } catch {
                break
            }
        }
        if machine.activeCount > 0 {
            logger.warning("stopped with requests on the wire", metadata: ["payments": "\(machine.activeCount)"])
        }
        self.end()
    }

    private func end() {
        take(.stopped)
        jobSink.finish()
    }

    // MARK: Inputs and jobs

    /// Hands an input to the machine, and its jobs to whoever executes them.
    func take(_ input: EngineInput) {
        let moment = EngineMoment(
            now: clock.now(), jitter: jitter.next(), standing: settings.gate.standing,
            clocksInDoubt: settings.providerClocks?.inDoubt ?? [])
        for job in machine.handle(input, at: moment) {
            switch job {
            case .answer(let ticket, let answer): waiting.removeValue(forKey: ticket)?.resume(returning: answer)
            case .announce(let payment, let kept): announce(payment, kept)
            case .note(let note): write(note)
            default: jobSink.yield(job)
            }
        }
    }

    /// Hands a wish to the machine and waits for its answer.
    func ask(_ wish: (_ ticket: Int) -> EngineInput) async -> EngineAnswer {
        lastTicket += 1
        let ticket = lastTicket
        let input = wish(ticket)
        return await withCheckedContinuation { continuation in
            guard !machine.isStopped else { return continuation.resume(returning: .lost) }
            waiting[ticket] = continuation
            take(input)
        }
    }

    /// Tells everybody in this process who wants to know.
    private func announce(_ payment: Payment, _ kept: StoredAnswer?) {
        telemetry.changed(payment)
        let news = PaymentNews(payment: payment, answer: kept)
        for watcher in (watchers[payment.id] ?? [:]).values { watcher.yield(news) }
    }

    private func write(_ note: EngineNote) {
        switch note {
        case .left(let id, let reason):
            logger.warning(
                "a payment was left to its next holder", metadata: ["payment": "\(id)", "reason": "\(reason)"])
        case .missingProviders(let id, let missing):
            for provider in missing { report(provider, of: id) }
        case .termOver(let count):
            logger.warning("payments in work were left: the term is over", metadata: ["payments": "\(count)"])
        case .countedUnconfirmed(let id, let waited):
            logger.error(
                "a decision counts although the standby did not confirm it",
                metadata: ["payment": "\(id)", "waited_seconds": "\(waited.milliseconds / 1_000)"])
        case .providerReturned(let provider, let failures):
            logger.notice(
                "a provider answers again, and what waits for it is taken up",
                metadata: ["provider": "\(provider)", "failures": "\(failures)"])
        case .swept(let count): telemetry.swept(count)
        }
    }

    private func report(_ missing: MissingProvider, of id: PaymentID) {
        telemetry.missed(missing)
        switch missing {
        case .notConfigured(let provider):
            logger.error(
                "a payment names a provider that is not configured",
                metadata: ["payment": "\(id)", "provider": "\(provider)"])
        case .otherKeySpace(let provider, let its, let configured):
            logger.error(
                "a payment was sent in another key space than its provider is configured with",
                metadata: [
                    "payment": "\(id)", "provider": "\(provider)", "key_space": "\(its)", "configured": "\(configured)",
                ])
        }
    }

    // MARK: Watching

    /// Follows a payment's durable changes; ``unwatch(_:_:)`` ends it.
    func watch(_ id: PaymentID) -> (number: Int, changes: AsyncStream<PaymentNews>) {
        lastWatcher += 1
        let (stream, sink) = AsyncStream.makeStream(of: PaymentNews.self, bufferingPolicy: .bufferingNewest(4))
        watchers[id, default: [:]][lastWatcher] = sink
        return (lastWatcher, stream)
    }

    /// Ends a watch.
    func unwatch(_ id: PaymentID, _ number: Int) {
        watchers[id]?.removeValue(forKey: number)?.finish()
        if watchers[id]?.isEmpty == true { watchers.removeValue(forKey: id) }
    }
}
