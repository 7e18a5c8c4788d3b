internal import MemoryStore
internal import StoreContract
internal import Testing

@Suite struct MemoryWebhookContractTests {
    @Test(arguments: WebhookContractCase.all)
    func `the store keeps the contract of webhooks`(_ sentence: WebhookContractCase) async throws {
        try await sentence.check { clock, callers, body in
            let store = MemoryStore(clock: { clock.now() })
            await store.report(to: callers)
            try await body(store)
        }
    }
}
