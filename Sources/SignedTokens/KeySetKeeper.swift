package import Logging
internal import Metrics
package import PaymentCore
package import Reconciler

/// Keeps the keys of who signs tokens up to date, and goes on with those that are known while they cannot be read.
///
/// Only ``run()`` reads them: whoever comes with a token may ask for that, and neither ends a reading by going away nor
/// begins more of them than one in ten seconds.
package actor KeySetKeeper {
    /// Reads the set, as bytes.
    package typealias Source = @Sendable () async throws -> [UInt8]

    /// The most bytes that a set has.
    package static let largestSet = 262_144
    /// How often the set is read, and how often while none is known.
    package static let interval = Span.minutes(5)
    static let shortestInterval = Span.seconds(10)
    /// How many requests wait for a reading: an issuer that is slow must not fill the listener with them.
    static let mostWaiting = 64

    private let source: Source
    private let clock: any WallClock
    /// How long a set counts that could not be read again.
    private let trustedFor: Span
    private let logger: Logger
    private let wanted = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private var known: (set: KeySet, at: Timestamp)?
    private var triedAt: Timestamp?
    private var isReading = false
    private var hasEnded = false
    /// Who waits for the next reading to end.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isTold = false

    /// A keeper that knows nothing yet.
    package init(trustedFor: Span, clock: any WallClock, logger: Logger, source: @escaping Source) {
        self.trustedFor = trustedFor
        self.clock = clock
        self.logger = logger
        self.source = source
    }

    /// What is known of a key.
    enum Answer: Sendable {
        case key(KeySet.Key)
        /// The set is known, and the key is not in it.
        case none
        /// Nobody can tell: no set is known that still counts, or too many wait for one.
        case unknown
    }

    /// The key of a name. If nobody knows it, the set is read anew before, unless that was just done.
    func key(_ name: String?) async -> Answer {
        if let key = current?.key(name) { return .key(key) }
        guard waiting.count < KeySetKeeper.mostWaiting else { return .unknown }
        if !hasEnded, isReading || mayRead {
            wanted.continuation.yield()
            await withCheckedContinuation { waiting.append($0) }
        }
        guard let current else { return .unknown }
        return current.key(name).map { .key($0) } ?? .none
    }

    /// Reads the set now and every few minutes, and when a token has a key that nobody knows, until it is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.wanted.stream { await self.read() }
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.read()
                    do { try await self.clock.sleep(until: await self.nextRead) } catch { break }
                }
            }
        }
        hasEnded = true
        release()
    }

    /// How many requests wait for a reading.
    var waitingCount: Int { waiting.count }

    private var current: KeySet? {
        guard let known, clock.now() - known.at < trustedFor else { return nil }
        return known.set
    }

    private var mayRead: Bool { triedAt.map { clock.now() - $0 >= KeySetKeeper.shortestInterval } ?? true }

    private var nextRead: Timestamp {
        clock.now() + (known == nil ? KeySetKeeper.shortestInterval : KeySetKeeper.interval)
    }

    private func release() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    private func read() async {
        guard !isReading else { return }
        guard mayRead else { return release() }
        isReading = true
        triedAt = clock.now()
        do {
            let set = try await KeySet(try await source())
            if known == nil || isTold {
                logger.notice("the keys of tokens are known", metadata: ["keys": .stringConvertible(set.count)])
            }
            let now = clock.now()
            known = (set, now)
            isTold = false
            Gauge(label: "reconciled_key_set_read_time_seconds").record(Double(now.milliseconds) / 1_000)
        } catch {
            tell(error)
        }
        isReading = false
        release()
    }

    /// Once for each time that it begins: it is tried every few minutes.
    private func tell(_ error: any Error) {
        guard !isTold, !Task.isCancelled else { return }
        isTold = true
        logger.error(
            "the keys of tokens cannot be read; those that are known count for a while",
            metadata: ["error": "\(error)", "known": "\(known != nil)"])
    }
}
