import HTTPTransport
import ProviderSimulator
import Testing

@Suite struct IdempotencyTests {
    @Test func `the same request has the same answer byte for byte, also after a restart`() async throws {
        try await World.run { world, client in
            let body = Bodies.payment([("card", 700), ("points", 500)])
            let first = try await client.create(body, key: "same-1")
            #expect(first.status == 201)
            #expect(first.fields["Idempotent-Replayed"] == nil)
            let second = try await client.create(body, key: "same-1")
            #expect(second.body == first.body)
            #expect(second.status == first.status)
            #expect(second.fields["Idempotent-Replayed"] == "true")
            _ = try await client.send(.post, "/v1/payments/\(first.id)/refunds", key: "same-2", wait: 15)
            await world.kill()
            let restarted = try await world.start()
            let third = try await restarted.create(body, key: "same-1")
            #expect(third.body == first.body)
            #expect(try await world.sends(.authorize, to: "card") == 1)
            #expect(try await world.sends(.capture, to: "card") == 1)
        }
    }

    @Test func `the same key with another request is refused`() async throws {
        try await World.run { world, client in
            let first = try await client.create(Bodies.card(1_200), key: "other-1")
            let second = try await client.create(Bodies.card(1_300), key: "other-1")
            #expect(second.status == 422)
            #expect((second.json["type"] as? String)?.hasSuffix("/problems/idempotency-key-reused") == true)
            let third = try await client.send(.post, "/v1/payments/\(first.id)/cancel", key: "other-1")
            #expect(third.status == 422)
            #expect(try await world.sends(.authorize, to: "card") == 1)
        }
    }

    @Test func `in flight it waits or is told so, as asked`() async throws {
        try await World.run { world, client in
            var slow = Fault(.slow)
            slow.delayMs = 2_000
            try world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "flight-1", wait: 0)
            #expect(created.status == 202)
            #expect(created.fields["Location"] == "/v1/payments/\(created.id)")
            let now = try await client.create(Bodies.card(), key: "flight-1", wait: 0)
            #expect(now.status == 409)
            #expect(now.fields["Retry-After"] != nil)
            let waited = try await client.create(Bodies.card(), key: "flight-1", wait: 20)
            #expect(waited.status == 201)
            #expect(waited.state == "succeeded")
            #expect(try await world.sends(.authorize, to: "card") == 1)
        }
    }

    @Test func `a repeat at another daemon is answered as soon as the payment is settled`() async throws {
        var settings = WorldSettings()
        settings.store = try await .postgres()
        settings.daemons = 2
        try await World.run(settings) { world, client in
            let second = try await world.client(of: 1)
            var slow = Fault(.slow)
            slow.delayMs = 2_000
            try world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            #expect(try await client.create(Bodies.card(), key: "elsewhere-1", wait: 0).status == 202)
            let began = ContinuousClock.now
            let waited = try await second.create(Bodies.card(), key: "elsewhere-1", wait: 30)
            #expect(ContinuousClock.now - began < .seconds(15))
            #expect(waited.status == 201)
            #expect(waited.state == "succeeded")
            let first = try await client.create(Bodies.card(), key: "elsewhere-1")
            #expect(first.body == waited.body)
            #expect(first.fields["Idempotent-Replayed"] == "true")
            #expect(try await world.sends(.authorize, to: "card") == 1)
        }
    }

    @Test func `keys are scoped to the caller, and a caller sees only its own`() async throws {
        try await World.run { world, client in
            var other = client
            other.token = World.otherCallerToken
            let mine = try await client.create(Bodies.card(1_200), key: "scope-1")
            let theirs = try await other.create(Bodies.card(1_300), key: "scope-1")
            #expect(mine.status == 201)
            #expect(theirs.status == 201)
            #expect(mine.id != theirs.id)
            #expect(try await other.send(.get, "/v1/payments/\(mine.id)").status == 404)
            #expect(try await other.send(.get, "/v1/payments/\(mine.id)/events").status == 404)
            #expect(try await other.send(.post, "/v1/payments/\(mine.id)/cancel", key: "scope-2").status == 404)
            #expect((try await other.send(.get, "/v1/payments").json["data"] as? [Any])?.count == 1)
            var nobody = client
            nobody.token = "wrong"
            #expect(try await nobody.send(.get, "/v1/payments").status == 401)
            nobody.token = nil
            #expect(try await nobody.send(.get, "/v1/payments").status == 401)
        }
    }

    @Test func `a hundred identical requests at once charge once`() async throws {
        try await World.run { world, client in
            let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<100 {
                    group.addTask { try await client.create(Bodies.card(), key: "crowd-1").body }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(bodies.count == 1)
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `capture and cancel at once: one wins, the other is told`() async throws {
        try await World.run { world, client in
            for index in 0..<10 {
                let created = try await client.create(
                    Bodies.payment([("card", 700)], capture: "manual"), key: "race-\(index)")
                #expect(created.state == "authorized")
                async let capture = client.send(
                    .post, "/v1/payments/\(created.id)/capture", key: "race-capture-\(index)", wait: 15)
                async let cancel = client.send(
                    .post, "/v1/payments/\(created.id)/cancel", key: "race-cancel-\(index)", wait: 15)
                let statuses = try await [capture.status, cancel.status].sorted()
                #expect(statuses == [200, 409])
            }
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `the same refund asked for many times at once is given once, with one answer`() async throws {
        try await World.run { world, client in
            let created = try await client.create(Bodies.card(), key: "refunds-1")
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await client.send(
                            .post, "/v1/payments/\(created.id)/refunds", key: "refunds-2", wait: 15)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map(\.status)) == [201])
            #expect(Set(answers.map(\.body)).count == 1)
            #expect(try await world.simulator.ledger("card").transactions.flatMap(\.refunds).count == 1)
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a payment that waits for its provider can be canceled at once`() async throws {
        var settings = WorldSettings()
        settings.reconcileLines = ["send_within: 5s"]
        try await World.run(settings) { world, client in
            try world.simulator.takeDown("card", forMs: 60_000, mode: .unavailable)
            let created = try await client.create(Bodies.card(), key: "wait-1", wait: 0)
            let canceled = try await client.send(.post, "/v1/payments/\(created.id)/cancel", key: "wait-2", wait: 2)
            #expect([200, 202].contains(canceled.status), "\(canceled.text)")
            try world.simulator.takeDown("card", forMs: 0)
            #expect(try await client.settled(created.id).state == "canceled")
            try await world.expectBooksAgree(client)
        }
    }
}
