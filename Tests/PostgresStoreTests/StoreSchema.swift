internal import PaymentCore
internal import PostgresServers
internal import PostgresStore
internal import StoreContract
internal import Testing

/// Opens stores in schemas of their own.
enum StoreSchema {
    /// Lends an empty schema of the shared server without any tables, and removes it.
    static func withSchema<Value>(
        _ body: (PostgresStoreConfiguration) async throws -> Value
    ) async throws -> Value {
        let server = try await PostgresServer.shared()
        var configuration = try PostgresStoreConfiguration(dsn: server.dsn())
        configuration.schema = server.uniqueSchema()
        let value = try await body(configuration)
        _ = try await server.psql("DROP SCHEMA IF EXISTS \(configuration.schema) CASCADE")
        return value
    }

    /// Lends a store in an empty schema of the shared server, and removes the schema.
    static func withStore<Value>(
        _ clock: ManualClock? = nil, writers: Int = 2, readers: Int = 2, retention: Span? = nil,
        reportingTo callers: Set<CallerID> = [],
        _ body: (PostgresStore, PostgresStoreConfiguration) async throws -> Value
    ) async throws -> Value {
        try await withSchema { configuration in
            var configuration = configuration
            (configuration.writers, configuration.readers) = (writers, readers)
            (configuration.retention, configuration.reportsTo) = (retention, callers)
            if let clock { configuration.clock = { clock.now() } }
            try await PostgresStore.migrate(configuration)
            let store = try await PostgresStore(configuration)
            do {
                let value = try await body(store, configuration)
                await store.close()
                return value
            } catch {
                await store.close()
                throw error
            }
        }
    }
}
