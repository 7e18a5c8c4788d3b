import HTTPTransport
import ProviderSimulator
import Testing

/// A provider that takes less than its callers ask for, 20 requests a second. Each payment needs two.
@Suite struct FairnessTests {
    private static let settings: WorldSettings = {
        var settings = WorldSettings()
        settings.contractLines = ["requests_per_second: 20"]
        settings.waitForSlowAnswers()
        return settings
    }()

    private func other(_ client: APIClient) -> APIClient {
        var other = client
        other.token = World.otherCallerToken
        return other
    }

    /// Each of so many payments was charged once, and nothing else was.
    private func expectCharges(_ count: Int, _ world: World) async throws {
        let ledger = try await world.simulator.ledger("card")
        #expect(ledger.transactions.map(\.net) == Array(repeating: 1_200, count: count))
        #expect(ledger.chargedTwice.isEmpty)
    }

    private func states(_ client: APIClient, _ ids: [String]) async throws -> [String] {
        var states: [String] = []
        for id in ids { states.append(try await client.send(.get, "/v1/payments/\(id)").state ?? "-") }
        return states
    }

    @Test func `a caller with many payments delays its own, not those of another`() async throws {
        try await World.run(Self.settings) { world, client in
            let greedy = other(client)
            var begun: [String] = []
            for number in 0..<80 {
                begun.append(try await greedy.create(Bodies.card(), key: "greedy-\(number)", wait: 0).id)
            }
            for number in 0..<3 {
                #expect(try await client.create(Bodies.card(), key: "shop-\(number)").state == "succeeded")
            }
            // In the order in which they came, the shop's would be the last of all.
            let waiting = try await states(greedy, begun).count { $0 == "processing" }
            #expect(waiting >= 30, "\(waiting) of 80 wait")
            for id in begun { #expect(try await greedy.settled(id, within: .seconds(60)).state == "succeeded") }
            try await expectCharges(83, world)
        }
    }

    @Test func `what cannot be begun in time is refused at once, and what was taken is settled in time`() async throws {
        try await World.run(Self.settings) { world, client in
            let greedy = other(client)
            let answers = try await withThrowingTaskGroup(of: (key: String, answer: APIClient.Answer).self) { group in
                for number in 0..<400 {
                    let key = "greedy-\(number)"
                    group.addTask { (key, try await greedy.create(Bodies.card(), key: key, wait: 0)) }
                }
                return try await group.reduce(into: [(key: String, answer: APIClient.Answer)]()) { $0.append($1) }
            }
            let taken = answers.filter { $0.answer.status != 503 }
            let refused = answers.map(\.answer).filter { $0.status == 503 }
            #expect(!refused.isEmpty && refused.allSatisfy { $0.json["retryable"] as? Bool == true })
            #expect(refused.first?.text.contains("More is asked of card than it takes") == true)
            // 20 a second, for the five seconds that a request waits at most, and what passes meanwhile.
            #expect((20...160).contains(taken.count), "\(taken.count) were taken")
            // Who repeats what was taken is answered, and others have their own room.
            let known = try #require(taken.last)
            let again = try await greedy.create(Bodies.card(), key: known.key, wait: 0)
            #expect(again.status == 409 && again.json["payment_id"] as? String == known.answer.id, "\(again.text)")
            let shed = try await client.metric("reconciled_payments_shed_total{provider=\"card\"}")
            #expect(shed >= Double(refused.count) && shed <= Double(refused.count + 1), "\(shed)")
            #expect(try await client.create(Bodies.card(), key: "shop-1").state == "succeeded")
            for (_, answer) in taken {
                #expect(try await greedy.settled(answer.id, within: .seconds(60)).state == "succeeded")
            }
            try await expectCharges(taken.count + 1, world)
        }
    }
}
