internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import PostgresStore

@Suite struct WireFailureTests {
    /// The code with which the server refuses statements that are sent as one pipeline; nil if it does not.
    private func refusal(_ session: RawSession, _ texts: String...) async throws -> String? {
        do {
            try await session.use { connection in _ = try connection.run(texts.map { Statement($0) }) }
            return nil
        } catch let error as PostgresError {
            return error.sqlState
        }
    }

    @Test func `an error fails what comes after it in the pipeline, and the connection goes on`() async throws {
        try await RawSession.with { session in
            let before = try await session.process()
            _ = try await session.run("CREATE TEMPORARY TABLE marks (number bigint)")
            let code = try await refusal(
                session, "INSERT INTO marks VALUES (1)", "SELECT 1 / (SELECT count(*) FROM marks WHERE number = 5)",
                "INSERT INTO marks VALUES (2)")
            #expect(code == "22012")
            // Without BEGIN it was one transaction.
            #expect(try await session.text("SELECT count(*)::text FROM marks") == "0")
            #expect(try await session.process() == before)
        }
    }

    @Test func `a statement that could not be prepared is prepared again`() async throws {
        try await RawSession.with { session in
            let missing = "SELECT count(*)::text FROM latecomers"
            #expect(try await refusal(session, missing) == "42P01")
            _ = try await session.run("CREATE TEMPORARY TABLE latecomers (number bigint)")
            #expect(try await session.text(missing) == "0")
        }
    }

    @Test func `a statement whose preparation was passed over is prepared again`() async throws {
        try await RawSession.with { session in
            let fine = "SELECT 'never seen before'"
            #expect(try await refusal(session, "SELECT 1 / 0", fine) == "22012")
            #expect(try await session.text(fine) == "never seen before")
            // One that was prepared before the error stays so, also where the transaction ended.
            let earlier = "SELECT 'prepared before the error'"
            #expect(try await refusal(session, earlier, "SELECT 2 / 0", fine) == "22012")
            let again = try await session.text(earlier)
            #expect(again == "prepared before the error")
            #expect(try await session.text(fine) == "never seen before")
        }
    }

    @Test func `a statement is prepared once, also if it is twice in a pipeline`() async throws {
        try await RawSession.with { session in
            let twice = "SELECT 'twice'"
            for _ in 0..<3 { _ = try await session.run(twice, twice) }
            let count = "SELECT count(*)::text FROM pg_prepared_statements WHERE statement = $1"
            #expect(try await session.text(count, [.text(twice)]) == "1")
        }
    }

    @Test func `passing the deadline closes the connection, and the server's process ends`() async throws {
        let server = try await PostgresServer.shared()
        try await RawSession.with(limit: .seconds(4)) { session in
            let process = try await session.process()
            let (isLost, isBroken) = try await session.use { connection in
                do {
                    _ = try connection.run([Statement("SELECT pg_sleep(60)")])
                    return (false, connection.isBroken)
                } catch is PostgresConnection.Lost {
                    return (true, connection.isBroken)
                }
            }
            #expect(isLost && isBroken)
            // No cancel was sent: it looks for its client now and then.
            try await eventually {
                try await server.psql("SELECT count(*) FROM pg_stat_activity WHERE pid = \(process)") == "0"
            }
            #expect(try await session.process() != process)
        }
    }

    @Test func `where nobody answers, all that wait are told when the first is`() async throws {
        let silence = try #require(Silence())
        var configuration = try PostgresStoreConfiguration(dsn: "host=127.0.0.1 port=\(silence.port) connect_timeout=2")
        configuration.timeLimit = .seconds(1)
        try await RawSession.with(configuration) { session in
            let began = ContinuousClock.now
            let codes = try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await failure { try await session.process() }?.code } }
                return try await group.reduce(into: [StoreFailure.Code?]()) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .unavailable, count: 20))
            #expect(ContinuousClock.now - began < .seconds(20))
        }
    }

    @Test func `a large pipeline in both directions does not stand still`() async throws {
        try await RawSession.with { session in
            let text = String(repeating: "x", count: 1 << 20)
            let total = try await session.use { connection in
                let statement = Statement("SELECT $1", [.text(text)])
                return try connection.run(Array(repeating: statement, count: 32)).rows.reduce(0) { sum, rows in
                    sum + (try rows.text(0, 0).utf8.count)
                }
            }
            #expect(total == 32 << 20)
        }
    }

    @Test func `a script fails as a whole, and the connection goes on`() async throws {
        try await RawSession.with { session in
            let error = await #expect(throws: PostgresError.self) {
                try await session.use { try $0.script("CREATE TEMPORARY TABLE half (a bigint); SELECT 1 / 0") }
            }
            #expect(error?.sqlState == "22012")
            let isGone = try await session.text("SELECT (to_regclass('pg_temp.half') IS NULL)::text")
            #expect(isGone == "true")
        }
    }

    @Test func `the commit of a transaction that failed answers ROLLBACK, and is a failure for the store`() async throws
    {
        try await RawSession.with { session in
            _ = try await session.run("BEGIN")
            #expect(try await refusal(session, "SELECT 1 / 0") == "22012")
            let tags = try await session.run("COMMIT")
            #expect(tags == ["ROLLBACK"])
            #expect(ChangeQueue.failure(tag: tags.last, [])?.code == .serialization)
        }
        #expect(ChangeQueue.failure(tag: nil, [])?.code == .serialization)
        #expect(ChangeQueue.failure(tag: "COMMIT", ["01000: not confirmed"])?.code == .indeterminate)
        #expect(ChangeQueue.failure(tag: "COMMIT", []) == nil)
    }

    @Test func `connections that the server closed while they were idle are noticed before they are used`() async throws
    {
        let server = try await PostgresServer.shared()
        let name = server.uniqueSchema()
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            var named = try PostgresStoreConfiguration(dsn: "\(server.dsn()) application_name=\(name)")
            (named.schema, named.clock) = (configuration.schema, configuration.clock)
            let victim = try await PostgresStore(named)
            let scenario = Scenario(store: victim, clock: clock)
            let sessions = "FROM pg_stat_activity WHERE application_name = '\(name)'"
            for round in 0..<5 {
                for number in 0..<8 { try await scenario.create(.init("round-\(round)-\(number)")) }
                #expect(try await victim.payments(PaymentQuery()).items.count == min(50, 8 * (round + 1)))
                _ = try await server.psql("SELECT pg_terminate_backend(pid) \(sessions)")
                try await eventually { try await server.psql("SELECT count(*) \(sessions)") == "0" }
            }
            #expect(try await store.payments(PaymentQuery()).items.count == 40)
            await victim.close()
        }
    }
}
