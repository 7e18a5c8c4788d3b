internal import PaymentCore
internal import PostgresServers
internal import PostgresStore
internal import StoreContract
internal import Testing

/// Opens stores in schemas of their own.
enum StoreSchema {
    /// Lends a store in an empty schema of the shared server, and removes the schema.
    static func withStore<Value>(
        _ clock: ManualClock? = nil, _ body: (PostgresStore, PostgresStoreConfiguration) async throws -> Value
    ) async throws -> Value {
        let server = try await PostgresServer.shared()
        var configuration = try PostgresStoreConfiguration(dsn: server.dsn())
        configuration.schema = server.uniqueSchema()
        configuration.readers = 2
        if let clock { configuration.clock = { clock.now() } }
        try await PostgresStore.migrate(configuration)
        let store = try await PostgresStore(configuration)
        do {
            let value = try await body(store, configuration)
            await store.close()
            _ = try await server.psql("DROP SCHEMA \(configuration.schema) CASCADE")
            return value
        } catch {
            await store.close()
            throw error
        }
    }
}
