internal import Foundation
internal import Logging
internal import Reconciler
internal import Synchronization

/// Tells other processes that something is due at once, and hears it from them (`NOTIFY`, `LISTEN`).
///
/// It only saves waiting: whoever misses a notification finds the payment when it looks the next time.
final class DueNews: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastListener = 0
        var isListening = false
        var isClosed = false
        var isAnnouncing = false
    }

    /// How long a lost connection is left alone.
    private static let pauseAfterLoss: TimeInterval = 1
    /// How long the listener's thread waits before it looks whether it is still wanted.
    private static let wait = Duration.seconds(1)

    private let state = Mutex(State())
    private let session: Session
    private let channel: String
    private let logger: Logger

    init(session: Session, schema: String, logger: Logger) {
        self.session = session
        channel = "reconciled_due_\(schema)"
        self.logger = logger
    }

    // MARK: Telling

    /// Tells other processes, by a connection of `inbox`. Several calls that wait become one.
    ///
    /// Not in the transaction that it is about: PostgreSQL lets commits with notifications happen only one by one.
    func announce(in inbox: PostgresLane.Inbox) {
        let isFirst = state.withLock { state in
            defer { state.isAnnouncing = true }
            return !state.isAnnouncing && !state.isClosed
        }
        guard isFirst else { return }
        let done: @Sendable () -> Void = { self.state.withLock { $0.isAnnouncing = false } }
        inbox.add(
            PostgresLane.Work(
                perform: { connection in
                    done()
                    do {
                        // It changes no row, and need not wait for a flush.
                        try connection.run([
                            Statement("BEGIN"), Statement("SET LOCAL synchronous_commit = off"),
                            Statement("SELECT pg_notify($1, '')", [.text(self.channel)]), Statement("COMMIT"),
                        ])
                    } catch {
                        self.logger.debug("others were not notified", metadata: ["error": "\(error)"])
                        connection.close()
                    }
                },
                refuse: { _ in done() }))
    }

    // MARK: Hearing

    /// Hears from all processes, this one included.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isFirst, isClosed) = state.withLock { state in
            state.lastListener += 1
            defer { state.isListening = true }
            if !state.isClosed { state.listeners[state.lastListener] = continuation }
            return (state.lastListener, !state.isListening, state.isClosed)
        }
        guard !isClosed else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { _ in self.state.withLock { $0.listeners[number] = nil } }
        if isFirst { start() }
        return stream
    }

    /// Ends all streams. The thread ends within a second.
    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener.finish() }
    }

    private func start() {
        let thread = Thread {
            while !self.isClosed {
                do {
                    try self.listen()
                } catch {
                    self.logger.debug("the listener's connection was lost", metadata: ["error": "\(error)"])
                    Thread.sleep(forTimeInterval: DueNews.pauseAfterLoss)
                }
            }
        }
        thread.name = "pg-listen"
        thread.start()
    }

    private func listen() throws {
        let connection = try session.open()
        try connection.run([Statement("LISTEN \"\(channel)\"")])
        // What was told while nobody listened.
        tell()
        while !isClosed {
            if try connection.awaitNotification(for: DueNews.wait) { tell() }
        }
    }

    private func tell() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
}
