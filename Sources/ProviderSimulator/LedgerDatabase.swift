import Foundation
import GRDB

/// How soon a commit is on the disk.
///
/// Either loses nothing when the process is killed; only `full` loses nothing when the machine loses power.
public enum Durability: String, Codable, Sendable {
    case full, normal
}

/// The file in which a simulator keeps what happened, or its counterpart in memory.
enum LedgerDatabase {
    /// - Parameter path: nil keeps everything in memory, for as long as the queue lives.
    static func open(path: String?, durability: Durability) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let synchronous = durability == .full ? "FULL" : "NORMAL"
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
            // 64 MB at the most: keys are random, and with less an index over a million is read from the file again and
            // again.
            try db.execute(sql: "PRAGMA cache_size = -65536")
        }
        let queue: DatabaseQueue
        if let path {
            configuration.journalMode = .wal
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } else {
            queue = try DatabaseQueue(configuration: configuration)
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: schema) }
        migrator.registerMigration("2") { try $0.execute(sql: plantedSchema) }
        migrator.registerMigration("3") { try $0.execute(sql: StripeTables.schema) }
        migrator.registerMigration("4") { try $0.execute(sql: StripeTables.chargedSchema) }
        migrator.registerMigration("5") { try $0.execute(sql: AdyenTables.schema) }
        try migrator.migrate(queue)
        return queue
    }

    /// For reading a file that a simulator may be writing at the same time.
    static func openForReading(path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// `movements` and `journal` are only ever added to.
    ///
    /// Under one key of a provider at most one transaction is live; the others are those that the provider
    /// has forgotten, which happened all the same.
    private static let schema = """
        CREATE TABLE transactions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            live INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            due_at INTEGER,
            state TEXT NOT NULL,
            previous TEXT,
            stale_until INTEGER,
            stale_state TEXT
        );
        CREATE UNIQUE INDEX transactions_by_key ON transactions (provider, key) WHERE live = 1;
        CREATE INDEX transactions_by_update ON transactions (provider, updated_at, key, id);
        CREATE INDEX transactions_due ON transactions (provider, due_at) WHERE due_at IS NOT NULL;
        CREATE TABLE movements (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            transaction_id INTEGER NOT NULL REFERENCES transactions (id),
            kind TEXT NOT NULL,
            value INTEGER NOT NULL,
            currency TEXT NOT NULL,
            at INTEGER NOT NULL,
            entry_key TEXT
        );
        CREATE INDEX movements_by_transaction ON movements (transaction_id);
        CREATE TABLE journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            provider TEXT NOT NULL,
            operation TEXT NOT NULL,
            key TEXT NOT NULL,
            entry_key TEXT NOT NULL,
            origin TEXT NOT NULL,
            fault TEXT,
            executed INTEGER NOT NULL,
            result INTEGER,
            status INTEGER
        );
        CREATE INDEX journal_by_key ON journal (provider, key);
        CREATE TABLE attempts (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            operation TEXT NOT NULL,
            entry_key TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (provider, key, operation, entry_key)
        ) WITHOUT ROWID;
        CREATE TABLE deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            provider TEXT NOT NULL,
            due_at INTEGER NOT NULL,
            request TEXT NOT NULL
        );
        CREATE INDEX deliveries_due ON deliveries (provider, due_at);
        """

    /// `listed_from`: from when on, by the provider's clock, the listing shows it; null: always.
    private static let plantedSchema = """
        ALTER TABLE transactions ADD COLUMN listed_from INTEGER;
        CREATE TABLE planted (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            original TEXT,
            document TEXT NOT NULL
        );
        CREATE INDEX planted_by_key ON planted (provider, key);
        CREATE INDEX transactions_forgotten ON transactions (provider, key) WHERE live = 0;
        """
}
