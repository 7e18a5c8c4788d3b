internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// All tests that need a primary and its standby: one after the other, because each is heavy.
@Suite(.serialized) struct PostgresPairTests {}

/// A pair of servers, and a store that knows both.
struct PairStage {
    let pair: PostgresPair
    let configuration: PostgresStoreConfiguration
    let scenario: Scenario
    let store: PostgresStore

    /// Lends a stage.
    static func with(limit: Span, _ body: (PairStage) async throws -> Void) async throws {
        let pair = try await PostgresPair.start()
        let clock = ManualClock()
        var configuration = try PostgresStoreConfiguration(dsn: pair.dsn)
        configuration.clock = { clock.now() }
        configuration.timeLimit = limit
        (configuration.writers, configuration.readers) = (1, 2)
        try await PostgresStore.migrate(configuration)
        let store = try await PostgresStore(configuration)
        let stage = PairStage(
            pair: pair, configuration: configuration, scenario: Scenario(store: store, clock: clock), store: store)
        do {
            try await body(stage)
            try await stage.end()
        } catch {
            try await stage.end()
            throw error
        }
    }

    /// The servers first: whatever waits for them then fails at once.
    private func end() async throws {
        try await pair.stop()
        await store.close()
    }

    /// The id of the payment that is created under a key.
    func id(_ key: String) throws -> PaymentID { try scenario.draft(.init(key)).work.payment.id }

    /// What creating a payment fails with; nil if it was acknowledged.
    func creating(_ key: String) async throws -> StoreFailure? {
        try await failure { try await scenario.create(.init(key)) }
    }

    /// What reading a payment fails with; nil if it is answered, whether the payment is there or not.
    func reading(_ key: String, by other: PostgresStore? = nil) async throws -> StoreFailure? {
        try await failure { try await (other ?? store).payment(id(key)) }
    }

    /// The server process that has committed and waits for the standby, once there is one that writes payments.
    func waitingWriter() async throws -> String {
        var process = ""
        try await eventually {
            process = try await pair.psql(on: .primary, "SELECT pid \(PairStage.waiting) AND query = 'COMMIT'")
            return !process.isEmpty
        }
        return process
    }

    /// Ends the wait of a commit for the standby, as an operator may.
    func cutOff() async throws {
        let writer = try await waitingWriter()
        try await pair.psql(on: .primary, "SELECT pg_cancel_backend(\(writer))")
        try await eventually {
            try await pair.psql(on: .primary, "SELECT count(*) \(PairStage.waiting) AND pid = \(writer)") == "0"
        }
    }

    /// Server processes of the store that have committed and wait for the standby.
    static let waiting = """
        FROM pg_stat_activity WHERE application_name = 'reconciled' AND wait_event = 'SyncRep'
        """

    /// What can be seen of a payment on a server by whoever looks: rows of it in each table.
    func visible(_ key: String, on side: PostgresPair.Side = .primary) async throws -> [Int] {
        let id = try id(key)
        let counts = [
            "payments WHERE id", "legs WHERE payment_id", "effects WHERE payment_id", "events WHERE payment_id",
            "idempotency_keys WHERE place",
        ].map { "(SELECT count(*) FROM \(configuration.schema).\($0) = '\(id)')" }
        let row = try await pair.psql(on: side, "SELECT \(counts.joined(separator: ", "))")
        return row.split(separator: "|").compactMap { Int($0) }
    }

    /// A payment is there with all that belongs to it, or not at all.
    func isWhole(_ key: String, on side: PostgresPair.Side = .primary) async throws -> Bool {
        let counts = try await visible(key, on: side)
        #expect(counts.allSatisfy { $0 > 0 } || counts.allSatisfy { $0 == 0 }, "half of it is there: \(counts)")
        return counts.allSatisfy { $0 > 0 }
    }

    /// The standby shows a payment. It has on disk what it confirmed, the tables too, and shows it a little later.
    func standbyShows(_ key: String) async throws {
        try await eventually { (try? await isWhole(key, on: .standby)) ?? false }
    }
}

extension StoreFailure {
    /// Whether a read failed because what can be seen is not confirmed.
    var isForWantOfConfirmation: Bool { [.unavailable, .indeterminate].contains(code) }
}
