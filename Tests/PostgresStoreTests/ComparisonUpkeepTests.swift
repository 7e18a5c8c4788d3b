internal import PaymentCore
internal import PostgresServers
internal import PostgresStore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite struct ComparisonUpkeepTests {
    @Test func `what is settled is forgotten after the retention, and nothing else`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, retention: .days(100)) { store, configuration in
            let forgetting = Forgetting(store: store, clock: clock, retention: .days(100)) {
                try await store.upkeep().forgotten
            }
            try await forgetting.check()
            let lanes = "SELECT string_agg(lane, ' ' ORDER BY lane) FROM \(configuration.schema).comparison_lanes"
            #expect(try await PostgresServer.shared().psql(lanes) == "cards points")
        }
    }

    @Test func `a payment with a discrepancy that is not closed stays`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, retention: .days(100)) { store, _ in
            let payment = try await Scenario(store: store, clock: clock).settle(Scenario.Order("disputed")).payment
            let discrepancy = try await Comparing(store: store, clock: clock).dispute(payment)
            clock.advance(by: .days(101))
            #expect(try await store.upkeep().pruned == 0)
            #expect(try await store.payment(payment.id) == payment)
            var closed = try #require(try await store.discrepancies([discrepancy]).first)
            try closed.handle(.closed(reason: "known", by: "ada"), at: clock.now())
            #expect(try await store.change(closed) != nil)
            #expect(try await store.upkeep().pruned == 1)
        }
    }

    @Test func `a payment that was pruned is told from one that was lost`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, retention: .days(100)) { store, _ in
            let pruned = try await Scenario(store: store, clock: clock).settle(Scenario.Order("old")).payment
            let lost = PaymentID(caller: pruned.caller, key: try IdempotencyKey("never"))
            func ask() async throws -> [Bool] {
                let questions = [pruned.id, lost].map { PositionQuestion(key: EffectKey(reported: "k"), payment: $0) }
                return try await store.positions(at: ProviderName("cards"), questions).map(\.isPruned)
            }
            #expect(try await ask() == [false, false])
            clock.advance(by: .days(101))
            #expect(try await store.upkeep().pruned == 1)
            #expect(try await ask() == [true, false])
        }
    }

    @Test func `what an earlier version wrote is read from the payments`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let server = try await PostgresServer.shared()
            let session = "SET search_path TO \(configuration.schema); SET session_replication_role = replica;"
            try await EarlierVersion(store: store, clock: clock) { _ = try await server.psql("\(session) \($0)") }
                .check()
        }
    }
}
