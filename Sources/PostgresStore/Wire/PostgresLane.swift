internal import Foundation
internal import Logging
internal import Reconciler
internal import Synchronization

/// A thread with a connection of its own, and the work that waits for it.
///
/// libpq blocks while it connects and resolves names, so that no task of the concurrency runtime may call it. A lane
/// connects when there is work, and again after the connection was lost.
final class PostgresLane: Sendable {
    /// One piece of work. It is told why, if there is no connection.
    struct Work: Sendable {
        let perform: @Sendable (PostgresConnection) -> Void
        let refuse: @Sendable (StoreFailure) -> Void
    }

    /// Work that several lanes share: whoever is free takes what waited longest.
    final class Inbox: Sendable {
        private struct State {
            var work: [(work: Work, since: ContinuousClock.Instant)] = []
            var isClosed = false
            var threads = 0
            var whenEmpty: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())
        private let signal = DispatchSemaphore(value: 0)
        private let limit: Duration

        /// - Parameter limit: what waited longer is refused, so that nothing waits for a server that hangs for longer
        ///   than twice that.
        init(limit: Duration) { self.limit = limit }

        /// Adds work; refuses it once closed.
        func add(_ work: Work) {
            let isTaken = state.withLock { state in
                guard !state.isClosed else { return false }
                state.work.append((work, .now))
                return true
            }
            if isTaken {
                signal.signal()
            } else {
                work.refuse(StoreFailure(.unavailable, operation: "connect", cause: "the store is closed"))
            }
        }

        /// Has a lane do something, and waits for it.
        ///
        /// - Throws: ``StoreFailure``, with the code `unavailable` if no connection was to be had, or it was lost.
        func run<Value: Sendable>(
            _ operation: String, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
        ) async throws(StoreFailure) -> Value {
            let result: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
                add(
                    Work(
                        perform: { connection in
                            do {
                                continuation.resume(returning: .success(try body(connection)))
                            } catch {
                                continuation.resume(
                                    returning: .failure(StoreFailure(error, operation, lost: .unavailable)))
                            }
                        },
                        refuse: { continuation.resume(returning: .failure($0)) }))
            }
            return try result.get()
        }

        func entered() { state.withLock { $0.threads += 1 } }

        /// A thread ended.
        func left() {
            let done = state.withLock { state in
                state.threads -= 1
                return state.threads == 0 ? state.whenEmpty : nil
            }
            done?()
        }

        /// The next piece of work; waits for it. Nil once closed and empty.
        func next() -> Work? {
            while true {
                signal.wait()
                let (next, isClosed) = state.withLock { state in
                    (state.work.isEmpty ? nil : state.work.removeFirst(), state.isClosed)
                }
                guard let (work, since) = next else {
                    if isClosed { return nil }
                    continue
                }
                if .now - since < limit { return work }
                work.refuse(StoreFailure(.unavailable, operation: "connect", cause: "no connection was free in time"))
            }
        }

        /// Lets its threads end once all work is done; returns when they have.
        func close() async {
            await withCheckedContinuation { continuation in
                let threads = state.withLock { state in
                    let isFirst = !state.isClosed && state.threads > 0
                    state.isClosed = true
                    if isFirst { state.whenEmpty = { continuation.resume() } }
                    return isFirst ? state.threads : nil
                }
                guard let threads else { return continuation.resume() }
                for _ in 0..<threads { signal.signal() }
            }
        }
    }

    /// Starts `count` lanes that share an inbox.
    ///
    /// - Parameter keeps: whether a connection that is open is still the right one.
    static func start(
        _ count: Int, name: String, inbox: Inbox,
        keeps: @escaping @Sendable (PostgresConnection) -> Bool = { _ in true },
        connect: @escaping @Sendable () throws(StoreFailure) -> PostgresConnection
    ) {
        for number in 1...max(1, count) {
            inbox.entered()
            let thread = Thread {
                var connection: PostgresConnection?
                while let work = inbox.next() {
                    connection?.checkIdle()
                    if let open = connection, !open.isBroken, !keeps(open) { open.close() }
                    if connection?.isBroken ?? true { connection = nil }
                    do throws(StoreFailure) {
                        let open: PostgresConnection
                        if let known = connection { open = known } else { open = try connect() }
                        connection = open
                        work.perform(open)
                    } catch {
                        work.refuse(error)
                    }
                }
                connection?.close()
                inbox.left()
            }
            thread.name = "\(name)-\(number)"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }
}
