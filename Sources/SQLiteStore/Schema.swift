internal import GRDB
internal import Logging
internal import Reconciler

/// The numbered migrations, and the check that the schema is what they make.
enum Schema {
    /// Marks a file as ours in SQLite's header: the letters "RCND".
    static let applicationID: Int32 = 0x5243_4E44

    /// One step of the schema. A step that was published never changes.
    struct Migration: Sendable {
        let number: Int32
        let sql: String
    }

    /// All steps in ascending order.
    static let migrations: [Migration] = [
        Migration(number: 1, sql: version1), Migration(number: 2, sql: version2),
        Migration(number: 3, sql: version3), Migration(number: 4, sql: version4),
        Migration(number: 5, sql: version5), Migration(number: 6, sql: version6),
        Migration(number: 7, sql: version7), Migration(number: 8, sql: version8),
    ]

    /// The schema that this program works with.
    static var newest: Int32 { migrations.last?.number ?? 0 }

    /// Refuses a file of another program and a schema of a newer one, before anything is written to it.
    static func checkOwnership(_ db: Database) throws(StoreFailure) {
        let found: (application: Int32, version: Int32, objects: Int)
        do {
            found = (
                try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
                try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0,
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            )
        } catch {
            throw StoreFailure(error, operation: "open")
        }
        if found.application == 0, found.version == 0, found.objects == 0 { return }
        guard found.application == applicationID else {
            throw StoreFailure(
                .incompatible, operation: "open",
                cause: "the file is a database of another program (application id \(found.application), "
                    + "expected \(applicationID))")
        }
        guard found.version <= newest else {
            throw StoreFailure(
                .incompatible, operation: "open",
                cause: "the file has schema \(found.version) of a newer version; this one knows up to \(newest)")
        }
    }

    /// Runs the steps that are missing, each in a transaction of its own.
    static func migrate(_ db: Database, logger: Logger) throws(StoreFailure) {
        for migration in migrations {
            do {
                try db.inTransaction(.immediate) {
                    // Read under the write lock: another process may have migrated meanwhile.
                    let version = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                    guard version < migration.number else { return .rollback }
                    try db.execute(sql: migration.sql)
                    try db.execute(sql: "PRAGMA application_id = \(applicationID)")
                    try db.execute(sql: "PRAGMA user_version = \(migration.number)")
                    logger.info("the schema was migrated", metadata: ["to": "\(migration.number)"])
                    return .commit
                }
            } catch {
                throw StoreFailure(error, operation: "migrate")
            }
        }
    }

    /// Refuses a schema that is not, object by object, what the migrations make: a trigger that is missing would let
    /// history be rewritten.
    static func checkObjects(_ db: Database) throws(StoreFailure) {
        let expected: [String: String]
        let found: [String: String]
        do {
            let model = try DatabaseQueue()
            expected = try model.write { model in
                for migration in migrations { try model.execute(sql: migration.sql) }
                return try objects(model)
            }
            found = try objects(db)
        } catch {
            throw StoreFailure(error, operation: "open")
        }
        let differing = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }
        guard differing.isEmpty else {
            throw StoreFailure(
                .incompatible, operation: "open",
                cause: "the schema was changed by hand: \(differing.sorted().joined(separator: ", "))")
        }
    }

    private static func objects(_ db: Database) throws -> [String: String] {
        var objects: [String: String] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
        while let row = try rows.next() {
            let type: String = row["type"]
            let name: String = row["name"]
            objects["\(type) \(name)"] = row["sql"] ?? ""
        }
        return objects
    }
}

extension SQLiteStore {
    /// The number of the newest schema that this version knows.
    public static var newestSchema: Int { Int(Schema.newest) }
}
