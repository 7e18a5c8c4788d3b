internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// A store with one writer that can be held up, so that what waits meanwhile is one group.
struct GroupStage {
    let store: PostgresStore
    let scenario: Scenario
    let configuration: PostgresStoreConfiguration
    /// Holds up the writer.
    let holder: RawSession

    /// Lends a stage.
    static func with(_ body: (GroupStage) async throws -> Void) async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, writers: 1) { store, configuration in
            try await RawSession.with(configuration) { holder in
                let scenario = Scenario(store: store, clock: clock)
                try await body(
                    GroupStage(store: store, scenario: scenario, configuration: configuration, holder: holder))
            }
        }
    }

    /// Payments in the order of their ids.
    func payments(_ count: Int) async throws -> [Work] {
        var works: [Work] = []
        for number in 0..<count { works.append(try await scenario.create(.init("member-\(number)"))) }
        return works.sorted { $0.payment.id < $1.payment.id }
    }

    /// Commits changes that all wait while the one writer is held up, and then are its next group.
    ///
    /// - Parameters:
    ///   - meanwhile: runs when the writer is let go.
    ///   - first: runs before that, while all of them wait for it.
    /// - Returns: what became of each, and how many transactions there were after that of the one in front.
    func together(
        _ changes: [PaymentChange], meanwhile: () async throws -> Void = {}, first: () -> Void = {}
    ) async throws -> (results: [Result<CommitResult, StoreFailure>], transactions: Int64) {
        let before = store.writeCounts.transactions + 1
        let gate = try await scenario.create(.init("gate-\(before)"))
        _ = try await holder.run("BEGIN", "SAVEPOINT gate")
        try await GroupStage.lock(gate.payment.id, by: holder)
        let store = store
        let results = try await withThrowingTaskGroup { group in
            group.addTask { (-1, await GroupStage.commit(gate.change(.holding(gate.token)), store)) }
            try await untilSomebodyWaits(for: holder)
            for (index, change) in changes.enumerated() {
                group.addTask { (index, await GroupStage.commit(change, store)) }
            }
            try await eventually { store.changes.waiting == changes.count }
            first()
            _ = try await holder.run("ROLLBACK TO gate")
            try await meanwhile()
            _ = try await holder.run("COMMIT")
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
        #expect(throws: Never.self) { try results.first?.1.get() }
        return (results.dropFirst().map(\.1), store.writeCounts.transactions - before - 1)
    }

    /// Waits until a session holds up another.
    func untilSomebodyWaits(for session: RawSession) async throws {
        let process = try await session.process()
        try await eventually {
            try await PostgresServer.shared().psql(
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE \(process) = ANY (pg_blocking_pids(pid))") == "t"
        }
    }

    /// Locks a payment's row until the transaction ends.
    static func lock(_ id: PaymentID, by session: RawSession) async throws {
        try await session.use { connection in
            _ = try connection.rows("SELECT 1 FROM payments WHERE id = $1 FOR UPDATE", [.text(id.text)])
        }
    }

    private static func commit(
        _ change: PaymentChange, _ store: PostgresStore
    ) async -> Result<CommitResult, StoreFailure> {
        do throws(StoreFailure) {
            return .success(try await store.commit(change))
        } catch {
            return .failure(error)
        }
    }
}
