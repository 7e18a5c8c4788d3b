import HTTPTransport
import ProviderSimulator
import Testing

/// Every fault of the simulator, through the real daemon, with both ledgers compared.
@Suite struct FaultTests {
    /// Executed, and the answer is lost or worthless.
    static let answerLost: [FaultKind] = [.responseLost, .slow, .errorAfter, .html, .truncated, .missingStatus]
    /// Not executed, and the daemon cannot know.
    static let requestLost: [FaultKind] = [.requestLost, .errorBefore]
    /// Not executed, and the answer says so.
    static let toldToWait: [FaultKind] = [.throttled, .unavailable]

    static func fault(_ kind: FaultKind) -> Fault {
        var fault = Fault(kind)
        switch kind {
        case .slow: fault.delayMs = 900
        case .throttled, .unavailable: fault.retryAfter = 1
        case .lateDelivery: fault.delayMs = 700
        case .pending: fault.delayMs = 600
        default: break
        }
        return fault
    }

    static let taking: [(ProviderSimulator.Operation, String)] = [
        (.authorize, "card"), (.capture, "card"), (.sale, "balance"),
    ]

    private func take(
        _ kind: FaultKind, _ operation: ProviderSimulator.Operation, _ provider: String,
        expecting state: String = "succeeded", sends: ClosedRange<Int>
    ) async throws {
        try await World.run { world, client in
            _ = try world.simulator.order(
                FaultOrder(FaultTests.fault(kind), operation: operation), at: provider)
            let created = try await client.create(Bodies.payment([(provider, 1_200)]), key: "fault-1")
            let settled = try await client.settled(created.id)
            #expect(settled.state == state)
            try await world.expectBooksAgree(client)
            let sent = try await world.sends(operation, to: provider)
            #expect(sends.contains(sent), "sent \(sent) times")
        }
    }

    @Test(arguments: answerLost, taking)
    func `an answer that is lost is asked for, and nothing is sent again`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await take(kind, request.0, request.1, sends: 1...1)
    }

    @Test(arguments: requestLost, taking)
    func `a request that is lost is sent again under the same key after its status was asked`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await take(kind, request.0, request.1, sends: 2...2)
    }

    @Test(arguments: toldToWait, taking)
    func `a provider that asks to slow down is given its time`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await take(kind, request.0, request.1, sends: 2...2)
    }

    @Test(arguments: [FaultKind.duplicated, .pending, .lateDelivery], taking)
    func `a request that arrives twice, late, or is decided later charges once`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await take(kind, request.0, request.1, sends: 1...3)
    }

    @Test(arguments: answerLost + requestLost + toldToWait + [.duplicated, .lateDelivery])
    func `a cancel releases the hold whatever becomes of the void`(kind: FaultKind) async throws {
        try await World.run { world, client in
            let body = Bodies.payment([("card", 700), ("points", 500)], capture: "manual")
            let created = try await client.create(body, key: "void-1")
            #expect(created.state == "authorized")
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .void), at: "card")
            _ = try await client.send(.post, "/v1/payments/\(created.id)/cancel", key: "void-2", wait: 15)
            let settled = try await client.settled(created.id)
            #expect(settled.state == "canceled")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: answerLost + requestLost + toldToWait + [.duplicated, .lateDelivery, .pending])
    func `a refund gives back once whatever becomes of its request`(kind: FaultKind) async throws {
        try await World.run { world, client in
            let created = try await client.create(Bodies.card(), key: "refund-1")
            #expect(created.status == 201)
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .refund), at: "card")
            let body = #"{"legs":[{"index":0,"amount":{"value":500,"currency":"JPY"}}]}"#
            _ = try await client.send(
                .post, "/v1/payments/\(created.id)/refunds", body: body, key: "refund-2", wait: 15)
            let again = try await client.send(
                .post, "/v1/payments/\(created.id)/refunds", body: body, key: "refund-2", wait: 15)
            #expect(again.state == "succeeded")
            let refunds = try await world.simulator.ledger("card").transactions.flatMap(\.refunds)
            #expect(refunds.count == 1)
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: answerLost + requestLost + toldToWait)
    func `an inquiry that fails is asked again`(kind: FaultKind) async throws {
        try await World.run { world, client in
            try world.simulator.order(FaultOrder(FaultTests.fault(.responseLost), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .inquire, times: 2), at: "card")
            let created = try await client.create(Bodies.card(), key: "inquiry-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }
}
