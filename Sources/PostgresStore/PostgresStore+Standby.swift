internal import PaymentCore
public import Reconciler

extension PostgresStore {
    /// Everything that this server flushed is in its log before `written`: a commit that was acknowledged is.
    ///
    /// What a follower has on disk is seen by whoever may look at it (`pg_monitor`); else nothing is known of it.
    private static let standby = """
        SELECT pg_current_wal_flush_lsn()::text,
            (SELECT CASE WHEN count(*) = count(flush_lsn) THEN min(flush_lsn)::text END
                FROM pg_stat_replication
                WHERE state = 'streaming' AND ($1::text IS NULL OR application_name = $1))
        """

    /// Reads how far the log is written and how much of it the named standby has on disk.
    public func standbyReading(_ name: String?) async throws(StoreFailure) -> StandbyReading {
        try await perform("standby") { connection in
            let rows = try connection.rows(PostgresStore.standby, [.text(name)])
            guard let written = LogPosition(text: try rows.text(0, 0)) else {
                throw StoreFailure(.other, operation: "standby", cause: "a place in the log cannot be read")
            }
            return StandbyReading(
                written: written, flushed: try rows.optionalText(0, 1).flatMap { LogPosition(text: $0) })
        }
    }
}
