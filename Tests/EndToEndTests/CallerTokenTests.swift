import Crypto
import Foundation
import HTTPTransport
import Testing

/// Tokens of one caller with different rights, and its rate, through a real daemon (docs/integrate.md).
struct CallerTokenTests {
    private static let scopes = ["create", "capture", "refund", "read"]

    private func digest(_ token: String) -> String {
        SHA256.hash(data: Data(token.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    /// Adds members to the caller `shop` of a configuration file.
    private func give(_ members: String, in file: URL) throws {
        let before = try String(contentsOf: file, encoding: .utf8)
        let main = "{name: shop, token_sha256: \"\(digest(World.callerToken))\""
        #expect(before.contains(main + "}"))
        try before.replacing(main + "}", with: "\(main), \(members)}")
            .write(to: file, atomically: true, encoding: .utf8)
    }

    @Test func `each token does its part of one payment, and no other part`() async throws {
        try await World.run { world, client in
            let tokens = CallerTokenTests.scopes.map { scope in
                "{name: \(scope)r, token_sha256: \"\(digest("token-to-\(scope)"))\", scopes: [\(scope)]}"
            }
            try give("tokens: [\(tokens.joined(separator: ", "))]", in: world.configuration)
            func bearer(_ scope: String) -> APIClient {
                var bearer = client
                bearer.token = "token-to-\(scope)"
                return bearer
            }
            try await Polling.until("the tokens count") {
                try await bearer("read").send(.get, "/v1/payments").status == 200
            }
            let body = Bodies.payment([("card", 500)], capture: "manual")
            for scope in ["capture", "refund", "read"] {
                let refused = try await bearer(scope).create(body, key: "scopes-1")
                #expect(refused.status == 403, "\(scope): \(refused.text)")
                #expect(refused.json["type"] as? String == "/problems/forbidden")
            }
            let created = try await bearer("create").create(body, key: "scopes-1")
            #expect(created.state == "authorized", "\(created.text)")
            let path = "/v1/payments/\(created.id)"
            #expect(try await bearer("create").send(.get, path).status == 403)
            #expect(try await bearer("create").send(.post, path + "/capture", key: "scopes-1-c").status == 403)

            let captured = try await bearer("capture").operate(path + "/capture", key: "scopes-1-c", wait: 15)
            #expect(captured.state == "succeeded", "\(captured.text)")
            let amount = #"{"amount":{"value":200,"currency":"JPY"}}"#
            let early = try await bearer("capture").send(.post, path + "/refunds", body: amount, key: "scopes-1-r")
            #expect(early.status == 403)
            let refunded = try await bearer("refund").operate(
                path + "/refunds", body: amount, key: "scopes-1-r", wait: 15)
            #expect(refunded.status == 201, "\(refunded.text)")

            // The payment is the caller's, whichever token is used, and nobody else's.
            let read = try await bearer("read").send(.get, path)
            #expect(read.status == 200 && read.state == "succeeded")
            var other = client
            other.token = World.otherCallerToken
            #expect(try await other.send(.get, path).status == 404)
            let log = world.log()
            #expect(log.contains("creater") && !log.contains("token-to-"))
        }
    }

    @Test func `what a caller's rate refuses is made later under the same key`() async throws {
        try await World.run { world, client in
            try give("rate: {requests_per_second: 1, burst: 1}", in: world.configuration)
            var other = client
            other.token = World.otherCallerToken
            // All at once: a busy machine would stretch one after the other over seconds.
            let body = Bodies.payment([("card", 500)])
            let round = Round()
            var refused: [(key: String, answer: APIClient.Answer)] = []
            try await Polling.until("the rate counts") {
                let number = await round.next()
                refused = try await withThrowingTaskGroup(of: (String, APIClient.Answer).self) { group in
                    for index in 0..<10 {
                        let key = "rate-\(number)-\(index)"
                        group.addTask { (key, try await client.create(body, key: key, wait: 0)) }
                    }
                    return try await group.reduce(into: []) { if $1.1.status == 429 { $0.append($1) } }
                }
                return !refused.isEmpty
            }
            for _ in 1...5 { #expect(try await other.send(.get, "/v1/payments").status == 200) }
            for (key, answer) in refused {
                #expect(answer.json["type"] as? String == "/problems/rate-limited")
                #expect(answer.fields["Retry-After"] == "1")
                try await Polling.until("\(key) is made under the same key") {
                    try await client.create(body, key: key).state == "succeeded"
                }
            }
        }
    }

    private actor Round {
        private var number = 0
        func next() -> Int {
            number += 1
            return number
        }
    }
}
