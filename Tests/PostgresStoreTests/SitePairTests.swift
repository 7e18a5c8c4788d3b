internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// The site's row with a real standby.
extension PostgresPairTests {
    private static let renewal = SiteRenewal(epoch: 1, proof: .standby, lease: .seconds(10))

    @Test func `a lease is proven while the standby confirms it, and not while it is silent`() async throws {
        try await PairStage.with(limit: .seconds(1)) { stage in
            let proven = try #require(try await stage.store.renewSite(Self.renewal))
            #expect(proven.row.leaseUntil != nil && proven.row.proof == .standby)
            #expect(proven.row.isSynchronousByPromise)
            #expect(proven.database.replication == .synchronous)
            try await stage.pair.freezeStandby()
            for _ in 0..<3 {
                let refused = try await failure { try await stage.store.renewSite(Self.renewal) }
                #expect(refused?.isForWantOfConfirmation == true, "\(String(describing: refused))")
            }
            // However often it was tried: one process waits, not three.
            #expect(try await stage.pair.psql(on: .primary, "SELECT count(*) \(PairStage.waiting)") == "1")
            try stage.pair.thawStandby()
            try await eventually { (try? await stage.store.renewSite(Self.renewal)) != nil }
        }
    }

    @Test func `a term that promised synchronous replication writes nothing without it`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            _ = try await stage.store.renewSite(Self.renewal)
            try await stage.pair.psql(on: .primary, "ALTER SYSTEM SET synchronous_standby_names = ''")
            try await stage.pair.psql(on: .primary, "SELECT pg_reload_conf()")
            var tries = 0
            try await eventually {
                tries += 1
                return try await stage.creating("late-\(tries)") != nil
            }
            let refused = try await stage.creating("later")
            #expect(refused?.code == .unavailable)
            #expect(refused?.cause.contains("promises synchronous replication") == true)
            #expect(try await failure { try await stage.store.renewSite(Self.renewal) }?.code == .unavailable)
            let term = SiteTerm(
                epoch: 2, site: .main, since: Timestamp(milliseconds: 0), beginning: .renewal, by: "hana",
                reason: "the standby is rebuilt", fencedBy: "it is off")
            #expect(try await stage.store.beginTerm(term, loss: nil) != nil)
            #expect(try await stage.creating("new") == nil)
        }
    }

    @Test func `a store at a standby reads, and writes once it is promoted and its term began`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            let known = try await stage.scenario.settle(.init("known")).payment
            try await stage.standbyShows("known")
            var settings = try PostgresStoreConfiguration(dsn: stage.pair.standbyDSN)
            settings.site = try SiteName("west")
            settings.readsStandby = true
            (settings.clock, settings.timeLimit) = (stage.configuration.clock, .seconds(5))
            let west = try await PostgresStore(settings)
            #expect(try await west.payment(known.id) == known)
            let before = try await west.siteReading()
            #expect(!before.database.isWritable && before.database.isStreaming)
            #expect(before.row.term?.site == .main)
            #expect(before.database.received != nil && before.database.replayed != nil)
            let scenario = Scenario(store: west, clock: stage.scenario.clock)
            let early = try await failure { try await scenario.create(.init("early")) }
            #expect(early?.code == .inactive, "\(String(describing: early))")

            try await west.promoteDatabase(within: .seconds(20))
            #expect(try await west.siteReading().database.isWritable)
            #expect(try await failure { try await scenario.create(.init("early")) }?.code == .inactive)
            let term = SiteTerm(
                epoch: 2, site: settings.site, since: Timestamp(milliseconds: 0), beginning: .promotion, by: "hana",
                reason: "lost")
            #expect(try await west.beginTerm(term, loss: .promotion)?.recoveries.count == 1)
            _ = try await scenario.create(.init("new"))
            #expect(try await west.payment(known.id) == known)
            await west.close()
        }
    }
}

/// The site's row against the transactions of others.
@Suite struct SiteTermTests {
    @Test func `a term begins only when no transaction of the one before runs any more`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let term = SiteTerm(
                epoch: 2, site: try SiteName("other"), since: clock.now(), beginning: .promotion, by: "hana",
                reason: "a test")
            try await RawSession.with(configuration) { session in
                try await session.run("BEGIN")
                try await session.run("SELECT require_site('main', 1)")
                let waited = try await failure { try await store.beginTerm(term, loss: nil) }
                #expect(waited?.code == .busy, "\(String(describing: waited))")
                #expect(try await store.siteReading().row.epoch == 1)
                try await session.run("COMMIT")
            }
            #expect(try await store.beginTerm(term, loss: nil)?.epoch == 2)
        }
    }

    @Test func `what waits for a writer when the role is lost is refused, and what is under way is written`()
        async throws
    {
        try await GroupStage.with { stage in
            let changes = try await stage.payments(3).map { $0.change(.holding($0.token)) }
            let store = stage.store
            let (results, transactions) = try await stage.together(changes, first: { store.write(under: nil) })
            let codes = results.map { result -> StoreFailure.Code? in
                if case .failure(let failure) = result { return failure.code }
                return nil
            }
            #expect(codes == [.inactive, .inactive, .inactive])
            #expect(transactions == 0)
        }
    }

    @Test func `the number of a term never falls, and terms are never changed`() async throws {
        try await StoreSchema.withStore { _, configuration in
            let schema = configuration.schema
            let tables = [
                "UPDATE \(schema).site_state SET epoch = 0", "DELETE FROM \(schema).site_state",
                "UPDATE \(schema).site_terms SET document = ''", "DELETE FROM \(schema).site_terms",
            ]
            for sql in tables {
                let server = try await PostgresServer.shared()
                await #expect(throws: PostgresServerError.self) { try await server.psql(sql) }
            }
        }
    }
}
