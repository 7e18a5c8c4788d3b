import HTTPTransport
import ProviderSimulator
import Testing

/// How long a caller waits is what it asked for, however long its payment takes.
@Suite struct PatienceTests {
    /// Sends a request that cannot be settled, and requires the answer when the asked second is over.
    private func expectAnswerInTime(
        _ what: String, _ request: (_ wait: Int) async throws -> APIClient.Answer
    ) async throws {
        let began = ContinuousClock.now
        let answer = try await request(1)
        let took = ContinuousClock.now - began
        #expect(answer.status == 202, "\(what): \(answer.text)")
        // Longer than asked is for a machine that is busy; without a limit it would be the default of 5 s, or for ever.
        #expect(took > .milliseconds(950) && took < .milliseconds(4_500), "\(what) took \(took)")
    }

    /// The provider answers nothing that could be believed any more.
    private func silence(_ world: World) throws {
        try world.simulator.order(FaultOrder(Fault(.errorBefore), times: 10_000), at: "card")
    }

    @Test func `a create, its repeat, a reconcile and a cancel wait as long as was asked`() async throws {
        try await World.run { world, client in
            try silence(world)
            try await expectAnswerInTime("create") { try await client.create(Bodies.card(), key: "wait-1", wait: $0) }
            let began = ContinuousClock.now
            let other = try await client.create(Bodies.card(), key: "wait-2", wait: 0)
            #expect(other.status == 202)
            #expect(ContinuousClock.now - began < .milliseconds(900), "wait=0 does not wait")
            try await expectAnswerInTime("repeat") { try await client.create(Bodies.card(), key: "wait-2", wait: $0) }
            let path = "/v1/payments/\(other.id)"
            try await expectAnswerInTime("reconcile") {
                try await client.send(.post, path + "/reconcile", wait: $0)
            }
            try await expectAnswerInTime("cancel") {
                try await client.send(.post, path + "/cancel", key: "wait-cancel", wait: $0)
            }
        }
    }

    @Test func `a capture and a refund wait as long as was asked`() async throws {
        try await World.run { world, client in
            let paid = try await client.create(Bodies.card(), key: "wait-3")
            let held = try await client.create(Bodies.payment([("card", 500)], capture: "manual"), key: "wait-4")
            #expect(paid.state == "succeeded" && held.state == "authorized")
            try silence(world)
            try await expectAnswerInTime("capture") {
                try await client.send(.post, "/v1/payments/\(held.id)/capture", key: "wait-capture", wait: $0)
            }
            try await expectAnswerInTime("refund") {
                try await client.send(.post, "/v1/payments/\(paid.id)/refunds", key: "wait-refund", wait: $0)
            }
        }
    }
}
