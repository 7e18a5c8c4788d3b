internal import PaymentCore
internal import PostgresServers
internal import Reconciler

@testable internal import PostgresStore

/// One connection as the store makes them, for statements of a test.
final class RawSession: Sendable {
    private let inbox: PostgresLane.Inbox

    init(_ configuration: PostgresStoreConfiguration) {
        let session = Session(configuration)
        inbox = PostgresLane.Inbox(limit: max(.seconds(1), .milliseconds(configuration.timeLimit.milliseconds)))
        PostgresLane.start(1, name: "pg-test", inbox: inbox) { () throws(StoreFailure) in try session.open() }
    }

    /// Lends a session on the shared server.
    static func with<Value>(
        limit: Span = .seconds(10), _ body: (RawSession) async throws -> Value
    ) async throws -> Value {
        var configuration = try PostgresStoreConfiguration(dsn: await PostgresServer.shared().dsn())
        configuration.timeLimit = limit
        return try await with(configuration, body)
    }

    /// Lends a session.
    static func with<Value>(
        _ configuration: PostgresStoreConfiguration, _ body: (RawSession) async throws -> Value
    ) async throws -> Value {
        let session = RawSession(configuration)
        do {
            let value = try await body(session)
            await session.inbox.close()
            return value
        } catch {
            await session.inbox.close()
            throw error
        }
    }

    /// Does something with the connection, on its thread.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            inbox.add(
                PostgresLane.Work(
                    perform: { connection in continuation.resume(returning: Result { try body(connection) }) },
                    refuse: { continuation.resume(returning: .failure($0)) }))
        }
        return try result.get()
    }

    /// Runs statements as one pipeline, and returns their tags.
    @discardableResult
    func run(_ texts: String...) async throws -> [String] {
        try await use { connection in try connection.run(texts.map { Statement($0) }).rows.map(\.tag) }
    }

    /// The one text of the one row of a statement.
    func text(_ sql: String, _ parameters: [Parameter] = []) async throws -> String {
        try await use { connection in try connection.rows(sql, parameters).text(0, 0) }
    }

    /// The process that serves the connection.
    func process() async throws -> String { try await text("SELECT pg_backend_pid()::text") }
}

/// What an operation of a store failed with; nil if it did not.
func failure<Value>(_ operation: () async throws -> Value) async throws -> StoreFailure? {
    do {
        _ = try await operation()
        return nil
    } catch let failure as StoreFailure {
        return failure
    }
}
