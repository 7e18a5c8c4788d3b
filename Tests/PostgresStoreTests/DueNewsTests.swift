internal import PaymentCore
internal import Reconciler
internal import Synchronization
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

@Suite struct DueNewsTests {
    /// How often a store was told that something may be due.
    private final class Tally: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Lends two stores of one schema, and the tally of what the second hears.
    private func withTwo(
        _ body: (Scenario, PostgresStore, Tally) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        // One session reads and tells, so that what is read after a change is read after its news.
        try await StoreSchema.withStore(clock, readers: 1) { store, configuration in
            let other = try await PostgresStore(configuration)
            let tally = Tally()
            try await withThrowingTaskGroup { group in
                group.addTask { for await _ in other.dueChanges() { tally.add() } }
                // The first says that it listens from here on.
                try await eventually { tally.value == 1 }
                try await body(Scenario(store: store, clock: clock), store, tally)
                await other.close()
                try await group.waitForAll()
            }
        }
    }

    @Test func `what is to be told several times before anybody could is told once, and after the end never`() throws {
        let configuration = try PostgresStoreConfiguration(dsn: "host=127.0.0.1 port=1")
        let session = Session(configuration)
        let news = DueNews(session: session, schema: "none", logger: configuration.logger)
        let inbox = PostgresLane.Inbox(limit: .seconds(600))
        let ends = Tally()
        /// How much there is to do; all of it is refused.
        func waiting() -> Int {
            let known = ends.value
            inbox.add(PostgresLane.Work(perform: { _ in }, refuse: { _ in ends.add() }))
            var count = 0
            while ends.value == known, let work = inbox.next() {
                work.refuse(StoreFailure(.unavailable, operation: "test", cause: "nobody is there"))
                count += 1
            }
            return count - 1
        }
        for _ in 0..<3 { news.announce(in: inbox) }
        #expect(waiting() == 1)
        news.announce(in: inbox)
        #expect(waiting() == 1, "the one before it is over")
        news.close()
        news.announce(in: inbox)
        #expect(waiting() == 0)
    }

    private func hasTold(_ store: PostgresStore) async throws -> Bool {
        try await store.perform("test") { connection in
            try connection.rows(
                "SELECT count(*) > 0 FROM pg_prepared_statements WHERE statement LIKE 'SELECT pg_notify%'"
            ).bool(0, 0)
        }
    }

    @Test func `what is left due and free wakes another store at once`() async throws {
        try await withTwo { scenario, store, tally in
            var fastest = Duration.seconds(60)
            for round in 1...5 {
                var work = try await scenario.create(.init("free-\(round)"))
                #expect(work.payment.dueAt.map { $0 <= work.payment.updatedAt } == true)
                let began = ContinuousClock.now
                try await scenario.save(&work, ends: true)
                try await eventually { tally.value == 1 + round }
                fastest = min(fastest, ContinuousClock.now - began)
            }
            // Not by looking again, which a listener does each second: each round would then take nearly as long. The
            // fastest counts, because a busy machine may hold up any of them.
            #expect(fastest < .milliseconds(500))
            #expect(try await hasTold(store))
        }
    }

    @Test func `what is held, or not due, wakes nobody`() async throws {
        try await withTwo { scenario, store, tally in
            var held = try await scenario.create(.init("held"))
            try await scenario.save(&held)
            try await scenario.settle(.init("settled"))
            #expect(try await !hasTold(store))
            // A later word is the first that is heard.
            try await scenario.save(&held, ends: true)
            try await eventually { tally.value == 2 }
        }
    }

    @Test func `whoever lost the connection hears again, and looks for what was missed`() async throws {
        try await withTwo { scenario, store, tally in
            let listeners = "FROM pg_stat_activity WHERE query = 'LISTEN \"reconciled_due_\(store.schema)\"'"
            _ = try await store.perform("test") { connection in
                try connection.rows("SELECT pg_terminate_backend(pid) \(listeners)").count
            }
            try await eventually { tally.value == 2 }
            var work = try await scenario.create(.init("free"))
            try await scenario.save(&work, ends: true)
            try await eventually { tally.value == 3 }
        }
    }

    @Test func `the news end with the store`() async throws {
        try await StoreSchema.withStore { store, _ in
            let early = store.dueChanges()
            await store.close()
            for await _ in early {}
            for await _ in store.dueChanges() {}
        }
    }
}
