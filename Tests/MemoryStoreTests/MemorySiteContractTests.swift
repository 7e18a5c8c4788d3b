internal import MemoryStore
internal import StoreContract
internal import Testing

@Suite struct MemorySiteContractTests {
    @Test(arguments: SiteContractCase.all)
    func `the store keeps the contract of sites`(_ sentence: SiteContractCase) async throws {
        try await sentence.check { clock, body in try await body(MemoryStore(clock: { clock.now() })) }
    }

    @Test(arguments: WitnessContractCase.all)
    func `the witness keeps the contract of witnesses`(_ sentence: WitnessContractCase) async throws {
        try await sentence.check { clock, body in try await body(MemoryWitness(clock: { clock.now() })) }
    }
}
