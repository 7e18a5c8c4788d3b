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
    }

    private let state = Mutex(State())

    /// From now on, something may be visible that is not confirmed.
    func isDue() { state.withLock { $0.doubts += 1 } }

    /// Makes sure that everything which can be read now is confirmed.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable` while it is not.
    func settle(_ connection: PostgresConnection) throws {
        let doubts = state.withLock { $0.settled < $0.doubts ? $0.doubts : nil }
        guard let doubts else { return }
        let (_, warnings) = try Confirmation.commit(connection)
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
