internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore

@Suite struct HostChoiceTests {
    /// Lends the name of a role whose sessions only read.
    private func withReader(_ body: (PostgresServer, String) async throws -> Void) async throws {
        let server = try await PostgresServer.shared()
        let role = server.uniqueSchema()
        _ = try await server.psql(
            "CREATE ROLE \(role) SUPERUSER LOGIN; ALTER ROLE \(role) SET default_transaction_read_only = on")
        try await body(server, role)
        _ = try await server.psql("DROP ROLE \(role)")
    }

    @Test func `a server whose sessions only read is refused as unavailable`() async throws {
        try await withReader { server, role in
            let configuration = try PostgresStoreConfiguration(dsn: "\(server.dsn()) user=\(role)")
            let found = try await failure { try await PostgresStore(configuration) }
            #expect(found?.code == .unavailable)
            #expect(found?.cause.contains("read-only") == true)
            // Nor can the connection string ask for less.
            let lax = try PostgresStoreConfiguration(dsn: "\(configuration.dsn) target_session_attrs=any")
            #expect(try await failure { try await PostgresStore(lax) }?.code == .unavailable)
        }
    }

    @Test func `a server that begins to only read is left, and found again when it writes`() async throws {
        try await StoreSchema.withStore(readers: 1) { store, configuration in
            try await store.probe()
            try await store.perform("test") { connection in
                _ = try connection.rows("SELECT set_config('default_transaction_read_only', 'on', false)")
            }
            let found = try await failure { try await store.probe() }
            #expect(found?.code == .unavailable)
            try await store.probe()
        }
    }

    @Test func `hosts are tried in order until one takes writes`() async throws {
        let server = try await PostgresServer.shared()
        // Nobody listens at port 1.
        let dsn = "host=127.0.0.1,127.0.0.1 port=1,\(server.port) user=postgres dbname=postgres"
        try await StoreSchema.withSchema { known in
            var configuration = try PostgresStoreConfiguration(dsn: dsn)
            configuration.schema = known.schema
            try await PostgresStore.migrate(configuration)
            let store = try await PostgresStore(configuration)
            try await store.probe()
            await store.close()
        }
    }

    @Test func `without any server a store is unavailable`() async throws {
        let dsn = "host=127.0.0.1,127.0.0.1 port=1,2 user=postgres dbname=postgres"
        let configuration = try PostgresStoreConfiguration(dsn: dsn)
        let found = try await failure { try await PostgresStore(configuration) }
        #expect(found?.code == .unavailable)
    }

    @Test func `a connection string that cannot be read is no configuration`() async throws {
        let found = try await failure { try PostgresStoreConfiguration(dsn: "host=127.0.0.1 colour=red") }
        #expect(found?.code == .incompatible)
        #expect(found?.cause.contains("colour") == true)
    }
}
