internal import PaymentCore
internal import PostgresServers
internal import PostgresStore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite struct UpkeepTests {
    private func rows(_ table: String, _ schema: String) async throws -> String {
        try await PostgresServer.shared().psql("SELECT count(*) FROM \(schema).\(table)")
    }

    @Test func `events lie in their month, and in no month that was not prepared`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let schema = configuration.schema
            let it = Scenario(store: store, clock: clock)
            try await it.settle(Scenario.Order("before"))
            let unprepared = try await rows("events_other", schema)
            #expect(try #require(Int(unprepared)) > 0)

            // The month of the clock has events that were not to wait for it; the next are prepared once.
            #expect(try await store.upkeep().prepared == 2)
            #expect(try await store.upkeep().prepared == 0)
            clock.advance(by: .days(31))
            try await it.settle(Scenario.Order("after"))
            #expect(try await rows("events_other", schema) == unprepared)
            #expect(try #require(Int(try await rows("events_2026_04", schema))) > 0)
            _ = try await store.seal()
            #expect(try await store.verifySeals().isEmpty)
        }
    }

    @Test func `what ended long ago goes, and its keys stay spent`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, retention: .days(100)) { store, configuration in
            clock.advance(by: .days(31))
            _ = try await store.upkeep()
            let it = Scenario(store: store, clock: clock)
            let ended = try await it.settle(Scenario.Order("ended")).payment
            let open = try await it.create(Scenario.Order("open")).payment
            _ = try await store.seal()
            clock.advance(by: .days(99))
            #expect(try await store.upkeep().pruned == 0)
            clock.advance(by: .days(2))
            let later = try await it.settle(Scenario.Order("later")).payment

            #expect(try await store.upkeep().pruned == 1)
            #expect(try await store.payment(ended.id) == nil)
            #expect(try await store.payment(open.id) == open)
            #expect(try await store.payment(later.id) == later)
            let record = try await store.idempotencyRecord(caller: ended.caller, key: ended.key)
            #expect(record?.isPruned == true)
            #expect(try await store.statistics().paymentsByState[.succeeded] == 1)
            // What is left of its trail is no sign of tampering; a payment that somebody took away is.
            #expect(try await store.verifySeals().isEmpty)
            _ = try await PostgresServer.shared().psql(
                """
                SET session_replication_role = replica; DELETE FROM \(configuration.schema).payments
                WHERE id = '\(later.id)'
                """)
            #expect(try await store.verifySeals().count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a month of events goes once no payment is left that may have one there`(isOneLeft: Bool) async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, retention: .days(100)) { store, configuration in
            clock.advance(by: .days(31))
            _ = try await store.upkeep()
            let it = Scenario(store: store, clock: clock)
            try await it.settle(Scenario.Order("ended"))
            if isOneLeft { try await it.create(Scenario.Order("open")) }
            _ = try await store.seal()
            clock.advance(by: .days(150))
            let upkeep = try await store.upkeep()
            #expect(upkeep.pruned == 1)
            #expect((upkeep.dropped > 0) == !isOneLeft)
            #expect(try await rows("payments", configuration.schema) == (isOneLeft ? "1" : "0"))
            #expect(try await store.verifySeals().isEmpty)
        }
    }

    @Test func `an event whose month is prepared at this moment is written all the same`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let server = try await PostgresServer.shared()
            let name = configuration.schema
            async let preparing = server.psql(
                """
                SET search_path TO \(name); SET application_name = '\(name)';
                SELECT prepare_events(\(clock.now().milliseconds), 0); SELECT pg_sleep(2)
                """)
            try await eventually {
                let sleeps = "application_name = '\(name)' AND wait_event = 'PgSleep'"
                return try await server.psql("SELECT count(*) FROM pg_stat_activity WHERE \(sleeps)") == "1"
            }
            let payment = try await Scenario(store: store, clock: clock).create(Scenario.Order("meanwhile")).payment
            #expect(try await store.payment(payment.id) == payment)
            #expect(try await rows("events_2026_03", name) != "0")
            _ = try await preparing
        }
    }
}
