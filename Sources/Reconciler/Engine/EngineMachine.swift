public import PaymentCore

/// The rules by which payments are admitted, fed, ended, delivered to, looked for and drained: a synchronous machine.
///
/// Inputs go in, jobs come out. It reads no clock, draws no chance and does no I/O; the same inputs give the same jobs
/// in the same order. The daemon executes the jobs (``SettlementEngine``), and so does the simulated world.
public struct EngineMachine: Sendable {
    /// How it works.
    public struct Settings: Sendable {
        /// The operator's decisions about settling.
        public var policy: SettlementPolicy
        /// The contract of each provider that is configured.
        public var contracts: [ProviderName: ProviderContract]
        /// The holder of its leases.
        public var holder: String
        /// The sweep's bounds.
        public var sweep: Sweep.Limits
        /// Whether it looks for what is due.
        public var sweeps: Bool
        /// At most so many payments in work; beyond it new ones are refused.
        public var maximumActive: Int
        /// Whether a commit survives the loss of the machine that made it.
        public var commitsAreAcknowledged: Bool
        /// How long a latch waits for the standby at most; after that it counts although the standby has not
        /// confirmed it. `nil` waits for as long as it takes.
        public var acknowledgeUnconfirmedAfter: Span?
        /// Renders the answer to the request that created a payment, once the payment has ended.
        public var endAnswer: @Sendable (Payment) -> StoredAnswer?
        /// The table that decides on effects. Only checks plant another.
        public var effectTable: EffectTable
        /// The table that decides on payments. Only checks plant another.
        public var paymentTable: PaymentTable

        /// Settings for the shipped tables.
        public init(holder: String, policy: SettlementPolicy, contracts: [ProviderName: ProviderContract]) {
            self.holder = holder
            self.policy = policy
            self.contracts = contracts
            sweep = Sweep.Limits()
            sweeps = true
            maximumActive = 4_096
            commitsAreAcknowledged = true
            acknowledgeUnconfirmedAfter = nil
            endAnswer = { _ in nil }
            effectTable = .shipped
            paymentTable = .shipped
        }
    }

    let settings: Settings
    let rules: EngineRules
    var runners: [PaymentID: OperationRunner] = [:]
    /// Wishes that were not answered.
    var tickets: Set<Int> = []
    /// What waits until a payment is claimed.
    var claims: [PaymentID: [Delivery]] = [:]
    /// New payments on their way to the store, by ticket.
    var insertions: [Int: Insertion] = [:]
    /// What is written without a lease.
    var writes: [Int: Write] = [:]
    var lastWrite = 0
    var sweep: Sweep
    var look = Look.none
    /// Latches that the standby has not confirmed.
    var unconfirmed = Unconfirmed()
    /// Providers that could not be reached, and those that answer again.
    var outages = Outages()
    /// For when the sweep is armed.
    var armed: Timestamp?
    var isRenewing = false
    var isStopped = false
    /// Whether nothing new is begun.
    public internal(set) var isDraining = false
    /// The window in which payments begin now, and which they enter when they are taken up.
    var recovery: RecoveryWindow?
    /// What rests is looked through for that window, or was.
    var resting: RestingReview?
    /// The term under which this process writes; 0 before any, and where there is one site.
    var term: Int64? = 0
    /// Leases that are being given back.
    var releases = 0
    /// Leases of payments that were left when a term ended here.
    var left: [PaymentID: LeaseToken] = [:]
    /// What surrounds the input that is handled, and the jobs that it made.
    var moment = EngineMoment(now: Timestamp(milliseconds: 0), jitter: 0, standing: .alone)
    var draws = 0
    var jobs: [EngineJob] = []

    /// A machine that begins with nothing.
    public init(_ settings: Settings, recovery: RecoveryWindow? = nil) {
        self.init(settings, recovery: recovery, rules: .shipped)
    }

    /// A machine of which a check breaks rules.
    package init(_ settings: Settings, recovery: RecoveryWindow?, rules: EngineRules) {
        self.settings = settings
        self.rules = rules
        self.recovery = recovery
        sweep = Sweep(
            holder: settings.holder, providers: Array(settings.contracts.keys), limits: settings.sweep)
    }

    /// Payments in work, in order.
    public var active: [PaymentID] { runners.keys.sorted() }

    /// How many payments are in work.
    public var activeCount: Int { runners.count }

    /// Whether a payment is in work here, so that each of its changes is heard of.
    public func isInWork(_ id: PaymentID) -> Bool { runners[id] != nil }

    /// The runner of a payment.
    public func runner(of id: PaymentID) -> OperationRunner? { runners[id] }

    /// Whether a payment was left with its lease, because this process may not write any more.
    public func isLeft(_ id: PaymentID) -> Bool { left[id] != nil }

    /// Whether nothing is on the way any more.
    public var isIdle: Bool {
        let hasWork = !runners.isEmpty || !claims.isEmpty || !insertions.isEmpty || !writes.isEmpty
        // What is claimed or given back right then would be kept from everybody else until its lease runs out.
        let hasLeases = look.isClaiming || !outages.isClaiming.isEmpty || releases > 0
        return !hasWork && (!hasLeases || rules.breaks(.leasesNotAwaited))
    }

    /// Takes an input and says what is to be done, in this order.
    public mutating func handle(_ input: EngineInput, at moment: EngineMoment) -> [EngineJob] {
        self.moment = moment
        draws = 0
        take(input)
        defer { jobs = [] }
        return jobs
    }

    private mutating func take(_ input: EngineInput) {
        switch input {
        case .create(let ticket, let request, let record): create(ticket, request, record)
        case .submit(let request): submit(request)
        case .askNow(let ticket, let id):
            tickets.insert(ticket)
            deliver(id, Delivery(events: [.inquireNow], ticket: ticket))
        case .news(let ticket, let id, let leg, let news): take(news, ticket, id, leg)
        case .repeated(let ticket, let payment): repeated(ticket, payment)
        case .settle(let ticket, let order): settle(ticket, order)
        case .tell(let id, let events): deliver(id, Delivery(events: events))
        case .committed(let id, let token, let change, let result): committed(id, token, change, result)
        case .learned(let id, let token, let event):
            noticeOutage(id, event)
            feed(id, token, .event(event))
        case .reloaded(let id, let token, let tries, let result): reloaded(id, token, tries, result)
        case .claimed(let id, let result): claimed(id, result)
        case .released: releases -= 1
        case .inserted(let ticket, let result): inserted(ticket, result)
        case .lookedUp(let ticket, let result): lookedUp(ticket, result)
        case .occupant(let ticket, let result): occupied(ticket, result)
        case .readToWrite(let number, let result): readToWrite(number, result)
        case .wrote(let number, let result): wrote(number, result)
        case .claimedDue(let request, let result): claimedDue(request, result)
        case .claimedWaiting(let request, let result): claimedWaiting(request, result)
        case .nextDue(let result): nextDue(result)
        case .resting(let cursor, let result): resting(cursor, result)
        case .woke(let moment): woke(moment)
        case .renewalIsDue: renew()
        case .renewed(let leases, let result): renewed(leases, result)
        case .standby(let result): standbyAnswered(result)
        case .look: lookForDue()
        case .entered(let term, let recovery): enter(term, recovery)
        case .drain: isDraining = true
        case .stopped: stop()
        }
    }

    // MARK: Context

    /// Whether what there is may go on, and something may begin.
    var mayBegin: Bool { (!isDraining || rules.breaks(.drainingIgnored)) && moment.standing.maySettle }

    /// What payments' machines are told. Each gets a chance of its own: what is claimed together need not be due
    /// together ever after.
    mutating func context() -> MachineContext {
        draws += 1
        return MachineContext(
            now: moment.now, contracts: settings.contracts, policy: settings.policy,
            jitter: (moment.jitter + draws * 617) % 1_000,
            commitsAreAcknowledged: settings.commitsAreAcknowledged, mayBegin: mayBegin,
            clocksInDoubt: moment.clocksInDoubt, recovery: rules.breaks(.refundsOutsideWindow) ? nil : recovery,
            effectTable: settings.effectTable, paymentTable: settings.paymentTable)
    }

    mutating func answer(_ ticket: Int, _ answer: EngineAnswer) {
        guard tickets.remove(ticket) != nil else { return }
        jobs.append(.answer(ticket: ticket, answer))
    }
}
