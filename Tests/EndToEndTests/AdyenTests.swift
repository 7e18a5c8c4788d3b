import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Adyen's wire through the real daemon: nothing can be asked there, lost answers are had by a resend, and ends come by
/// notifications. Card speaks it; the others keep the reference contract.
@Suite struct AdyenTests {
    private static func settings() -> WorldSettings {
        var settings = WorldSettings()
        settings.wire = .adyen
        settings.reconcileLines = ["allow_plug: true"]
        return settings
    }

    private static func body(
        _ legs: [(String, Int)] = [("card", 1_200)], card: String = "card-0001", capture: String = "automatic"
    ) -> String {
        Bodies.payment(
            legs, instruments: legs.map { $0.0 == "card" ? "shopper-1:\(card)" : "member-1" }, capture: capture)
    }

    /// Delivers what Adyen has to tell, each notice at most so often.
    private func deliver(
        _ world: World, _ client: APIClient, times: Int = 1, only event: String? = nil
    ) async throws -> [APIClient.Answer] {
        var answers: [APIClient.Answer] = []
        for notice in try await world.simulator.notices(at: "card").shuffled()
        where event.map({ notice.id.hasPrefix($0 + " ") }) ?? true {
            for _ in 0..<times {
                answers.append(
                    try await client.send(.post, "/v1/providers/card/notifications", body: notice.body))
            }
        }
        return answers
    }

    /// Delivers until the payment is in a state.
    private func settle(
        _ id: String, as state: String, _ world: World, _ client: APIClient
    ) async throws {
        try await Polling.until("\(id) is \(state)") {
            _ = try await deliver(world, client)
            return try await client.send(.get, "/v1/payments/\(id)").state == state
        }
    }

    @Test(arguments: FaultTests.answerLost + FaultTests.requestLost, [ProviderSimulator.Operation.authorize, .capture])
    func `a lost answer is had by a resend under the same key, and money is taken once`(
        kind: FaultKind, operation: ProviderSimulator.Operation
    ) async throws {
        try await World.run(Self.settings()) { world, client in
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: operation), at: "card")
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            try await settle(created.id, as: "succeeded", world, client)
            #expect(try await world.sends(.inquire, to: "card") == 0)
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
        }
    }

    /// A resend while the first request is in progress is answered 704, and executes nothing.
    @Test(arguments: [Fault.Moment.before, .after])
    func `a request that is in progress is waited for, and money is taken once`(moment: Fault.Moment) async throws {
        try await World.run(Self.settings()) { world, client in
            var slow = Fault(.slow)
            (slow.delayMs, slow.execute) = (2_500, moment)
            try world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            try await settle(created.id, as: "succeeded", world, client)
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
            let answers = try await world.simulator.journal("card", operation: .authorize, limit: 100).map(\.status)
            // What was executed at once is told by a notification before anything is sent again.
            #expect(moment == .before || answers.contains(422), "\(answers)")
        }
    }

    @Test func `a capture that was only received is no success before Adyen says so`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 2)
            #expect(created.status == 202 && created.state == "processing")
            // Late, three times, and what it says of the hold after what it says of the capture.
            let answers = try await deliver(world, client, times: 3)
            #expect(!answers.isEmpty && answers.allSatisfy { $0.status == 202 }, "\(answers.map(\.text))")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a declined card ends the payment, and the other leg is undone`() async throws {
        try await World.run(Self.settings()) { world, client in
            let body = Self.body([("card", 700), ("points", 500)], card: "decline-0001")
            let created = try await client.create(body, key: "adyen-1")
            #expect(try await client.settled(created.id).state == "failed")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a capture that fails after it was received gives the other leg back`() async throws {
        try await World.run(Self.settings()) { world, client in
            let body = Self.body([("card", 700), ("points", 500)], card: "capture-decline-0001")
            let created = try await client.create(body, key: "adyen-1", wait: 0)
            try await settle(created.id, as: "failed", world, client)
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("points").transactions.map(\.net) == [0])
        }
    }

    @Test(arguments: [FaultKind.responseLost, .errorAfter, .requestLost])
    func `a hold is released, although the answer is lost`(kind: FaultKind) async throws {
        try await World.run(Self.settings()) { world, client in
            let held = try await client.create(Self.body(capture: "manual"), key: "adyen-1")
            #expect(held.state == "authorized")
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .void), at: "card")
            _ = try await client.operate("/v1/payments/\(held.id)/cancel", body: "{}", key: "adyen-2", wait: 0)
            try await settle(held.id, as: "canceled", world, client)
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.held) == [0])
        }
    }

    @Test(arguments: [FaultKind.responseLost, .errorAfter, .requestLost])
    func `a refund whose answer is lost is made once`(kind: FaultKind) async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            try await settle(created.id, as: "succeeded", world, client)
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .refund), at: "card")
            let amount = "{\"amount\":{\"value\":300,\"currency\":\"JPY\"}}"
            _ = try await client.operate("/v1/payments/\(created.id)/refunds", body: amount, key: "adyen-2", wait: 0)
            try await Polling.until("the books say so") {
                _ = try await deliver(world, client)
                let text = try await client.send(.get, "/v1/payments/\(created.id)").text
                return !text.contains("\"state\":\"processing\"")
            }
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [900])
        }
    }

    @Test func `a refund that Adyen tells as done, and as failed days later, is told to people`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            try await settle(created.id, as: "succeeded", world, client)
            let amount = "{\"amount\":{\"value\":300,\"currency\":\"JPY\"}}"
            let path = "/v1/payments/\(created.id)"
            _ = try await client.operate("\(path)/refunds", body: amount, key: "adyen-2", wait: 0)
            try await Polling.until("the refund is told as done") {
                _ = try await deliver(world, client)
                return try await refunds(client.send(.get, path)) == ["succeeded"]
            }
            let key = try #require(try await world.simulator.ledger("card").transactions.first).key
            _ = try await world.simulator.plant(PlantOrder(.refundFailed, key: key), at: "card")
            // Each of the two twice, and in any order: an older word never takes the place of the newer one.
            let told = try await deliver(world, client, times: 2, only: "REFUND_FAILED")
            #expect(told.map(\.status) == [202, 202])
            _ = try await deliver(world, client, times: 2, only: "REFUND")
            try await Polling.until("people are told") {
                world.log().contains("the provider took back what it had said was done")
            }
            // What its caller was told stays; nothing is sent again.
            #expect(try await refunds(client.send(.get, path)) == ["succeeded"])
            #expect(try await world.sends(.refund, to: "card") == 1)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
        }
    }

    private func refunds(_ payment: APIClient.Answer) -> [String?] {
        (payment.json["refunds"] as? [[String: Any]] ?? []).map { $0["state"] as? String }
    }

    @Test func `where Adyen stays silent people are asked, and its late word still ends the payment`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            // The schedule of the inquiries is over after four seconds here, after 31 hours by default.
            try await Polling.until("people are asked", within: .seconds(60)) {
                try await client.send(.get, "/v1/payments/\(created.id)").state == "quarantined"
            }
            let text = try await world.command(["payments", "explain", created.id, "--output", "text"]).output
            #expect(text.contains("the provider received the request, and never told how it ended"), "\(text)")
            #expect(try await world.sends(.inquire, to: "card") == 0)
            try await settle(created.id, as: "succeeded", world, client)
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `what Adyen told survives a kill right after its answer`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 0)
            try await Polling.until("the capture was received") {
                try await world.sends(.capture, to: "card") >= 1
            }
            let answers = try await deliver(world, client, only: "CAPTURE")
            #expect(answers.map(\.status) == [202] && answers[0].text.contains("\"noted\""))
            await world.kill()
            let restarted = try await world.start()
            // It is not delivered again.
            #expect(try await restarted.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(restarted)
        }
    }

    @Test func `a notification that is not signed, or not with this key, changes nothing`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Self.body(), key: "adyen-1", wait: 1)
            let notices = try await world.simulator.notices(at: "card").filter { $0.id.hasPrefix("CAPTURE ") }
            let notice = try #require(notices.first)
            for (one, other) in [("\"success\":\"true\"", "\"success\":\"false\""), ("\"value\":1200", "\"value\":1")] {
                let forged = notice.body.replacingOccurrences(of: one, with: other)
                #expect(forged != notice.body)
                let answer = try await client.send(.post, "/v1/providers/card/notifications", body: forged)
                #expect(answer.status == 401, "\(answer.text)")
            }
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").state == "processing")
            try await settle(created.id, as: "succeeded", world, client)
        }
    }

    @Test func `a daemon that is killed at any of many moments takes money once`() async throws {
        try await World.run(Self.settings()) { world, client in
            var client = client
            for number in 0..<8 {
                let created = try await client.create(Self.body(), key: "adyen-\(number)", wait: 0)
                try await Polling.hold(for: .milliseconds(15 * number))
                await world.kill()
                client = try await world.start()
                try await settle(created.id, as: "succeeded", world, client)
            }
            try await world.expectBooksAgree(client)
            #expect(
                try await world.simulator.ledger("card").transactions.map(\.net) == Array(repeating: 1_200, count: 8))
        }
    }
}
