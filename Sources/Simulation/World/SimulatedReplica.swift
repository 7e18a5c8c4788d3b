internal import PaymentCore
internal import Reconciler

/// One process of the daemon, in virtual time: the table of runners and the sweep of its engine, and its own clock.
struct SimulatedReplica {
    /// Its place among all replicas.
    let index: Int
    /// Whose site.
    let site: Int
    /// Raised by every start: what an earlier one began is not its.
    var incarnation = 0
    /// Whether it runs.
    var isUp = false
    /// It takes nothing new: it is about to be stopped in order.
    var isDraining = false
    /// It does nothing before this moment of true time.
    var pausedUntil: Int64 = 0
    /// It cannot reach its store before this moment of true time.
    var partitionedUntil: Int64 = 0
    /// How far its own clock is off, in milliseconds.
    var skew: Int64 = 0
    /// The latest moment that its clock showed: it never shows an earlier one.
    var shown: Int64 = 0
    /// The runners, by the payments' places in the plan.
    var runners: [OperationRunner?]
    /// The payments that have one, in the order in which they began.
    var active: [Int] = []
    var sweep: Sweep
    /// When its sweep looks again, by true time.
    var armed: Int64?
    /// When its sweep looked last, by true time.
    var lookedAt: Int64 = 0
    var keepsLeases = false
    /// What it knows of by itself; only a sabotaged sweep asks.
    var known: Set<Int> = []
    /// Counts the draws of its jitter.
    var draws: UInt64 = 0
    /// Commits of one version of one payment, for the identity of faults.
    var tries: [Int]
    /// Callers that wait here for a payment to settle.
    var waiting: [(payment: Int, ask: Int)] = []
    /// Asks that a runner has; each is the ticket of its own request.
    var tickets: Set<Int> = []
    /// Its loops over the providers' runs.
    var courses: [ComparisonCourse]

    init(index: Int, site: Int, payments: Int, providers: [ProviderName], limits: Sweep.Limits) {
        courses = Array(repeating: ComparisonCourse(), count: providers.count)
        self.index = index
        self.site = site
        runners = Array(repeating: nil, count: payments)
        tries = Array(repeating: 0, count: payments)
        sweep = Sweep(holder: "", providers: providers, limits: limits)
    }

    var holder: String { "replica-\(index).\(incarnation)" }

    mutating func start(providers: [ProviderName], limits: Sweep.Limits) {
        stop()
        isUp = true
        isDraining = false
        sweep = Sweep(holder: holder, providers: providers, limits: limits)
    }

    mutating func stop() {
        incarnation += 1
        isUp = false
        for payment in active { runners[payment] = nil }
        active.removeAll(keepingCapacity: true)
        armed = nil
        keepsLeases = false
        known.removeAll()
        waiting.removeAll(keepingCapacity: true)
        tickets.removeAll()
        for place in courses.indices {
            courses[place].machine = nil
            courses[place].armed = nil
            courses[place].execution += 1
        }
    }

    mutating func put(_ runner: OperationRunner, _ payment: Int) {
        if runners[payment] == nil { active.append(payment) }
        runners[payment] = runner
        known.insert(payment)
    }

    mutating func remove(_ payment: Int) -> OperationRunner? {
        guard let runner = runners[payment] else { return nil }
        runners[payment] = nil
        active.removeAll { $0 == payment }
        return runner
    }
}

/// Something that a replica has under way, and that comes back to the same start of the same replica only.
struct Job {
    let replica: Int
    let incarnation: Int
    let payment: Int
    let token: LeaseToken
    let work: Work

    enum Work {
        case commit(PaymentChange)
        case create(PaymentMachine, PaymentChange, [PaymentAction], ask: Int, try: Int)
        case returned(OperationRunner.Input)
        case perform(PaymentAction)
        case reload(try: Int)
        case deliver([PaymentEvent], [OperationRunner.Request])
        case write([PaymentEvent], OperationRunner.Request?, try: Int)
        case read(InquiryOrder, began: Timestamp, staleBy: Span, tellAfter: Int64)
        case told(AttemptOrInquiry)
    }
}

/// What an attempt or an inquiry brought back.
enum AttemptOrInquiry {
    case attempt(SendOrder, AttemptReport)
    case inquiry(InquiryOrder, Observation)
}

/// A request on its way to a provider and back.
struct Wire {
    let replica: Int
    let incarnation: Int
    let payment: Int
    let token: LeaseToken
    let order: SendOrder
    /// When its first byte left, by the sender's own clock.
    let began: Timestamp
    /// Requests of it that did not arrive yet.
    var copies: Int
    /// Its sender has its outcome, or stopped waiting for it.
    var isEnded = false
}

/// Names one attempt.
struct AttemptName: Hashable {
    let payment: Int
    let leg: Int
    let effect: EffectReference
    let number: Int
}
