internal import MemoryStore
internal import StoreContract
internal import Testing

@Suite struct MemoryRepairContractTests {
    @Test(arguments: RepairContractCase.all)
    func `the store keeps the contract of repairs`(_ sentence: RepairContractCase) async throws {
        try await sentence.check { clock, body in try await body(MemoryStore(clock: { clock.now() })) }
    }
}
