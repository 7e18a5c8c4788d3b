internal import Logging
internal import Metrics
internal import NIOCore
internal import Synchronization

/// Who is connected to a listener, who of them rests and since when, and how many bytes wait to be read by them.
///
/// When there is no room for one more, who has rested for the longest makes room. A few that just came have a moment
/// for their first request: who leaves answers unread makes room before they do. A connection with a request under way
/// is never chosen: where all have one, newcomers wait in the system's queue until one of them is done. All methods may
/// be called from anywhere.
final class ConnectionBook: Sendable {
    /// Why a connection was ended.
    enum Reason: String, Sendable, CaseIterable {
        /// There was no room for another one, and it rested for the longest.
        case full
        /// An answer was not read in time.
        case unread
        /// Too many bytes waited for those who read nothing, and it waited for the longest.
        case memory
        /// More was sent while requests waited than is kept.
        case pipelined
        /// It never came to speak HTTP: the client has another idea of certificates or versions, or speaks no TLS.
        case handshake
    }

    /// One connection.
    struct Place: Sendable, Hashable {
        fileprivate let number: Int
    }

    fileprivate struct Entry {
        let channel: any Channel
        /// When it came, until its first request is there.
        var cameAt: ContinuousClock.Instant?
        /// The number of its rest, while it rests.
        var rest: Int?
        var isEnding = false
        /// Bytes of answers that wait until they are read, and since which wait in the order of all.
        var unread: (bytes: Int, since: Int)?
    }

    fileprivate struct State {
        /// Connections that hold a descriptor.
        var open = 0
        /// Those of them that were told to end, and those that did so without having been counted out.
        var ending = 0
        var ended = 0
        var isAwaited = false
        var entries: [Int: Entry] = [:]
        var count = 0
        /// The rests in their order. One whose connection has another number now is over.
        var order: [(place: Int, rest: Int)] = []
        var first = 0
        var unread = 0
        var told: [Reason: (at: ContinuousClock.Instant, since: Int)] = [:]
    }

    /// Accepted beyond the maximum, while those who make room for them are closed.
    static let slack = 16
    /// How long the first request of a connection may take until the connection is like any other that rests.
    static let firstRequestWithin = Duration.seconds(1)

    private let name: String
    private let maximum: Int
    private let maximumUnreadBytes: Int
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// A book of nobody.
    /// - Parameters:
    ///   - name: Which listener it is, in the log and in metrics.
    ///   - maximum: Connections that are open at the same time.
    ///   - maximumUnreadBytes: Bytes of answers that wait until they are read, of all connections together.
    ///   - now: The clock.
    init(
        name: String, maximum: Int, maximumUnreadBytes: Int, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.name = name
        self.maximum = maximum
        self.maximumUnreadBytes = maximumUnreadBytes
        self.logger = logger
        self.now = now
        for reason in Reason.allCases { counter(reason).increment(by: 0) }
    }

    /// Whether one more may be accepted. If not, the next that is done makes room.
    func mayAccept() -> Bool {
        state.withLock { state in
            let room = state.open < maximum || state.open < maximum + ConnectionBook.slack && state.someoneRests()
            state.isAwaited = !room && state.open - state.ending >= maximum
            return room
        }
    }

    /// One more holds a descriptor.
    func opened() {
        end(.full) { state in
            state.open += 1
            return state.relieve(maximum, at: now())
        }
        count()
    }

    /// One less does.
    func closed() {
        state.withLock { state in
            state.open -= 1
            guard state.ended > 0 else { return }
            state.ended -= 1
            state.ending -= 1
        }
        count()
    }

    /// A connection is there, and rests.
    func enter(_ channel: any Channel) -> Place {
        var place = Place(number: 0)
        end(.full) { state in
            state.count += 1
            place = Place(number: state.count)
            let now = now()
            state.entries[state.count] = Entry(channel: channel, cameAt: now)
            state.rests(state.count)
            return state.relieve(maximum, at: now)
        }
        return place
    }

    /// The connection is not there any more.
    func leave(_ place: Place) {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: place.number) else { return }
            state.unread -= entry.unread?.bytes ?? 0
            if entry.isEnding { state.ended += 1 }
        }
    }

    /// A request is under way on it; `false` if the connection is about to end, and nothing may begin any more.
    func begins(_ place: Place) -> Bool {
        state.withLock { state in
            guard state.entries[place.number]?.isEnding == false else { return false }
            state.entries[place.number]?.rest = nil
            state.entries[place.number]?.cameAt = nil
            return true
        }
    }

    /// Nothing is under way on it, or nobody reads what is there for it.
    func rests(_ place: Place) {
        end(.full) { state in
            state.rests(place.number)
            return state.relieve(maximum, at: now())
        }
    }

    /// So many bytes of answers wait until they are read.
    func holds(_ bytes: Int, _ place: Place) {
        end(.memory) { state in
            guard let entry = state.entries[place.number] else { return nil }
            state.unread += bytes - (entry.unread?.bytes ?? 0)
            state.count += 1
            state.entries[place.number]?.unread = bytes > 0 ? (bytes, entry.unread?.since ?? state.count) : nil
            return state.unread > maximumUnreadBytes ? state.endsSlowest() : nil
        }
    }

    /// A connection was ended for this reason: counted, and told in the log at most every ten seconds.
    func ended(_ reason: Reason) {
        counter(reason).increment()
        let now = now()
        let count: Int? = state.withLock { state in
            let known = state.told[reason]
            let count = (known?.since ?? 0) + 1
            if let known, now - known.at < .seconds(10) {
                state.told[reason] = (known.at, count)
                return nil
            }
            state.told[reason] = (now, 0)
            return count
        }
        guard let count else { return }
        logger.warning(
            "connections were ended",
            metadata: [
                "listener": .string(name), "reason": .string(reason.rawValue), "count": .stringConvertible(count),
            ])
    }

    private func counter(_ reason: Reason) -> Counter {
        Counter(
            label: "reconciled_http_connections_ended", dimensions: [("listener", name), ("reason", reason.rawValue)])
    }

    private func count() {
        let open = state.withLock { $0.open }
        Gauge(label: "reconciled_http_connections", dimensions: [("listener", name)]).record(open)
    }

    /// Ends whom `choose` chose, outside of the lock: a channel may close at once and come back here.
    private func end(_ reason: Reason, _ choose: (inout State) -> (any Channel)?) {
        guard let channel = state.withLock({ choose(&$0) }) else { return }
        ended(reason)
        channel.close(promise: nil)
    }
}

extension ConnectionBook.State {
    fileprivate mutating func rests(_ number: Int) {
        guard entries[number]?.isEnding == false else { return }
        count += 1
        entries[number]?.rest = count
        order.append((number, count))
        // Rests that are over are forgotten once they are the most, so that the order is never long.
        guard order.count > 2 * entries.count + 64 else { return }
        order = order[first...].filter { isResting($0.place, $0.rest) }
        first = 0
    }

    private func isResting(_ place: Int, _ rest: Int) -> Bool {
        guard let entry = entries[place] else { return false }
        return entry.rest == rest && !entry.isEnding
    }

    /// Whether somebody rests; the first of the order then rests for the longest.
    fileprivate mutating func someoneRests() -> Bool {
        while first < order.count {
            if isResting(order[first].place, order[first].rest) { return true }
            first += 1
        }
        return false
    }

    /// Whom to end so that there is room.
    fileprivate mutating func relieve(_ maximum: Int, at now: ContinuousClock.Instant) -> (any Channel)? {
        let left = open - ending
        guard left > maximum || isAwaited && left >= maximum, someoneRests() else { return nil }
        isAwaited = false
        // Only a few are spared, so that whoever connects in masses and asks nothing ends none but themselves.
        var spared = 0
        for (place, rest) in order[first...] where isResting(place, rest) {
            guard let cameAt = entries[place]?.cameAt, now - cameAt < ConnectionBook.firstRequestWithin else {
                return ends(place)
            }
            spared += 1
            if spared > maximum / 8 { return ends(order[first].place) }
        }
        return endsSlowest() ?? ends(order[first].place)
    }

    /// The one that has not read for the longest.
    fileprivate mutating func endsSlowest() -> (any Channel)? {
        let slow = entries.filter { $0.value.unread != nil && !$0.value.isEnding }
        let slowest = slow.min { ($0.value.unread?.since ?? 0) < ($1.value.unread?.since ?? 0) }
        return slowest.flatMap { ends($0.key) }
    }

    private mutating func ends(_ number: Int) -> (any Channel)? {
        entries[number]?.isEnding = true
        ending += 1
        return entries[number]?.channel
    }
}
