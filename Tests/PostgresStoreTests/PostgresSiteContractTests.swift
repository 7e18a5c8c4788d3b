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

    @Test(arguments: WitnessContractCase.all)
    func `the witness keeps the contract of witnesses`(_ sentence: WitnessContractCase) async throws {
        try await sentence.check { clock, body in
            try await StoreSchema.withSchema { configuration in
                var configuration = configuration
                configuration.clock = { clock.now() }
                let witness = PostgresWitness(configuration)
                do {
                    try await body(witness)
                } catch {
                    await witness.close()
                    throw error
                }
                await witness.close()
            }
        }
    }
}
