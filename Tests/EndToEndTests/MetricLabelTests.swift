import Foundation
import HTTPTransport
import Testing

/// Metrics go to whoever may scrape them, and are kept for long elsewhere.
@Suite struct MetricLabelTests {
    /// Names of labels, each with a bounded number of values.
    private static let labels: Set<String> = [
        "again", "class", "code", "for", "kind", "label", "le", "level", "listener", "method", "mode", "objective",
        "operation", "outcome", "proven", "provider", "reason", "result", "route", "state", "status", "version",
    ]

    @Test func `no metric names a caller, a payment, a key or an instrument`() async throws {
        try await World.run { world, client in
            let instrument = "tok_card_77001122"
            let paid = try await client.create(Bodies.card(instrument: instrument), key: "label-key-1")
            let id = paid.id
            let refused = try await client.create(Bodies.card(999), key: "label-key-1")
            #expect(refused.status == 422, "\(refused.text)")
            _ = try await client.send(.get, "/v1/payments/\(id)")
            // Whoever invents methods or paths invents no series.
            _ = try await client.send(.get, "/v1/invented-path")
            var stranger = client
            stranger.token = "label-token-of-nobody"
            #expect(try await stranger.send(.get, "/v1/payments/\(id)").status == 401)
            let text = try await client.send(.get, "/metrics", admin: true).text
            #expect(text.contains("reconciled_attempts_total{"), "\(text.prefix(500))")
            for word in ["shop", id, "label-key-1", instrument, "label-token", "invented", World.callerToken] {
                #expect(!text.contains(word), "\(word)")
            }
            let found = Set(text.matches(of: /[{,]([a-zA-Z_]+)="/).map { String($0.output.1) })
            #expect(found.isSubset(of: Self.labels), "\(found.subtracting(Self.labels))")
            #expect(found.contains("provider") && found.contains("outcome"))
        }
    }
}
