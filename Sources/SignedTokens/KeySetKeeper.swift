package import Logging
package import PaymentCore
package import Reconciler

/// Keeps the keys of who signs tokens up to date, and goes on with those that are known while they cannot be read.
package actor KeySetKeeper {
    /// Reads the set, as bytes.
    package typealias Source = @Sendable () async throws -> [UInt8]

    /// How often the set is read.
    package static let interval = Span.minutes(5)
    /// The shortest time between two readings: whoever invents names of keys causes no more.
    static let shortestInterval = Span.seconds(10)

    private let source: Source
    private let clock: any WallClock
    /// How long a set counts that could not be read again.
    private let trustedFor: Span
    private let logger: Logger
    private var known: (set: KeySet, at: Timestamp)?
    private var triedAt: Timestamp?
    private var isReading = false
    /// Who waits for the reading that is under way.
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
        /// No set is known that still counts.
        case unknown
    }

    /// The key of a name, read anew if nobody knows it.
    func key(_ name: String?) async -> Answer {
        if let key = current?.key(name) { return .key(key) }
        await refresh()
        guard let current else { return .unknown }
        return current.key(name).map { .key($0) } ?? .none
    }

    /// Reads the set, unless that was just done.
    package func refresh() async {
        guard !isReading else { return await withCheckedContinuation { waiting.append($0) } }
        if let triedAt, clock.now() - triedAt < KeySetKeeper.shortestInterval { return }
        triedAt = clock.now()
        isReading = true
        await read()
        isReading = false
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// When the known set was read; `nil` if none ever was.
    package var readAt: Timestamp? { known?.at }

    private var current: KeySet? {
        guard let known, clock.now() - known.at < trustedFor else { return nil }
        return known.set
    }

    private func read() async {
        do {
            let set = try await KeySet(try await source())
            if known == nil || isTold {
                logger.notice("the keys of tokens are known", metadata: ["keys": .stringConvertible(set.count)])
            }
            known = (set, clock.now())
            isTold = false
        } catch {
            // Whoever read it has gone away, and that says nothing of the source.
            guard !Task.isCancelled else {
                triedAt = nil
                return
            }
            // Once for each time that it begins: it is tried every few minutes.
            guard !isTold else { return }
            isTold = true
            logger.error(
                "the keys of tokens cannot be read; those that are known count for a while",
                metadata: ["error": "\(error)", "known": "\(known != nil)"])
        }
    }
}
