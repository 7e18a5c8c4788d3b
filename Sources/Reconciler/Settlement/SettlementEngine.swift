public import Logging
public import PaymentCore

/// Executes what the runners and the sweep decide: commits, requests, inquiries, leases. It decides nothing itself.
///
/// The state is a table of synchronous machines; every await happens in a job of its own, whose result comes back as an
/// input. No machine is touched between a check and its act.
public actor SettlementEngine {
    let store: any PaymentStore
    let providers: [ProviderName: any PaymentProvider]
    let clock: any WallClock
    let jitter: any JitterSource
    let settings: EngineSettings
    let logger: Logger
    let contracts: [ProviderName: ProviderContract]
    let telemetry = SettlementTelemetry()

    var runners: [PaymentID: OperationRunner] = [:]
    var sweep: Sweep
    var tickets: [Int: CheckedContinuation<Submission, Never>] = [:]
    var lastTicket = 0
    var claims: [PaymentID: [CheckedContinuation<Void, Never>]] = [:]
    var watchers: [PaymentID: [Int: AsyncStream<PaymentNews>.Continuation]] = [:]
    var lastWatcher = 0
    var isDraining = false
    /// The window in which payments begin now, and which they enter when they are taken up.
    var recovery: RecoveryWindow?
    /// The term under which this process writes; 0 before any, and where there is one site.
    var term: Int64? = 0
    /// Leases of payments that were left when a term ended here.
    var left: [PaymentID: LeaseToken] = [:]
    var armed: Timestamp?
    let jobs: AsyncStream<Job>
    let jobSink: AsyncStream<Job>.Continuation
    let wakeUps: AsyncStream<Void>
    let wakeSink: AsyncStream<Void>.Continuation

    /// A payment as it is durable now, and the answer that was kept with the change that made it so.
    struct PaymentNews: Sendable {
        let payment: Payment
        let answer: StoredAnswer?
    }

    /// Something to await.
    enum Job: Sendable {
        case commit(PaymentID, LeaseToken, PaymentChange, after: Span)
        case perform(PaymentID, LeaseToken, PaymentAction)
        case reload(PaymentID, LeaseToken)
        case release(PaymentID, LeaseToken)
        case deliver(PaymentID, [PaymentEvent], [OperationRunner.Request])
        case wake(at: Timestamp)
    }

    /// What came of a request that was handed to a runner.
    enum Submission: Sendable {
        case answered(OperationRunner.Answer)
        case failed(StoreFailure)
        /// It is not known what became of it.
        case lost
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
        recovery = settings.recovery
        self.logger = logger
        var byName: [ProviderName: any PaymentProvider] = [:]
        var contracts: [ProviderName: ProviderContract] = [:]
        for provider in providers {
            byName[provider.name] = provider
            contracts[provider.name] = provider.contract
        }
        self.providers = byName
        self.contracts = contracts
        sweep = Sweep(holder: settings.holder, providers: Array(contracts.keys), limits: settings.sweep)
        (jobs, jobSink) = AsyncStream.makeStream(of: Job.self)
        (wakeUps, wakeSink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Payments in work.
    public var activeCount: Int { runners.count }

    /// Works until the task is cancelled, or until ``drain(for:)`` is through.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepLeases() }
            if settings.sweeps {
                group.addTask { await self.sweepUntilStopped() }
                group.addTask { await self.sealNowAndThen() }
                group.addTask { for await _ in self.store.dueChanges() { self.wakeSink.yield() } }
            }
            for await job in jobs {
                group.addTask { await self.execute(job) }
            }
            group.cancelAll()
        }
        // However it ended: nobody may wait for an answer that will not come.
        isDraining = true
        jobSink.finish()
        wakeSink.finish()
        for ticket in tickets.keys.sorted() { answer(ticket, .lost) }
    }

    /// Begins nothing new, takes in what is on the wire, at most `grace` long, and then stops. What is left is durable,
    /// and due for whoever comes next.
    public func drain(for grace: Span) async {
        isDraining = true
        wakeSink.yield()
        let end = clock.now() + grace
        while !runners.isEmpty, clock.now() < end, !Task.isCancelled {
            do {
                try await clock.sleep(until: min(end, clock.now() + .milliseconds(10)))
            } catch {
                break
            }
        }
        if !runners.isEmpty {
            logger.warning("stopped with requests on the wire", metadata: ["payments": "\(runners.count)"])
        }
        for ticket in tickets.keys.sorted() { answer(ticket, .lost) }
        jobSink.finish()
        wakeSink.finish()
    }

    func context() -> MachineContext {
        MachineContext(
            now: clock.now(), contracts: contracts, policy: settings.policy, jitter: jitter.next(),
            commitsAreAcknowledged: settings.commitsAreAcknowledged,
            mayBegin: !isDraining && settings.gate.standing.maySettle)
    }

    // MARK: Machines

    /// - Parameter kept: The answer that is durable with what the input tells of.
    func feed(
        _ id: PaymentID, _ token: LeaseToken, _ input: OperationRunner.Input, kept: StoredAnswer? = nil
    ) {
        guard let lease = runners[id]?.lease, lease == token,
            let outputs = runners[id]?.handle(input, context())
        else { return }
        for output in outputs { carryOut(output, id, token, kept: kept) }
    }

    private func carryOut(
        _ output: OperationRunner.Output, _ id: PaymentID, _ token: LeaseToken, kept: StoredAnswer? = nil
    ) {
        switch output {
        case .commit(let change):
            jobSink.yield(.commit(id, token, answered(change), after: .zero))
        case .commitAgain(let change, let tries):
            let delay = settings.policy.resendSchedule.delay(min(tries, 3), jitter: jitter.next())
            jobSink.yield(.commit(id, token, answered(change), after: delay))
        case .perform(let action):
            jobSink.yield(.perform(id, token, action))
        case .reload:
            jobSink.yield(.reload(id, token))
        case .answered(let ticket, let answer):
            self.answer(ticket, .answered(answer))
        case .changed(let payment):
            announce(payment, kept: kept)
        case .finished(let release):
            end(id)
            if let release { jobSink.yield(.release(id, release)) }
        case .abandoned(let reason):
            logger.warning(
                "a payment was left to its next holder", metadata: ["payment": "\(id)", "reason": "\(reason)"])
            for ticket in runners[id]?.unansweredTickets ?? [] { answer(ticket, .lost) }
            end(id)
        }
    }

    private func end(_ id: PaymentID) {
        guard var runner = runners.removeValue(forKey: id) else { return }
        let isPlaceWanted = sweep.finished(id)
        let left = runner.takeLeftovers()
        let open = left.requests.filter { tickets[$0.ticket] != nil }
        if !left.events.isEmpty || !open.isEmpty {
            jobSink.yield(.deliver(id, left.events, open))
        }
        guard !isDraining else { return }
        if isPlaceWanted { wakeSink.yield() }
        if let due = runner.payment.dueAt, due < clock.now() + settings.sweep.longestPause { arm(at: due) }
    }

    /// The change with the answer to the create, if it ends a payment that could not have been answered before: one
    /// that is captured by itself is settled by its end alone.
    private func answered(_ change: PaymentChange) -> PaymentChange {
        guard change.payment.conclusion != nil, change.payment.captureMode == .automatic,
            let before = runners[change.payment.id]?.payment, before.conclusion == nil
        else { return change }
        var change = change
        change.answer = settings.endAnswer(change.payment)
        return change
    }

    /// Tells everybody in this process who wants to know.
    func announce(_ payment: Payment, kept: StoredAnswer? = nil) {
        telemetry.changed(payment)
        let news = PaymentNews(payment: payment, answer: kept)
        for watcher in (watchers[payment.id] ?? [:]).values { watcher.yield(news) }
    }

    func answer(_ ticket: Int, _ submission: Submission) {
        tickets.removeValue(forKey: ticket)?.resume(returning: submission)
    }

    /// Puts a claimed payment to work, with what is waiting for it.
    func begin(
        _ claimed: ClaimedPayment, _ events: [PaymentEvent] = [], _ requests: [OperationRunner.Request] = [],
        isDue: Bool = false
    ) {
        let id = claimed.payment.id
        guard admit(id, claimed.token) else {
            // A newer claim of this process came first; its runner takes what this one was to do.
            return feed(id, events, requests)
        }
        let unknown = claimed.payment.legs.map(\.provider).filter { contracts[$0] == nil }
        if !unknown.isEmpty {
            logger.error(
                "a payment names a provider that is not configured",
                metadata: ["payment": "\(id)", "providers": "\(unknown)"])
        }
        runners[id] = OperationRunner(machine: PaymentMachine(payment: claimed.payment), token: claimed.token)
        let first = recovery.claim(of: claimed.payment)
        var context = context()
        if isDue, let due = claimed.payment.dueAt {
            // The store found it due by its clock, which counts. By a clock that is behind it nothing would be done,
            // and the payment be found due again at once.
            context.now = max(context.now, due)
        }
        let outputs = runners[id]?.begin(with: [first] + events, requests: requests, context) ?? []
        for output in outputs { carryOut(output, id, claimed.token) }
    }

    /// Puts a payment that was just created to work; its first intents are durable.
    func begin(_ machine: PaymentMachine, _ token: LeaseToken, _ actions: [PaymentAction]) {
        let id = machine.payment.id
        telemetry.changed(machine.payment)
        // If it was claimed in between, its intents count as in doubt, and nothing is sent for them here.
        guard admit(id, token) else { return }
        runners[id] = OperationRunner(machine: machine, token: token)
        for action in actions { jobSink.yield(.perform(id, token, action)) }
        if machine.busy.isEmpty { feed(id, token, .event(.woke)) }
    }

    /// Hands events and requests to the runner of a payment.
    func feed(_ id: PaymentID, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]) {
        for event in events {
            guard let token = runners[id]?.lease else { return jobSink.yieldDelivery(id, [event], requests) }
            feed(id, token, .event(event))
        }
        for request in requests {
            guard let token = runners[id]?.lease else { return jobSink.yieldDelivery(id, [], [request]) }
            feed(id, token, .request(request))
        }
    }

    /// Whether a runner under this lease may take the payment's place; an older one leaves it.
    private func admit(_ id: PaymentID, _ token: LeaseToken) -> Bool {
        guard let present = runners[id] else { return true }
        guard present.lease < token else { return false }
        for ticket in present.unansweredTickets { answer(ticket, .lost) }
        runners.removeValue(forKey: id)
        return true
    }
}

extension AsyncStream<SettlementEngine.Job>.Continuation {
    fileprivate func yieldDelivery(
        _ id: PaymentID, _ events: [PaymentEvent], _ requests: [OperationRunner.Request]
    ) {
        yield(.deliver(id, events, requests))
    }
}
