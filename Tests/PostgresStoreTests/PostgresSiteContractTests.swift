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
                configuration.timeLimit = .seconds(5)
                let postgres = PostgresWitness(configuration)
                do {
                    try await body(PostgresSubject(postgres: postgres, configuration: configuration))
                } catch {
                    await postgres.close()
                    throw error
                }
                await postgres.close()
            }
        }
    }
}

/// A witness in a schema of the shared server.
private struct PostgresSubject: WitnessSubject {
    let postgres: PostgresWitness
    let configuration: PostgresStoreConfiguration
    var witness: any SiteWitness { postgres }

    private func run(_ statements: String...) async throws {
        try await RawSession.with(configuration) { session in
            for statement in statements { _ = try await session.run(statement) }
        }
    }

    func wipe() async throws { try await run("DELETE FROM site_right", "DELETE FROM witness_identity") }

    func copied() async throws -> @Sendable () async throws -> Void {
        try await run(
            "CREATE TABLE right_copy AS SELECT * FROM site_right",
            "CREATE TABLE identity_copy AS SELECT * FROM witness_identity")
        return {
            try await wipe()
            try await run(
                "INSERT INTO site_right SELECT * FROM right_copy",
                "INSERT INTO witness_identity SELECT * FROM identity_copy")
        }
    }

    func whileSilent(_ body: @Sendable () async throws -> Void) async throws {
        // The session that holds the lock stands still for longer than its witness waits.
        var patient = configuration
        patient.timeLimit = .minutes(2)
        try await RawSession.with(patient) { session in
            _ = try await session.run(
                "SET idle_in_transaction_session_timeout = 0", "BEGIN",
                "LOCK TABLE site_right, witness_identity IN ACCESS EXCLUSIVE MODE")
            try await body()
            _ = try await session.run("ROLLBACK")
        }
    }

    func elsewhere() async throws -> any SiteWitness {
        var nowhere = try PostgresStoreConfiguration(dsn: "host=127.0.0.1 port=1 connect_timeout=2")
        nowhere.timeLimit = .seconds(5)
        return PostgresWitness(nowhere)
    }
}
