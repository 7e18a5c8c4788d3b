/// How much a provider may be asked at one time and in one second, and who comes next.
///
/// A synchronous machine: it reads no clock and waits for nothing; whoever drives it waits.
///
/// A request needs a place among the concurrent ones, and a token of the rate. Requests that wait are in lanes, one for
/// each caller. Lanes take turns, so that a caller with many requests delays its own. Within a lane what goes on with
/// something comes before what begins something: what was begun is finished. When the queue is full, the latest of the
/// longest lane makes room for a shorter one.
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
        /// How many may wait; more are refused at once.
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
        /// It has a place, and may start at this instant, which may be in the future. Whoever drives the budget says
        /// when it did: ``started(_:now:)``.
        case start(at: ContinuousClock.Instant)
        /// It is in the queue, and will be answered by a later ``release(_:now:)`` or ``started(_:now:)``.
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

    private struct Lane: Sendable {
        var goingOn: [Waiter] = []
        var beginning: [Waiter] = []
        /// Until when something is expected to begin that somebody has promised room to.
        var promises: [ContinuousClock.Instant] = []

        var count: Int { goingOn.count + beginning.count }

        mutating func takeFirst() -> Waiter { goingOn.isEmpty ? beginning.removeFirst() : goingOn.removeFirst() }

        /// The one that makes room for another lane.
        mutating func takeLast() -> Waiter? { beginning.popLast() ?? goingOn.popLast() }

        mutating func take(_ id: UInt64) -> Bool {
            if let index = goingOn.firstIndex(where: { $0.id == id }) {
                goingOn.remove(at: index)
                return true
            }
            guard let index = beginning.firstIndex(where: { $0.id == id }) else { return false }
            beginning.remove(at: index)
            return true
        }
    }

    /// A token is given so long before its instant, and one token longer before: timers are late. Whoever asks
    /// meanwhile comes after those only.
    public static let lead = Duration.milliseconds(10)

    private let settings: Settings
    private let interval: Duration
    private var inProgress = 0
    private var lanes: [String: Lane] = [:]
    /// The lanes that have waiters, in the order of their turns.
    private var turns: [String] = []
    /// How many wait now.
    public private(set) var queueLength = 0
    /// Those that have a token whose instant has not come.
    private var pending: Set<UInt64> = []
    /// The instant at which the bucket would be full again.
    private var fullAt: ContinuousClock.Instant?
    /// What made room for others, and is not told yet.
    private var displaced: [Grant] = []

    /// An unused budget.
    public init(_ settings: Settings) {
        self.settings = settings
        interval =
            settings.perSecond.map { $0 > 0 ? max(.nanoseconds(1), .seconds(1) / $0) : .seconds(86_400) }
            ?? .zero
    }

    /// How many hold a place now.
    public var placesTaken: Int { inProgress }

    /// Asks for a place and a token.
    ///
    /// - Parameters:
    ///   - id: names the request; unique among those in the queue.
    ///   - lane: whose request it is.
    ///   - begins: whether it begins something; otherwise it goes on with what was begun.
    ///   - until: it must have started before.
    public mutating func ask(
        _ id: UInt64, lane name: String = "", begins: Bool = false, now: ContinuousClock.Instant,
        until: ContinuousClock.Instant
    ) -> Answer {
        var lane = lanes[name] ?? Lane()
        // The oldest promise is kept by this request, or was not claimed in time.
        if begins, !lane.promises.isEmpty { lane.promises.removeFirst() }
        put(lane, name)
        let before = begins ? lane.count : lane.goingOn.count
        guard now < until, start(after: before, inLane: name, now: now) < until else { return .refused }
        let waiter = Waiter(id: id, until: until)
        if queueLength == 0, inProgress < settings.concurrent, isTurn(now) { return take(waiter, now: now) }
        guard queueLength < settings.queue || makeRoom(for: name) else { return .refused }
        if lane.count == 0 { turns.append(name) }
        if begins { lane.beginning.append(waiter) } else { lane.goingOn.append(waiter) }
        put(lane, name)
        queueLength += 1
        return .wait
    }

    /// Promises that one more request of a lane, which begins something, finds room in time.
    ///
    /// - Returns: `false` if it would not: its lane waits for too long, or the queue is full and no lane is longer.
    public mutating func promise(lane name: String, now: ContinuousClock.Instant) -> Bool {
        var lane = lanes[name] ?? Lane()
        lane.promises.removeAll { $0 <= now }
        let before = lane.count + lane.promises.count
        let isInTime = start(after: before, inLane: name, now: now) < now + settings.longestWait
        // Promises need no room in the queue: where the provider keeps up, they never wait in it.
        let hasRoom = queueLength < settings.queue || longestLane(besides: name, own: before) != nil
        if isInTime, hasRoom { lane.promises.append(now + settings.longestWait) }
        put(lane, name)
        return isInTime && hasRoom
    }

    private mutating func put(_ lane: Lane, _ name: String) {
        lanes[name] = lane.count == 0 && lane.promises.isEmpty ? nil : lane
    }

    /// One that had a token has started. Answers those that can go next, or never.
    public mutating func started(_ id: UInt64, now: ContinuousClock.Instant) -> [Grant] {
        pending.remove(id)
        return advance(now: now)
    }

    /// One that had a place is done, whether it started or not. Answers those that can go now, or never.
    public mutating func release(_ id: UInt64, now: ContinuousClock.Instant) -> [Grant] {
        inProgress -= 1
        return started(id, now: now)
    }

    /// Answers those that can go now, or never.
    public mutating func advance(now: ContinuousClock.Instant) -> [Grant] {
        var grants = displaced
        displaced = []
        while inProgress < settings.concurrent, let name = turns.first, isTurn(now) {
            turns.removeFirst()
            guard var lane = lanes[name], lane.count > 0 else { continue }
            let waiter = lane.takeFirst()
            queueLength -= 1
            put(lane, name)
            let answer = take(waiter, now: now)
            grants.append(Grant(id: waiter.id, answer: answer))
            // Who came too late used no turn.
            if lane.count > 0 { turns.insert(name, at: answer == .refused ? 0 : turns.count) }
        }
        return grants
    }

    /// One that waits no longer wants to.
    ///
    /// `false` if it was answered already: then it must be released, if it started.
    public mutating func abandon(_ id: UInt64) -> Bool {
        for (name, known) in lanes {
            var lane = known
            guard lane.take(id) else { continue }
            shortened(lane, name)
            return true
        }
        return false
    }

    // MARK: Tokens

    private func tokenAt(_ full: ContinuousClock.Instant) -> ContinuousClock.Instant {
        full - interval * (settings.burst - 1)
    }

    /// From when on the next request may start.
    private func token(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        max(now, tokenAt(max(fullAt ?? now, now)))
    }

    /// When one that asks now would start, if every place were free: after so many of its own lane, and after as many
    /// of each other lane.
    private func start(
        after own: Int, inLane name: String, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        guard interval > .zero else { return token(now) }
        let before = lanes.reduce(own) { $1.key == name ? $0 : $0 + min($1.value.count, own + 1) }
        return token(now) + interval * before
    }

    /// Whether the next token may be given: its instant is near, or nobody has one whose instant is to come. Who has
    /// one starts then, and the next is given: nothing else has to keep the time.
    private func isTurn(_ now: ContinuousClock.Instant) -> Bool {
        pending.isEmpty || token(now) <= now + Self.lead
    }

    private mutating func take(_ waiter: Waiter, now: ContinuousClock.Instant) -> Answer {
        let start = token(now)
        guard now < waiter.until, start < waiter.until else { return .refused }
        fullAt = max(fullAt ?? now, now) + interval
        inProgress += 1
        if start > now { pending.insert(waiter.id) }
        return .start(at: start)
    }

    // MARK: A full queue

    /// The longest lane, if the latest of it can make room for one more of another that has so many.
    private func longestLane(besides name: String, own: Int) -> String? {
        let longest = lanes.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
        guard let longest, longest.key != name, longest.value.count > own + 1 else { return nil }
        return longest.key
    }

    private mutating func makeRoom(for name: String) -> Bool {
        guard let longest = longestLane(besides: name, own: lanes[name]?.count ?? 0), var lane = lanes[longest],
            let last = lane.takeLast()
        else { return false }
        shortened(lane, longest)
        displaced.append(Grant(id: last.id, answer: .refused))
        return true
    }

    /// One that waited is gone.
    private mutating func shortened(_ lane: Lane, _ name: String) {
        queueLength -= 1
        put(lane, name)
        if lane.count == 0 { turns.removeAll { $0 == name } }
    }
}
