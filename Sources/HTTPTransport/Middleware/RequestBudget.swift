/// How much a provider may be asked at one time and in one second.
///
/// A synchronous machine: it reads no clock and waits for nothing; whoever drives it waits.
///
/// A request first needs a place among the concurrent ones, first come first served, and then a token of the
/// rate. The token is given as the instant from which the request may start, so that nothing has to refill a
/// bucket.
public struct RequestBudget: Sendable {
    /// The limits, as a provider's contract states them.
    public struct Settings: Sendable, Equatable {
        /// Requests per second over time; `nil` for no limit.
        public var perSecond: Double?
        /// How many may start at once after a pause.
        ///
        /// At least 1.
        public var burst: Int
        /// How many may be in progress at one time.
        ///
        /// At least 1.
        public var concurrent: Int
        /// How many may wait for a place; more are refused at once.
        public var queue: Int
        /// How long one waits at most, if it does not say itself how long it may.
        public var longestWait: Duration

        /// Limits.
        ///
        /// A rate that is not greater than zero counts as one request a day.
        public init(
            perSecond: Double? = nil, burst: Int = 10, concurrent: Int = 64, queue: Int = 256,
            longestWait: Duration = .seconds(5)
        ) {
            self.perSecond = perSecond
            self.burst = max(1, burst)
            self.concurrent = max(1, concurrent)
            self.queue = max(0, queue)
            self.longestWait = longestWait
        }
    }

    /// What a request is told.
    public enum Answer: Sendable, Equatable {
        /// It has a place, and may start at this instant, which may be in the future.
        case start(at: ContinuousClock.Instant)
        /// It is in the queue, and will be answered by a later ``release(now:)``.
        case wait
        /// There is no room in time.
        ///
        /// It holds nothing.
        case refused
    }

    /// The answer to one that had to wait.
    public struct Grant: Sendable, Equatable {
        /// The number with which it asked.
        public let id: UInt64
        /// `start` or `refused`.
        public let answer: Answer
    }

    private struct Waiter: Sendable {
        let id: UInt64
        let until: ContinuousClock.Instant
    }

    private let settings: Settings
    private let interval: Duration
    private var inProgress = 0
    private var waiting: [Waiter] = []
    /// The instant at which the bucket would be full again.
    private var fullAt: ContinuousClock.Instant?

    /// An unused budget.
    public init(_ settings: Settings) {
        self.settings = settings
        interval =
            settings.perSecond.map { $0 > 0 ? max(.nanoseconds(1), .seconds(1) / $0) : .seconds(86_400) }
            ?? .zero
    }

    /// How many hold a place now.
    public var placesTaken: Int { inProgress }

    /// How many wait now.
    public var queueLength: Int { waiting.count }

    /// Asks for a place and a token.
    ///
    /// - Parameters:
    ///   - id: names the request; unique among those in the queue.
    ///   - until: it must have started before.
    public mutating func ask(
        _ id: UInt64, now: ContinuousClock.Instant, until: ContinuousClock.Instant
    ) -> Answer {
        guard now < until else { return .refused }
        if inProgress < settings.concurrent { return take(Waiter(id: id, until: until), now: now) }
        guard waiting.count < settings.queue else { return .refused }
        waiting.append(Waiter(id: id, until: until))
        return .wait
    }

    /// One that had a place is done.
    ///
    /// Answers those that can go now, or never.
    public mutating func release(now: ContinuousClock.Instant) -> [Grant] {
        inProgress -= 1
        var grants: [Grant] = []
        while inProgress < settings.concurrent, !waiting.isEmpty {
            let waiter = waiting.removeFirst()
            grants.append(Grant(id: waiter.id, answer: take(waiter, now: now)))
        }
        return grants
    }

    /// One that waits no longer wants to.
    ///
    /// `false` if it was answered already: then it must be released, if it started.
    public mutating func abandon(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    private mutating func take(_ waiter: Waiter, now: ContinuousClock.Instant) -> Answer {
        guard now < waiter.until else { return .refused }
        let full = max(fullAt ?? now, now)
        let start = max(now, full - interval * (settings.burst - 1))
        guard start < waiter.until else { return .refused }
        fullAt = full + interval
        inProgress += 1
        return .start(at: start)
    }
}
