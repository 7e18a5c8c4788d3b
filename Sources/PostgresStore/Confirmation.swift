internal import Reconciler
internal import Synchronization

/// Whether all that can be read is as durable as the database promises.
///
/// What was committed without the standby's confirmation is visible all the same: after a cancelled wait, after the end
/// of the session that waited, after a crash of the server. A later commit that is confirmed confirms everything before
/// it, because the log is flushed in order.
final class Confirmation: Sendable {
    private struct State {
        var doubts = 1
        var settled = 0
        var left: Set<Int64> = []
    }

    private let state = Mutex(State())

    /// From now on, something may be visible that is not confirmed.
    func isDue() { state.withLock { $0.doubts += 1 } }

    /// The same, and the server's process of a connection that was closed during its commit may still wait for the
    /// standby: nothing but the standby, or an operator, ends that.
    func isDue(leaving process: Int64) {
        state.withLock { state in
            state.doubts += 1
            state.left.insert(process)
        }
    }

    /// Requires that no commit from before still waits for the standby: another would only wait as well, and leave one
    /// more process waiting.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable`.
    func requireNoneWaiting(_ connection: PostgresConnection) throws {
        let left = state.withLock { $0.left }
        guard !left.isEmpty else { return }
        let rows = try connection.rows(
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = ANY ($1) AND wait_event = 'SyncRep'",
            [.ints(left.sorted())])
        guard try !rows.bool(0, 0) else {
            throw StoreFailure(.unavailable, operation: "confirm", cause: "an earlier commit waits for the standby")
        }
        state.withLock { $0.left.subtract(left) }
    }

    /// Makes sure that everything which can be read now is confirmed.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable` while it is not.
    func settle(_ connection: PostgresConnection) throws {
        // What a standby shows was flushed by its primary before, and is on its own disk.
        guard !connection.isStandby else { return }
        let doubts = state.withLock { $0.settled < $0.doubts ? $0.doubts : nil }
        guard let doubts else { return }
        try requireNoneWaiting(connection)
        let warnings: [String]
        do {
            warnings = try Confirmation.commit(connection).warnings
        } catch let error as PostgresConnection.Lost {
            isDue(leaving: connection.process)
            throw error
        }
        if let warning = warnings.first {
            throw StoreFailure(.unavailable, operation: "confirm", cause: warning)
        }
        state.withLock { $0.settled = max($0.settled, doubts) }
    }

    /// Commits something small.
    @discardableResult
    static func commit(_ connection: PostgresConnection) throws -> (rows: [Rows], warnings: [String]) {
        try connection.run([
            Statement(
                """
                INSERT INTO probe (place, at) VALUES (
                    current_setting('reconciled.place')::bigint,
                    (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                ON CONFLICT (place) DO UPDATE SET at = excluded.at
                """)
        ])
    }
}
