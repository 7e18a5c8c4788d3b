internal import Crypto
internal import PaymentCore
public import Reconciler

/// The numbered migrations: applied under a lock, each in a transaction of its own, and checked by checksum at every
/// start. One that was published never changes, and each leaves the version before it working: a daemon of that
/// version goes on, and may also start anew, while the newer ones are rolled out.
struct Migrations {
    /// One step of the schema.
    struct Step: Sendable {
        let number: Int64
        let name: String
        let sql: String
        /// The last migration that a program must know to work on a schema that has this one.
        let worksFrom: Int64

        init(number: Int64, name: String, sql: String, worksFrom: Int64? = nil) {
            self.number = number
            self.name = name
            self.sql = sql
            self.worksFrom = worksFrom ?? number - 1
        }

        /// The SHA-256 of its words.
        var checksum: String { SHA256.hash(data: Array(sql.utf8)).map { hex($0) }.joined() }

        private func hex(_ byte: UInt8) -> String {
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }
    }

    /// All steps in ascending order.
    static let all: [Step] = [
        Step(number: 1, name: "payments", sql: String(decoding: PackageResources._001_payments_sql, as: UTF8.self)),
        Step(
            number: 2, name: "refused-by-name",
            sql: String(decoding: PackageResources._002_refused_by_name_sql, as: UTF8.self)),
        Step(
            number: 3, name: "comparisons",
            sql: String(decoding: PackageResources._003_comparisons_sql, as: UTF8.self)),
        Step(
            number: 4, name: "changed-payments",
            sql: String(decoding: PackageResources._004_changed_payments_sql, as: UTF8.self), worksFrom: 2),
        Step(
            number: 5, name: "site", sql: String(decoding: PackageResources._005_site_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 6, name: "store-identity",
            sql: String(decoding: PackageResources._006_store_identity_sql, as: UTF8.self), worksFrom: 2),
        Step(
            number: 7, name: "waiting", sql: String(decoding: PackageResources._007_waiting_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 8, name: "asked", sql: String(decoding: PackageResources._008_asked_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 9, name: "witness", sql: String(decoding: PackageResources._009_witness_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 10, name: "alive", sql: String(decoding: PackageResources._010_alive_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 11, name: "repairs", sql: String(decoding: PackageResources._011_repairs_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 12, name: "webhooks", sql: String(decoding: PackageResources._012_webhooks_sql, as: UTF8.self),
            worksFrom: 2),
        Step(
            number: 13, name: "key-spaces",
            sql: String(decoding: PackageResources._013_key_spaces_sql, as: UTF8.self), worksFrom: 2),
    ]

    private let connection: PostgresConnection
    private let steps: [Step]

    init(_ connection: PostgresConnection, steps: [Step] = Migrations.all) {
        self.connection = connection
        self.steps = steps
    }

    /// A step that was applied.
    private struct Applied {
        let number: Int64
        let checksum: String
        let worksFrom: Int64
    }

    /// The steps that were applied, in ascending order.
    private func applied() throws -> [Applied] {
        let there = try connection.rows("SELECT to_regclass('schema_migrations') IS NOT NULL")
        guard try there.bool(0, 0) else { return [] }
        // Older versions did not write from where a step works, and had no such column.
        let rows = try connection.rows(
            """
            SELECT number, checksum, coalesce((to_jsonb(known) ->> 'works_from')::bigint, number)
            FROM schema_migrations AS known ORDER BY number
            """)
        return try (0..<rows.count).map { row in
            Applied(
                number: try rows.int(row, 0), checksum: try rows.text(row, 1), worksFrom: try rows.int(row, 2))
        }
    }

    /// The steps that would run.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` if an applied step has other words, or is of a version
    ///   so new that this one does not work with it.
    func pending() throws -> [Step] {
        let applied = try applied()
        let last = steps.last?.number ?? 0
        for found in applied {
            guard let step = steps.first(where: { $0.number == found.number }) else {
                guard found.worksFrom <= last else {
                    throw StoreFailure(
                        .incompatible, operation: "migrate",
                        cause:
                            "the schema has migration \(found.number) of a newer version, which needs a program that "
                            + "knows up to \(found.worksFrom); this one knows up to \(last)")
                }
                continue
            }
            guard step.checksum == found.checksum else {
                throw StoreFailure(
                    .incompatible, operation: "migrate",
                    cause: "migration \(found.number) was applied with other words than this version has")
            }
        }
        let numbers = Set(applied.map(\.number))
        return steps.filter { !numbers.contains($0.number) }
    }

    /// How a failure begins that migrations mend.
    static let missing = "migrations are missing"

    /// Requires that nothing is pending.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible`.
    func requireCurrent() throws {
        let pending = try pending()
        guard pending.isEmpty else {
            throw StoreFailure(
                .incompatible, operation: "open",
                cause: "\(Migrations.missing): \(pending.map { "\($0.number) \($0.name)" }.joined(separator: ", ")); "
                    + "run `reconciled migrate`")
        }
    }

    /// Applies what is pending, in ascending order; returns what was applied. Of several processes that do so at the
    /// same moment one works, and the others find nothing left.
    func apply(schema: String) throws -> [Step] {
        // Below zero, because sessions have theirs above it.
        let lock = "(\(Session.lockSpace), -2 - abs(hashtext('\(schema)') % 1000000000))"
        try connection.run([Statement("SELECT pg_advisory_lock\(lock)")])
        do {
            // Under the lock too: of two that make a schema at the same moment one is refused.
            try connection.script("CREATE SCHEMA IF NOT EXISTS \(schema)")
            let pending = try pending()
            for step in pending {
                try connection.script(
                    """
                    BEGIN;
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                        applied_at timestamptz NOT NULL DEFAULT now());
                    ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS works_from bigint;
                    \(step.sql)
                    INSERT INTO schema_migrations (number, name, checksum, works_from)
                        VALUES (\(step.number), '\(step.name)', '\(step.checksum)', \(step.worksFrom));
                    COMMIT;
                    """)
            }
            try connection.run([Statement("SELECT pg_advisory_unlock\(lock)")])
            return pending
        } catch {
            // The lock, and a transaction that failed, end with the session.
            connection.close()
            throw error
        }
    }
}

/// A step of the schema, as an operator sees it.
public struct SchemaMigration: Sendable, Hashable {
    /// Its number, from 1.
    public let number: Int
    /// What it is about.
    public let name: String
    /// The SHA-256 of its words.
    public let checksum: String

    init(_ step: Migrations.Step) {
        number = Int(step.number)
        name = step.name
        checksum = step.checksum
    }
}

extension PostgresStore {
    /// The number of the newest migration that this version knows.
    public static var newestMigration: Int { Int(Migrations.all.last?.number ?? 0) }

    /// Whether a store could not be opened for want of migrations, which somebody may run meanwhile.
    public static func lacksMigrations(_ failure: StoreFailure) -> Bool {
        failure.code == .incompatible && failure.cause.hasPrefix(Migrations.missing)
    }

    /// What ``migrate(_:)`` would apply.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable` without a server, `incompatible` if an applied migration
    ///   is unknown or has other words.
    public static func pendingMigrations(
        _ configuration: PostgresStoreConfiguration
    ) async throws(StoreFailure) -> [SchemaMigration] {
        try await withConnection(configuration) { try Migrations($0).pending().map { SchemaMigration($0) } }
    }

    /// Makes the schema what this version works with; returns what was applied.
    ///
    /// - Throws: ``StoreFailure`` as ``pendingMigrations(_:)``.
    @discardableResult
    public static func migrate(
        _ configuration: PostgresStoreConfiguration
    ) async throws(StoreFailure) -> [SchemaMigration] {
        let schema = configuration.schema
        return try await withConnection(configuration) { connection in
            let applied = try Migrations(connection).apply(schema: schema).map { SchemaMigration($0) }
            // So that the first daemon finds the months that it needs.
            _ = try connection.rows(
                """
                SELECT prepare_events((extract(epoch FROM now()) * 1000)::bigint, ahead)
                FROM generate_series(0, 2) AS ahead
                """)
            return applied
        }
    }

    private static func withConnection<Value: Sendable>(
        _ configuration: PostgresStoreConfiguration,
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws(StoreFailure) -> Value {
        var patient = configuration
        // A migration may take a while.
        patient.timeLimit = .hours(1)
        let session = Session(patient)
        let inbox = PostgresLane.Inbox(limit: .seconds(60))
        PostgresLane.start(1, name: "pg-migrate", inbox: inbox) { () throws(StoreFailure) in try session.open() }
        do throws(StoreFailure) {
            let value = try await inbox.run("migrate") { connection in
                try session.requireOwnSession(connection, takesStandby: false)
                return try body(connection)
            }
            await inbox.close()
            return value
        } catch {
            await inbox.close()
            throw error
        }
    }
}
