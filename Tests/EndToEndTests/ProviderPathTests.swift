import HTTPTransport
import ProviderSimulator
import Testing

/// What operators see of the way to a provider.
@Suite struct ProviderPathTests {
    @Test func `a provider that keeps failing is only probed, and that is shown`() async throws {
        var settings = WorldSettings()
        settings.rates = [FaultRate(Fault(.errorBefore), rate: 1)]
        try await World.run(settings) { world, client in
            func shown() async throws -> Bool {
                try await client.send(.get, "/metrics", admin: true).text
                    .contains(#"reconciled_provider_breaker_open{provider="card"} 1"#)
            }
            #expect(try await !shown())
            for number in 0..<6 { _ = try await client.create(Bodies.card(), key: "path-\(number)", wait: 0) }
            try await Polling.until("the breaker is open") { try await shown() }
            let text = try await client.send(.get, "/metrics", admin: true).text
            #expect(text.contains(#"reconciled_provider_breaker_open{provider="points"} 0"#))
            #expect(text.contains(#"reconciled_provider_requests_waiting{provider="card"} 0"#))
        }
    }
}
