internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore

/// A connection pooler between the store and its server.
@Suite(.serialized) struct PoolerTests {
    private func withPooler(
        _ mode: Pooler.Mode, takesOptions: Bool,
        _ body: (_ through: PostgresStoreConfiguration, _ direct: PostgresStoreConfiguration) async throws -> Void
    ) async throws {
        try await StoreSchema.withSchema { direct in
            let pooler = try await Pooler.start(mode, takesOptions: takesOptions, before: try await .shared())
            var through = try PostgresStoreConfiguration(dsn: pooler.dsn)
            through.schema = direct.schema
            through.timeLimit = .seconds(5)
            try await body(through, direct)
            try await pooler.stop()
        }
    }

    private func refusal(_ body: () async throws -> Void) async throws -> StoreFailure? {
        do {
            try await body()
            return nil
        } catch let failure as StoreFailure {
            return failure
        }
    }

    @Test func `a pooler that keeps sessions works, with the settings that it dropped`() async throws {
        try await withPooler(.session, takesOptions: true) { through, _ in
            try await PostgresStore.migrate(through)
            let store = try await PostgresStore(through)
            try await store.probe()
            let seen = try await store.perform("test") { connection in
                let rows = try connection.rows(
                    """
                    SELECT current_setting('search_path'), current_setting('enable_seqscan'),
                        current_setting('idle_in_transaction_session_timeout'), pg_backend_pid()::bigint
                    """)
                return (
                    [try rows.text(0, 0), try rows.text(0, 1), try rows.text(0, 2)], try rows.int(0, 3),
                    connection.process, connection.isPooled
                )
            }
            #expect(seen.0 == [through.schema, "off", "10s"])
            #expect(seen.1 == seen.2, "a commit that waits is looked for by the number that the server knows")
            #expect(seen.3)
            await store.close()
        }
    }

    @Test func `a pooler that gives sessions by transaction is refused by name`() async throws {
        try await withPooler(.transaction, takesOptions: true) { through, direct in
            try await PostgresStore.migrate(direct)
            for attempt in 0..<3 {
                let opened = try await refusal { await (try PostgresStore(through)).close() }
                #expect(opened?.code == .incompatible, "\(attempt)")
                #expect(
                    opened?.cause.contains("gives sessions by transaction") == true, "\(opened?.cause ?? "it opened")")
                #expect(opened?.cause.contains("pool_mode = session") == true)
            }
            let migrated = try await refusal { try await PostgresStore.migrate(through) }
            #expect(migrated?.cause.contains("gives sessions by transaction") == true)
        }
    }

    @Test func `a pooler that takes no settings of a session is refused with what it needs`() async throws {
        for mode in Pooler.Mode.allCases {
            try await withPooler(mode, takesOptions: false) { through, direct in
                try await PostgresStore.migrate(direct)
                let opened = try await refusal { await (try PostgresStore(through)).close() }
                #expect(opened?.code == .incompatible, "\(mode)")
                #expect(opened?.cause.contains("ignore_startup_parameters = options") == true, "\(opened?.cause ?? "")")
            }
        }
    }

    @Test func `a refused password is told from what passes, in libpq's words`() {
        func refuses(_ cause: String) -> Bool {
            PostgresStore.refusesPassword(StoreFailure(.unavailable, operation: "connect", cause: cause))
        }
        let refused = "connection to server at \"a\" failed: FATAL:  password authentication failed for user \"b\""
        let plain = "connection to server at \"a\" failed: FATAL:  no pg_hba.conf entry for host \"c\", no encryption"
        let away = "connection to server at \"d\" failed: Connection refused"
        #expect(refuses(refused) && refuses("\(refused); \(plain)"))
        #expect(refuses("connection to server at \"a\" failed: fe_sendauth: no password supplied"))
        for cause in [away, plain, "\(refused); \(away)", "the database system is starting up", ""] {
            #expect(!refuses(cause), "\(cause)")
        }
    }

    @Test func `without a pooler nothing is between`() async throws {
        try await StoreSchema.withSchema { direct in
            try await PostgresStore.migrate(direct)
            let store = try await PostgresStore(direct)
            #expect(try await store.perform("test") { $0.isPooled } == false)
            await store.close()
        }
    }
}
