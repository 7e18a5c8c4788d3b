import Crypto
import Foundation
import HTTPTransport
import PaymentCore
import Testing

@Suite struct ProofTests {
    /// The hash as ARCHITECTURE.md describes it, computed from what the API returns and nothing else.
    private func hash(_ event: [String: Any], payment: String) throws -> String {
        let detail = try #require(event["detail"] as? [String: String])
        let moment = try #require(event["at"] as? String)
        let at = try #require(Timestamp(rfc3339: moment))
        let sequence = try #require(event["sequence"] as? NSNumber)
        let type = try #require(event["type"] as? String)
        let previous = try #require(event["previous_hash"] as? String)
        let leg = (event["leg"] as? NSNumber).map(\.stringValue) ?? "-"
        var texts = [
            "reconciled.audit.1", payment, sequence.stringValue, String(at.milliseconds), type, leg, previous,
            String(detail.count),
        ]
        for name in detail.keys.sorted() { texts += [name, detail[name] ?? ""] }
        var input = Data()
        for text in texts {
            let length = UInt64(text.utf8.count)
            input.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) })
            input.append(contentsOf: text.utf8)
        }
        return SHA256.hash(data: input).map { String(format: "%02x", $0) }.joined()
    }

    @Test func `the trail that a caller reads can be checked with nothing but SHA-256`() async throws {
        try await World.run { _, client in
            let created = try await client.create(Bodies.payment([("card", 700), ("balance", 500)]), key: "proof-1")
            let page = try await client.send(.get, "/v1/payments/\(created.id)/events?limit=200").json
            let events = try #require(page["data"] as? [[String: Any]])
            #expect(events.count > 8)
            var previous: String?
            for event in events {
                let stated = try #require(event["hash"] as? String)
                #expect(try hash(event, payment: created.id) == stated)
                if let previous { #expect(event["previous_hash"] as? String == previous) }
                previous = stated
            }
        }
    }
}
