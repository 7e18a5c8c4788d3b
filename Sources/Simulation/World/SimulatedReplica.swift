internal import PaymentCore
internal import Reconciler

/// One process of the daemon, in virtual time: the machine of its engine, and its own clock.
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
    /// It has the configuration before the plan's.
    var isFormer = false
    /// It does nothing before this moment of true time.
    var pausedUntil: Int64 = 0
    /// It cannot reach its store before this moment of true time.
    var partitionedUntil: Int64 = 0
    /// How far its own clock is off, in milliseconds.
    var skew: Int64 = 0
    /// The latest moment that its clock showed: it never shows an earlier one.
    var shown: Int64 = 0
    /// The shipped engine's machine; nil while it does not run.
    var engine: EngineMachine?
    /// What it may do for its site, and who keeps that; nil where there is one site.
    var right = SiteRight.alone
    var keeper: SiteKeeperMachine?
    /// Something happens to its site or to itself: its keeper's steps are steps of the run.
    var isAwake = false
    /// The term under which its store writes.
    var term: Int64?
    /// Payments whose lease it could not give back.
    var leftLeases: Set<PaymentID> = []
    /// When its engine wants to look for what is due, by its own clock.
    var wanted: Timestamp?
    /// When it looks, by true time.
    var lookAt: Int64?
    /// Its engine asked what the standby has, and that was out of reach.
    var asksStandby = false
    /// What it knows of by itself; only a sabotaged sweep asks.
    var known: Set<Int> = []
    /// Counts the draws of its jitter.
    var draws: UInt64 = 0
    /// Commits of one version of one payment, for the identity of faults.
    var tries: [Int]
    /// Tries to insert a new payment by the ticket of whoever wants it, for the identity of faults.
    var insertions: [Int: Int] = [:]
    /// Tickets whose new payment reached the store, whatever was answered.
    var inserted: Set<Int> = []
    /// Callers that wait here for news of a payment.
    var waiting: [(payment: Int, ask: Int)] = []
    /// Differences that its engine was to settle, and what it answered.
    var settlements: [Int: EngineAnswer] = [:]
    /// Its loops over the providers' runs.
    var courses: [ComparisonCourse]

    init(index: Int, site: Int, payments: Int, providers: Int) {
        courses = Array(repeating: ComparisonCourse(), count: providers)
        self.index = index
        self.site = site
        tries = Array(repeating: 0, count: payments)
    }

    var holder: String { "replica-\(index).\(incarnation)" }

    mutating func start() {
        stop()
        isUp = true
        isDraining = false
    }

    mutating func stop() {
        incarnation += 1
        isUp = false
        engine = nil
        keeper = nil
        isAwake = false
        wanted = nil
        lookAt = nil
        asksStandby = false
        known.removeAll()
        leftLeases.removeAll()
        insertions.removeAll()
        inserted.removeAll()
        settlements.removeAll()
        waiting.removeAll(keepingCapacity: true)
        for index in courses.indices {
            (courses[index].loop, courses[index].runner) = (nil, nil)
            courses[index].armed = nil
            courses[index].execution += 1
        }
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
        case insert(PaymentChange, ticket: Int)
        case reload(try: Int)
        case claim
        case lookUp(Int, CallerID, IdempotencyKey)
        case occupant(Int)
        case readToWrite(Int)
        case write(PaymentChange, Int)
        case release
        case claimDue(ClaimRequest)
        case claimWaiting(WaitingRequest)
        case readResting(after: PageCursor?, limit: Int)
        case askStandby
        /// Something that the engine is told later.
        case returned(EngineInput)
        case perform(PaymentAction)
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
