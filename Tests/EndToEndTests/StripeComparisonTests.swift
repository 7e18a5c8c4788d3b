import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Both sides compared at Stripe's wire, by the real daemon: what Stripe's charges and balance transactions show is
/// held against the books.
@Suite struct StripeComparisonTests {
    /// Compares what is old enough to be judged.
    private func compare(_ client: APIClient) async throws -> RunDocument {
        var operators = client
        operators.token = World.operatorToken
        let to = Date().addingTimeInterval(-8)
        let body = """
            {"provider": "card", "from": "\(to.addingTimeInterval(-3_600).formatted(.iso8601))", \
            "to": "\(to.formatted(.iso8601))", "again": true}
            """
        let asked = try await operators.send(.post, "/v1/reconciliations", body: body, admin: true)
        try #require(asked.status == 202, "\(asked.text)")
        var last: RunDocument?
        try await Polling.until("the run ends", within: .seconds(60)) {
            last = try await read(operators, "/v1/reconciliations/\(asked.id)")
            return last?.finishedAt != nil
        }
        return try #require(last)
    }

    private func read<Value: Decodable>(_ client: APIClient, _ path: String) async throws -> Value {
        let answer = try await client.send(.get, path, admin: true)
        try #require(answer.status == 200, "\(path): \(answer.text)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: Data(answer.body))
    }

    private func discrepancies(_ client: APIClient) async throws -> [DiscrepancyDocument] {
        var operators = client
        operators.token = World.operatorToken
        let page: PageDocument<DiscrepancyDocument> = try await read(
            operators, "/v1/discrepancies?state=all&limit=200")
        return page.data
    }

    @Test func `what was done is on both sides, and what others did at Stripe is found`() async throws {
        var settings = WorldSettings()
        settings.wire = .stripe
        settings.comparison = #"{begin: "2099-01-01T00:00:00Z", ask_again_after: 1ms, settle_delay: 1s, page_size: 4}"#
        settings.contractLines = ["max_request_life: 4s", "clock_skew: 200ms"]
        settings.reconcileLines = ["send_within: 500ms"]
        settings.total = "2s"
        try await World.run(settings) { world, client in
            for number in 1...6 {
                let created = try await client.create(Bodies.card(), key: "stripe-\(number)")
                try #require(try await client.settled(created.id).state == "succeeded")
                guard number <= 2 else { continue }
                let refund = try await client.operate(
                    "/v1/payments/\(created.id)/refunds", body: #"{"amount":{"value":300,"currency":"JPY"}}"#,
                    key: "stripe-refund-\(number)", wait: 20)
                try #require(refund.status == 201, "\(refund.text)")
            }
            let held = try await client.create(
                Bodies.payment([("card", 700)], capture: "manual"), key: "stripe-held")
            try #require(held.state == "authorized", "\(held.text)")
            let canceled = try await client.create(
                Bodies.payment([("card", 800)], capture: "manual"), key: "stripe-canceled")
            _ = try await client.operate("/v1/payments/\(canceled.id)/cancel", key: "stripe-cancel", wait: 20)
            try #require(try await client.settled(canceled.id).state == "canceled")
            let declined = try await client.create(Bodies.card(instrument: "decline-0001"), key: "stripe-declined")
            try #require(try await client.settled(declined.id).state == "failed")

            var run: RunDocument?
            try await Polling.until("everything is old enough to be judged", within: .seconds(120)) {
                run = try await compare(client)
                return run?.counts.byClass["matched"] == 9
            }
            let first = try #require(run)
            #expect(first.state == "completed" && first.proven == true)
            #expect(first.counts.byClass.filter { $0.value > 0 } == ["matched": 9], "\(first.counts.byClass)")
            #expect(first.counts.unanswered == 0)
            #expect(try await discrepancies(client).isEmpty)

            // Somebody refunds at the dashboard, and somebody releases the hold there. A refund that Stripe had
            // told as succeeded fails days later.
            let ledger = try await world.simulator.ledger("card")
            let failed = try #require(ledger.transactions.first { $0.net == 900 }).key
            _ = try await world.simulator.plant(PlantOrder(.refundFailed, key: failed), at: "card")
            let refunded = try #require(ledger.transactions.first { $0.net == 1200 }).key
            let released = try #require(ledger.transactions.first { $0.held == 700 }).key
            _ = try await world.simulator.plant(PlantOrder(.refundAdded, key: refunded), at: "card")
            try await StripeDashboard(world).act("cancel", on: released)
            var found: [String: String] = [:]
            try await Polling.until("all three are found", within: .seconds(120)) {
                let second = try await compare(client)
                #expect(second.proven == true && second.counts.unanswered == 0)
                for one in try await discrepancies(client) { found[one.subject.key ?? ""] = one.class }
                let state = try await client.send(.get, "/v1/payments/\(held.id)").state
                return found[refunded] != nil && found[failed] != nil && state != "authorized"
            }
            #expect(found[refunded] == "late_reversal")
            #expect(found[failed] == "refund_differs")
            let ended = try await client.settled(held.id)
            #expect(ended.state == "canceled", "\(ended.text)")
            #expect(Set(found.keys).isSubset(of: [refunded, released, failed]), "\(found)")
        }
    }
}
