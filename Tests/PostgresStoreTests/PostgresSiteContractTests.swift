internal import PaymentCore
internal import PostgresStore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite(.serialized) struct PostgresSiteContractTests {
    @Test(arguments: SiteContractCase.all)
    func `the store keeps the contract of sites`(_ sentence: SiteContractCase) async throws {
        try await sentence.check { clock, body in
            try await StoreSchema.withStore(clock) { store, _ in try await body(store) }
        }
    }

    @Test func `a store of another site opens, reads, and writes nothing`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            let scenario = Scenario(store: store, clock: clock)
            let work = try await scenario.settle(.init("known"))
            var other = configuration
            other.site = try SiteName("other")
            let second = try await PostgresStore(other)
            #expect(try await second.payment(work.payment.id) == work.payment)
            let refused = try await failure {
                try await Scenario(store: second, clock: clock).create(.init("new"))
            }
            #expect(refused?.code == .inactive)
            #expect(try await second.siteReading().row.term?.site == .main)
            await second.close()
        }
    }

    @Test func `a witness gives the right to one site at a time`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withSchema { configuration in
            var configuration = configuration
            configuration.clock = { clock.now() }
            let witness = PostgresWitness(configuration)
            let (east, west) = (try SiteName("east"), try SiteName("west"))
            let (lease, skew) = (Span.seconds(10), Span.seconds(1))
            func renew(_ site: SiteName, _ epoch: Int64) async throws -> Bool {
                try await witness.renew(site, epoch: epoch, lease: lease, skew: skew)
            }
            #expect(try await witness.look(for: west, skew: skew) == .free)
            #expect(try await renew(east, 1))
            #expect(try await witness.look(for: west, skew: skew) == .held(for: .seconds(11)))
            #expect(try await !renew(west, 2))
            clock.advance(by: .milliseconds(10_999))
            #expect(try await !renew(west, 2))
            clock.advance(by: .milliseconds(1))
            #expect(try await witness.look(for: west, skew: skew) == .free)
            #expect(try await witness.take(west, epoch: 2, lease: lease, skew: skew, isFenced: false))
            // The old site's term is over, whatever the clock says.
            clock.advance(by: .minutes(5))
            #expect(try await !renew(east, 1))
            #expect(try await renew(west, 2))
            #expect(try await !witness.take(east, epoch: 2, lease: lease, skew: skew, isFenced: true))
            #expect(try await witness.take(east, epoch: 3, lease: lease, skew: skew, isFenced: true))
            try await witness.release(east, epoch: 3)
            #expect(try await witness.take(west, epoch: 4, lease: lease, skew: skew, isFenced: false))
            await witness.close()
        }
    }
}
