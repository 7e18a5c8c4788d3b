internal import StoreContract
internal import Testing

@Suite struct PostgresWebhookContractTests {
    @Test(arguments: WebhookContractCase.all)
    func `the store keeps the contract of webhooks`(_ sentence: WebhookContractCase) async throws {
        try await sentence.check { clock, callers, body in
            try await StoreSchema.withStore(clock, reportingTo: callers) { store, _ in try await body(store) }
        }
    }
}
