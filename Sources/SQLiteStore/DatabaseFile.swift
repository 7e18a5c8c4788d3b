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
        try makeOrNarrow()
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

    /// Since when the store is there.
    func foundedAt(_ pool: DatabasePool) throws(StoreFailure) -> Timestamp {
        do {
            let moment = try pool.read { try Int64.fetchOne($0, sql: "SELECT at FROM store_founding") }
            return Timestamp(milliseconds: moment ?? 0)
        } catch {
            throw StoreFailure(error, operation: "open")
        }
    }

    /// Makes the file if it is not there. One that is there and has no bytes is none of ours: a new one is moved into
    /// place once it has its header, so it was emptied, and would silently become a store without payments.
    private func makeOrNarrow() throws(StoreFailure) {
        if try size(of: path) == nil {
            if let bytes = try size(of: "\(path)-wal"), bytes > 0 { throw lost("is missing") }
            try make()
        }
        if try size(of: path) == 0 { throw lost("is empty") }
        // The mode of a file that others could read is narrowed.
        guard chmod(path, 0o600) == 0 else { throw cannotOpen(errno) }
    }

    private func lost(_ what: String) -> StoreFailure {
        StoreFailure(
            .incompatible, operation: "open",
            cause: "\(path) \(what), and what it held is not there: bring it back from a backup; for a new store, "
                + "remove it and what is beside it (\(path)-wal, \(path)-shm)")
    }

    /// Its bytes; nil if it is not there.
    private func size(of name: String) throws(StoreFailure) -> Int64? {
        var found = stat()
        if stat(name, &found) == 0 { return Int64(found.st_size) }
        guard errno == ENOENT else { throw cannotOpen(errno) }
        return nil
    }

    /// Makes an empty database of ours beside its place, for its owner alone, and gives it its name unless somebody
    /// else was first. SQLite gives its log the same mode.
    private func make() throws(StoreFailure) {
        let made = "\(path)-new-\(getpid())"
        let descriptor = creat(made, 0o600)
        guard descriptor >= 0 else { throw cannotOpen(errno) }
        close(descriptor)
        defer { unlink(made) }
        do {
            let queue = try DatabaseQueue(path: made)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            }
            try queue.close()
        } catch {
            throw StoreFailure(error, operation: "open")
        }
        if link(made, path) == 0 || errno == EEXIST { return }
        // Some file systems have no links. One daemon at a time is here, and commands make no file.
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), rename(made, path) == 0 else { throw cannotOpen(errno) }
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
