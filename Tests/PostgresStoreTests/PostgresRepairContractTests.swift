internal import StoreContract
internal import Testing

@Suite struct PostgresRepairContractTests {
    @Test(arguments: RepairContractCase.all)
    func `the store keeps the contract of repairs`(_ sentence: RepairContractCase) async throws {
        try await sentence.check { clock, body in
            try await StoreSchema.withStore(clock) { store, _ in try await body(store) }
        }
    }
}
