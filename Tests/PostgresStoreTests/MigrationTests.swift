internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import PostgresStore

@Suite struct MigrationTests {
    private func psql(_ configuration: PostgresStoreConfiguration, _ sql: String) async throws -> String {
        try await PostgresServer.shared().psql("SET search_path TO \(configuration.schema); \(sql)")
    }

    @Test func `what is pending is planned, applied in order, and then no longer pending`() async throws {
        try await StoreSchema.withSchema { configuration in
            let plan = try await PostgresStore.pendingMigrations(configuration)
            #expect(plan == Migrations.all.map { SchemaMigration($0) })
            #expect(plan.map(\.number) == Array(1...plan.count))
            // A plan changes nothing.
            #expect(try await PostgresStore.pendingMigrations(configuration) == plan)
            #expect(try await PostgresStore.migrate(configuration) == plan)
            #expect(try await PostgresStore.pendingMigrations(configuration).isEmpty)
            #expect(try await PostgresStore.migrate(configuration).isEmpty)
        }
    }

    @Test(arguments: 0..<5)
    func `of several processes that migrate at the same moment one applies each step`(_: Int) async throws {
        try await StoreSchema.withSchema { configuration in
            let applied = try await withThrowingTaskGroup(of: [SchemaMigration].self) { group in
                for _ in 0..<4 { group.addTask { try await PostgresStore.migrate(configuration) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(applied == Migrations.all.map { SchemaMigration($0) })
            let recorded = try await psql(configuration, "SELECT count(*) FROM schema_migrations")
            #expect(recorded == String(Migrations.all.count))
        }
    }

    @Test func `a store does not open without its migrations, and says what to run`() async throws {
        try await StoreSchema.withSchema { configuration in
            let found = try await failure { try await PostgresStore(configuration) }
            #expect(found?.code == .incompatible)
            #expect(found?.cause.contains("migrations are missing: 1 payments") == true)
            #expect(found?.cause.contains("run `reconciled migrate`") == true)
        }
    }

    @Test func `a migration that was applied with other words is refused`() async throws {
        try await StoreSchema.withSchema { configuration in
            try await PostgresStore.migrate(configuration)
            _ = try await psql(configuration, "UPDATE schema_migrations SET checksum = 'another' WHERE number = 1")
            for found in try await refusals(configuration) {
                #expect(found?.code == .incompatible)
                #expect(found?.cause == "migration 1 was applied with other words than this version has")
            }
        }
    }

    @Test(arguments: ["NULL", "99"])
    func `a migration of a newer version that this one does not work with is refused`(
        worksFrom: String
    ) async throws {
        try await StoreSchema.withSchema { configuration in
            try await PostgresStore.migrate(configuration)
            _ = try await psql(
                configuration,
                """
                INSERT INTO schema_migrations (number, name, checksum, works_from)
                VALUES (99, 'later', 'x', \(worksFrom))
                """)
            for found in try await refusals(configuration) {
                #expect(found?.code == .incompatible)
                #expect(found?.cause.contains("migration 99 of a newer version") == true)
                #expect(found?.cause.contains("knows up to \(Migrations.all.count)") == true)
            }
        }
    }

    @Test func `a daemon starts on the schema of the version after it`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withSchema { configuration in
            try await PostgresStore.migrate(configuration)
            let last = Migrations.all.count
            let schema = configuration.schema
            let next = Migrations.Step(
                number: Int64(last) + 1, name: "next", sql: "ALTER TABLE payments ADD COLUMN note text;")
            try await RawSession.with(configuration) { session in
                let applied = try await session.use { connection in
                    try Migrations(connection, steps: Migrations.all + [next]).apply(schema: schema).map(\.name)
                }
                #expect(applied == ["next"])
            }
            #expect(try await PostgresStore.pendingMigrations(configuration).isEmpty)
            #expect(try await PostgresStore.migrate(configuration).isEmpty)
            var manual = configuration
            manual.clock = { clock.now() }
            let store = try await PostgresStore(manual)
            let scenario = Scenario(store: store, clock: clock)
            let id = try await scenario.settle(.init("older")).payment.id
            #expect(try await store.payment(id)?.state == .succeeded)
            await store.close()
        }
    }

    @Test func `the program before comparisons starts on their schema`() async throws {
        try await StoreSchema.withSchema { configuration in
            try await PostgresStore.migrate(configuration)
            try await RawSession.with(configuration) { session in
                let pending = try await session.use { connection in
                    try Migrations(connection, steps: Array(Migrations.all.prefix(2))).pending().map(\.name)
                }
                #expect(pending.isEmpty)
            }
        }
    }

    @Test func `an index that was made beforehand is found`() async throws {
        try await StoreSchema.withSchema { configuration in
            let schema = configuration.schema
            try await RawSession.with(configuration) { session in
                _ = try await session.use { connection in
                    try Migrations(connection, steps: Array(Migrations.all.prefix(2))).apply(schema: schema).count
                }
            }
            let index = "CREATE INDEX payments_changed ON \(schema).payments (updated_at, id)"
            _ = try await PostgresServer.shared().psql(index)
            let applied = try await PostgresStore.migrate(configuration).map(\.number)
            #expect(applied == Array(3...13))
        }
    }

    /// What opening, planning and migrating fail with.
    private func refusals(_ configuration: PostgresStoreConfiguration) async throws -> [StoreFailure?] {
        [
            try await failure { try await PostgresStore(configuration) },
            try await failure { try await PostgresStore.pendingMigrations(configuration) },
            try await failure { try await PostgresStore.migrate(configuration) },
        ]
    }

    @Test func `a step that fails leaves nothing behind, and those before it stay`() async throws {
        let good = Migrations.Step(number: 1, name: "good", sql: "CREATE TABLE good (a bigint);")
        let bad = Migrations.Step(number: 2, name: "bad", sql: "CREATE TABLE bad (a bigint); SELECT 1 / 0;")
        let mended = Migrations.Step(number: 2, name: "mended", sql: "CREATE TABLE mended (a bigint);")
        try await StoreSchema.withSchema { configuration in
            var configuration = configuration
            // Others may migrate at the same moment.
            configuration.timeLimit = .minutes(1)
            let schema = configuration.schema
            try await RawSession.with(configuration) { session in
                let error = await #expect(throws: PostgresError.self) {
                    try await session.use { _ = try Migrations($0, steps: [good, bad]).apply(schema: schema) }
                }
                #expect(error?.sqlState == "22012")
                let tables = try await session.text(
                    "SELECT coalesce(string_agg(tablename, ' ' ORDER BY tablename), '') FROM pg_tables"
                        + " WHERE schemaname = $1", [.text(schema)])
                #expect(tables == "good schema_migrations")
                let applied = try await session.use { connection in
                    try Migrations(connection, steps: [good, mended]).apply(schema: schema).map(\.name)
                }
                #expect(applied == ["mended"])
            }
        }
    }

    @Test func `to migrate while a store works does nothing to it`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let scenario = Scenario(store: store, clock: clock)
            let ids = try await withThrowingTaskGroup { group in
                for number in 0..<40 {
                    group.addTask { try await scenario.settle(.init("live-\(number)")).payment.id }
                }
                for _ in 0..<4 {
                    #expect(try await PostgresStore.migrate(configuration).isEmpty)
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for id in ids { #expect(try await store.payment(id)?.state == .succeeded) }
        }
    }
}
