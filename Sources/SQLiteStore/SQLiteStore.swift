internal import Dispatch
internal import GRDB
internal import Logging
public import PaymentCore
public import Reconciler
internal import Synchronization

/// Payments in one SQLite file: the embedded store, for one machine.
///
/// Every change is flushed before it is acknowledged (write-ahead log, `synchronous = FULL`); changes that are ready at
/// the same moment share one transaction and one flush. One daemon works on a file; commands may use it meanwhile, and
/// leases keep them apart.
public final class SQLiteStore: PaymentStore {
    /// How much was written since the start.
    public struct WriteCounts: Sendable, Hashable {
        /// Transactions that were committed, each with one flush.
        public var transactions: Int64
        /// Writes in them.
        public var writes: Int64
    }

    /// Where the file is.
    public let path: String
    let pool: DatabasePool
    let queue: WriteQueue
    let clock: SteadyClock
    let logger: Logger
    let retention: Span?
    let reportsTo: Set<CallerID>
    let site: SiteName
    /// Since when the store is there.
    let foundedAt: Timestamp
    private let daemonLock: Mutex<DaemonLock?>

    /// Opens or creates the file, migrates it, and checks that the schema is what this version makes.
    ///
    /// Blocks until that is done; with the migrations done, this takes milliseconds.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` for the file of another program, of a newer version
    ///   or with a schema that was changed by hand, `corrupted` if it is no database, `unavailable` if it cannot be
    ///   opened, `busy` if another process holds it, or if another daemon works on it.
    public init(
        path: String, configuration: SQLiteStoreConfiguration = SQLiteStoreConfiguration()
    ) throws(StoreFailure) {
        self.path = path
        // Before the file is touched: a daemon of another version may work on it.
        let lock = configuration.isDaemon ? try DaemonLock(of: path) : nil
        daemonLock = Mutex(lock)
        let file = DatabaseFile(path: path, configuration: configuration)
        pool = try file.open()
        foundedAt = try file.foundedAt(pool)
        clock = SteadyClock(configuration.clock)
        logger = configuration.logger
        retention = configuration.retention
        reportsTo = configuration.reportsTo
        site = configuration.site
        queue = WriteQueue(
            pool: pool, largestGroup: configuration.largestGroup, logger: configuration.logger)
    }

    /// What was written since the start.
    public var writeCounts: WriteCounts {
        let counts = queue.counts
        return WriteCounts(transactions: counts.transactions, writes: counts.writes)
    }

    /// Closes the file once what runs is done. Whatever is asked after that fails as `unavailable`.
    ///
    /// The daemon copies its log into the file first, so that the file alone is the whole store, unless a command
    /// reads it at that moment.
    public func close() async throws(StoreFailure) {
        let pool = pool
        let copiesLog = daemonLock.withLock { $0 != nil }
        let logger = logger
        let result: Result<Void, StoreFailure> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                if copiesLog { SQLiteStore.copyLog(of: pool, logger) }
                do {
                    try pool.close()
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(StoreFailure(error, operation: "close")))
                }
            }
        }
        daemonLock.withLock { $0 = nil }
        try result.get()
    }

    private static func copyLog(of pool: DatabasePool, _ logger: Logger) {
        do {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch {
            // Nothing is lost: the log is read at the next start.
            logger.info("the log was not copied into the file", metadata: ["error": "\(error)"])
        }
    }

    /// The store's clock: the configured one, which never goes backward here.
    public func now() async throws(StoreFailure) -> Timestamp { clock.now() }

    /// Writes the time and reads it back, through the same queue as every write.
    public func probe() async throws(StoreFailure) {
        let written = clock.now()
        let read = try await queue.write("probe") { db in
            try db.cachedStatement(
                sql: "INSERT INTO probe (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at"
            ).execute(arguments: [written.milliseconds])
            return try Int64.fetchOne(db, sql: "SELECT at FROM probe WHERE id = 1")
        }
        guard read == written.milliseconds else {
            throw StoreFailure(.corrupted, operation: "probe", cause: "what was read is not what was written")
        }
    }

    /// Reads in one snapshot, on a connection of its own.
    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFailure) -> Value {
        let result: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            pool.asyncRead { opened in
                do {
                    continuation.resume(returning: .success(try body(try opened.get())))
                } catch {
                    continuation.resume(returning: .failure(StoreFailure(error, operation: operation)))
                }
            }
        }
        return try result.get()
    }
}
