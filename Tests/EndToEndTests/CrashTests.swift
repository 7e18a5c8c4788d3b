import HTTPTransport
import ProviderSimulator
import Testing

/// The process is killed at each boundary between intent, call and outcome, on the real store, for each operation.
@Suite struct CrashTests {
    static let failpoints = [
        "before-intent", "after-intent", "before-call", "after-call", "before-outcome", "after-outcome",
    ]

    /// - Parameter successor: which daemon goes on after the first one died: itself, or another that runs already.
    private func survives(
        _ failpoint: String, in settings: WorldSettings = WorldSettings(), successor: Int = 0,
        prepare: @Sendable (World) throws -> Void = { _ in },
        _ act: @escaping @Sendable (APIClient) async throws -> APIClient.Answer,
        expecting states: Set<String>
    ) async throws {
        try await World.run(settings, failpoint: failpoint) { world, client in
            try prepare(world)
            // The caller sees a connection that breaks: that is the point of the test.
            let before = try? await act(client)
            try await world.diedByItself()
            #expect(before == nil || before?.status == 202, "the daemon died before it could answer")
            let next = try await successor == 0 ? world.start() : world.client(of: successor)
            let after = try await act(next)
            let id = after.json["payment_id"] as? String ?? after.id
            #expect(states.contains(after.state ?? ""), "\(after.status) \(after.text)")
            if id.hasPrefix("pay_") {
                #expect(states.contains(try await next.settled(id).state ?? ""))
            }
            try await world.expectBooksAgree(next)
            await world.kill()
            let verdict = try await world.command(["payments", "verify"])
            #expect(verdict.status == 0, "\(verdict.output)")
        }
    }

    @Test(arguments: failpoints, ["authorize", "capture", "sale"])
    func `a payment survives a kill around each request`(failpoint: String, kind: String) async throws {
        try await survives(
            "\(failpoint):\(kind)",
            { try await $0.create(Bodies.payment([("card", 700), ("balance", 500)]), key: "crash-1", wait: 20) },
            expecting: ["succeeded"])
    }

    @Test(arguments: failpoints)
    func `a payment on PostgreSQL survives a kill around its capture`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):capture", in: WorldSettings(store: try await .postgres()),
            { try await $0.create(Bodies.payment([("card", 700), ("balance", 500)]), key: "crash-10", wait: 20) },
            expecting: ["succeeded"])
    }

    @Test(arguments: failpoints)
    func `another daemon takes a payment over from one that was killed around its capture`(
        failpoint: String
    ) async throws {
        try await survives(
            "\(failpoint):capture", in: WorldSettings(store: try await .postgres(), daemons: 2), successor: 1,
            { try await $0.create(Bodies.payment([("card", 700), ("balance", 500)]), key: "crash-11", wait: 20) },
            expecting: ["succeeded"])
    }

    @Test(arguments: failpoints)
    func `a cancel survives a kill around the void`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):void",
            { client in
                let body = Bodies.payment([("card", 700), ("points", 500)], capture: "manual")
                let created = try await client.create(body, key: "crash-2", wait: 20)
                return try await client.send(.post, "/v1/payments/\(created.id)/cancel", key: "crash-3", wait: 20)
            },
            expecting: ["canceled"])
    }

    @Test(arguments: failpoints)
    func `a refund survives a kill around its request`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):refund",
            { client in
                let created = try await client.create(Bodies.card(), key: "crash-4", wait: 20)
                return try await client.send(.post, "/v1/payments/\(created.id)/refunds", key: "crash-5", wait: 20)
            },
            expecting: ["succeeded"])
    }

    @Test(arguments: failpoints)
    func `a compensation survives a kill around its refund`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):refund",
            prepare: { world in
                try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .capture), at: "card")
            },
            { try await $0.create(Bodies.payment([("card", 700), ("points", 500)]), key: "crash-6", wait: 20) },
            expecting: ["failed"])
    }

    @Test(arguments: ["before-call", "after-call"])
    func `a payment in doubt survives a kill around the inquiry`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):inquiry",
            prepare: { world in
                try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            },
            { try await $0.create(Bodies.card(), key: "crash-7", wait: 20) },
            expecting: ["succeeded"])
    }

    @Test(arguments: failpoints)
    func `a partial capture survives a kill around its request`(failpoint: String) async throws {
        try await survives(
            "\(failpoint):capture",
            { client in
                let created = try await client.create(
                    Bodies.payment([("card", 700)], capture: "manual"), key: "crash-8", wait: 20)
                let body = #"{"legs":[{"index":0,"amount":{"value":300,"currency":"JPY"}}]}"#
                return try await client.send(
                    .post, "/v1/payments/\(created.id)/capture", body: body, key: "crash-9", wait: 20)
            },
            expecting: ["succeeded"])
    }
}
