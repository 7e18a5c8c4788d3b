internal import GRDB
internal import PaymentCore
internal import Reconciler

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file in which a store lives.
struct DatabaseFile {
    let path: String
    let configuration: SQLiteStoreConfiguration

    /// Opens or creates the database, brings its schema up to date, and checks it.
    func open() throws(StoreFailure) -> DatabasePool {
        try createPrivately()
        try checkOwnership()
        let pool: DatabasePool
        do {
            pool = try DatabasePool(path: path, configuration: connections())
        } catch {
            throw StoreFailure(error, operation: "open")
        }
        let prepared: Result<Void, StoreFailure> = pool.writeWithoutTransaction { db in
            do throws(StoreFailure) {
                try prepareWriter(db)
                try Schema.migrate(db, logger: configuration.logger)
                try Schema.checkObjects(db)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try prepared.get()
        return pool
    }

    /// Creates the file for its owner alone; SQLite gives its log the same mode. The mode of a file that others could
    /// read is narrowed.
    private func createPrivately() throws(StoreFailure) {
        let descriptor = path.withCString { name in
            #if canImport(Glibc)
                Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #elseif canImport(Musl)
                Musl.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #else
                Darwin.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #endif
        }
        guard descriptor >= 0 else { throw cannotOpen(errno) }
        let narrowed = fchmod(descriptor, 0o600)
        let code = errno
        guard close(descriptor) == 0, narrowed == 0 else { throw cannotOpen(code) }
    }

    private func cannotOpen(_ code: Int32) -> StoreFailure {
        let words = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        return StoreFailure(.unavailable, operation: "open", cause: "\(path): \(words)")
    }

    /// Looks at the file without changing it, so that what is not ours stays as it is.
    private func checkOwnership() throws(StoreFailure) {
        var reading = Configuration()
        reading.readonly = true
        reading.busyMode = busyMode
        let checked: Result<Void, StoreFailure>
        do {
            let queue = try DatabaseQueue(path: path, configuration: reading)
            checked = queue.unsafeRead { db in
                do throws(StoreFailure) {
                    return .success(try Schema.checkOwnership(db))
                } catch {
                    return .failure(error)
                }
            }
            try queue.close()
        } catch {
            throw StoreFailure(error, operation: "open")
        }
        try checked.get()
    }

    private func connections() -> Configuration {
        var connections = Configuration()
        connections.label = "reconciled.store"
        connections.foreignKeysEnabled = true
        connections.busyMode = busyMode
        connections.maximumReaderCount = max(1, configuration.readers)
        return connections
    }

    private var busyMode: Database.BusyMode {
        .timeout(Double(max(0, configuration.busyTimeout.milliseconds)) / 1_000)
    }

    /// Comes after the pool is made, because the pool itself asks for fewer flushes in write-ahead mode: an
    /// acknowledged payment must survive the loss of power.
    private func prepareWriter(_ db: Database) throws(StoreFailure) {
        do {
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // Payments have random ids: their index pages are reused often enough to be kept at hand, and copied into
            // the database seldom.
            try db.execute(sql: "PRAGMA cache_size = -16384")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
            try db.execute(sql: "PRAGMA journal_size_limit = \(max(0, configuration.journalLimit))")
            let mode = try Int.fetchOne(db, sql: "PRAGMA synchronous")
            guard mode == 2 else {
                throw StoreFailure(.other, operation: "open", cause: "synchronous = FULL was not taken")
            }
        } catch {
            throw StoreFailure(error, operation: "open")
        }
    }
}
