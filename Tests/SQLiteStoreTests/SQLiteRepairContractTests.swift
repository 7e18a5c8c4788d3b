internal import StoreContract
internal import Testing

@Suite struct SQLiteRepairContractTests {
    @Test(arguments: RepairContractCase.all)
    func `the store keeps the contract of repairs`(_ sentence: RepairContractCase) async throws {
        try await sentence.check { clock, body in
            try await StoreDirectory.with { directory in
                try await directory.withStore(clock) { try await body($0) }
            }
        }
    }
}
