internal import Logging
public import PaymentCore
public import Reconciler
internal import StoreRows
internal import Synchronization

/// Payments in PostgreSQL: the store that several daemons share.
///
/// Changes that are ready at the same moment share one transaction and one flush; the database's clock decides about
/// leases. What was committed without the confirmation that the database is set to wait for (its synchronous standby)
/// counts as in doubt, and nothing is read as settled before a later commit was confirmed.
public final class PostgresStore: PaymentStore {
    /// How much was written since the start.
    public struct WriteCounts: Sendable, Hashable {
        /// Transactions of changes and answers that were committed, each with one flush.
        public var transactions: Int64
        /// Changes and answers in them.
        public var writes: Int64
    }

    let configuration: PostgresStoreConfiguration
    let reading: PostgresLane.Inbox
    let changes: ChangeQueue
    let clock: DatabaseClock
    let confirmation: Confirmation
    let news: DueNews
    let terms: SiteTerms
    private let writing: PostgresLane.Inbox

    /// Connects and checks that the schema is what this version works with.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable` if no server that takes writes can be reached,
    ///   `incompatible` if migrations are missing, were changed, or belong to a newer version, and if a pooler is
    ///   between that does not keep a session for each connection.
    public init(_ configuration: PostgresStoreConfiguration) async throws(StoreFailure) {
        self.configuration = configuration
        clock = DatabaseClock(manual: configuration.clock)
        let session = Session(configuration)
        let limit = Duration.milliseconds(configuration.timeLimit.milliseconds)
        reading = PostgresLane.Inbox(limit: limit)
        writing = PostgresLane.Inbox(limit: limit)
        confirmation = Confirmation()
        news = DueNews(session: session, schema: configuration.schema, logger: configuration.logger)
        terms = SiteTerms(site: configuration.site)
        changes = ChangeQueue(
            inbox: writing, clock: clock, confirmation: confirmation, terms: terms, configuration: configuration)
        let (known, terms, readsStandby) = (confirmation, terms, configuration.readsStandby)
        PostgresLane.start(
            configuration.readers, name: "pg-read", inbox: reading,
            keeps: { PostgresStore.keeps($0, isWriting: terms.epoch != nil) },
            connect: { () throws(StoreFailure) in
                known.isDue()
                return try session.open(takesStandby: readsStandby && terms.epoch == nil)
            })
        PostgresLane.start(configuration.writers, name: "pg-write", inbox: writing) { () throws(StoreFailure) in
            try session.open()
        }
        do throws(StoreFailure) {
            try await perform("open") { connection in
                try session.requireOwnSession(connection, takesStandby: readsStandby)
                try Migrations(connection).requireCurrent()
            }
            try await adoptTerm()
        } catch {
            await close()
            throw error
        }
    }

    /// Who only reads is content with a standby; a moment later there may be something better: it was promoted, or
    /// another server takes writes.
    private static func keeps(_ connection: PostgresConnection, isWriting: Bool) -> Bool {
        !connection.isStandby || (!isWriting && ContinuousClock.now - connection.openedAt < .seconds(1))
    }

    /// Ends all connections once what runs is done. Whatever is asked after that fails as `unavailable`.
    public func close() async {
        news.close()
        await writing.close()
        await reading.close()
    }

    /// The schema in which its tables are.
    public var schema: String { configuration.schema }

    /// What was written since the start.
    public var writeCounts: WriteCounts { changes.counts }

    /// The database's clock.
    public func now() async throws(StoreFailure) -> Timestamp {
        let clock = clock
        return try await perform("now") { connection in
            let rows = try connection.rows("SELECT \(DatabaseClock.now(1))", [clock.parameter])
            return Timestamp(milliseconds: clock.saw(try rows.int(0, 0)))
        }
    }

    /// Commits something small, and requires the confirmation that the database waits for.
    public func probe() async throws(StoreFailure) {
        try await commit("probe") { connection in ((), try Confirmation.commit(connection).warnings) }
    }

    /// Tells whenever another process may have left something that is due at once.
    public func dueChanges() -> AsyncStream<Void> { news.stream() }
}

extension PostgresStore {
    /// Reads, or does what need not be told apart from not having been done.
    func perform<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws(StoreFailure) -> Value {
        try await reading.run(operation, body)
    }

    /// Reads payments, once everything that can be read is confirmed.
    func confirmed<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws(StoreFailure) -> Value {
        let confirmation = confirmation
        return try await perform(operation) { connection in
            try confirmation.settle(connection)
            return try body(connection)
        }
    }

    /// Commits under the site's term. `body` returns the warnings that came with its commit, which is then in doubt.
    func write(
        _ operation: String, _ body: @escaping @Sendable (TermedConnection) throws -> [String]
    ) async throws(StoreFailure) {
        _ = try await write(operation) { connection in ((), try body(connection)) }
    }

    /// Commits under the site's term. `body` returns its value and the warnings that came with its commit, which is
    /// then in doubt.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (TermedConnection) throws -> (Value, warnings: [String])
    ) async throws(StoreFailure) -> Value {
        let check = try terms.check()
        do throws(StoreFailure) {
            return try await commit(operation) { connection in
                try body(TermedConnection(connection: connection, term: check))
            }
        } catch {
            if error.code == .inactive { terms.ended(check.epoch) }
            throw error
        }
    }

    /// Commits. `body` returns its value and the warnings that came with its commit, which is then in doubt.
    func commit<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (PostgresConnection) throws -> (Value, warnings: [String])
    ) async throws(StoreFailure) -> Value {
        let confirmation = confirmation
        let result: Result<Value, StoreFailure> = try await perform(operation) { connection in
            try confirmation.requireNoneWaiting(connection)
            do {
                let (value, warnings) = try body(connection)
                guard let warning = warnings.first else { return .success(value) }
                confirmation.isDue()
                return .failure(StoreFailure(.indeterminate, operation: operation, cause: warning))
            } catch let error as PostgresConnection.Lost {
                confirmation.isDue(leaving: connection.process)
                return .failure(StoreFailure(.indeterminate, operation: operation, cause: error.cause))
            }
        }
        return try result.get()
    }
}

extension StoreFailure {
    /// The failure behind whatever an operation threw.
    /// - Parameter lost: what it means that no answer came.
    init(_ error: any Error, _ operation: String, lost: Code) {
        switch error {
        case let failure as StoreFailure: self = failure
        case let error as PostgresError: self = error.failure(operation)
        case let error as PostgresConnection.Lost: self.init(lost, operation: operation, cause: error.cause)
        default: self.init(coding: error, operation: operation)
        }
    }
}
