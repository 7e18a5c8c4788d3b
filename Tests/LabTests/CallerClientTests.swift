import HTTPTransport
import Testing

@testable import Lab

@Suite struct CallerClientTests {
    private static let payment = #"{"id":"pay_1","state":"succeeded"}"#

    private struct Body: Encodable, Sendable {
        let reason = "none"
    }

    /// The patience is no part of what is tested where none is given: other tests may keep every core busy meanwhile.
    private func ask(
        _ sender: ScriptedSender, patience: Duration = .seconds(300), isInHurry: Bool = false
    ) async throws -> CallerClient.Reply {
        let client = CallerClient(sender: sender, base: "http://localhost:1", token: "secret", patience: patience)
        return try await client.ask("/v1/payments", key: "order-1", body: Body(), isInHurry: isInHurry)
    }

    @Test func `a lost connection, a failure and a busy daemon are tried again with the same key and body`()
        async throws
    {
        let sender = ScriptedSender([
            ScriptedSender.fail(.connectionRefused, .connecting),
            ScriptedSender.fail(.connectionReset, .sent, bytesWritten: 10),
            ScriptedSender.answer(500, body: "{}"),
            ScriptedSender.answer(503, body: "{}"),
            ScriptedSender.answer(409, body: #"{"type":"/problems/idempotency-in-flight","payment_id":"pay_1"}"#),
            ScriptedSender.answer(202, body: #"{"id":"pay_1","state":"processing"}"#),
            ScriptedSender.answer(201, body: Self.payment),
        ])
        let reply = try await ask(sender)
        guard case .settled(let record) = reply else { return #expect(Bool(false), "\(reply)") }
        #expect(record.state == "succeeded")
        #expect(sender.requests.count == 7)
        #expect(Set(sender.requests.map { $0.fields["Idempotency-Key"] }) == ["order-1"])
        #expect(Set(sender.requests.map(\.body)).count == 1)
    }

    @Test func `a daemon that is down is noticed within a second, and one that waits with the caller is not given up`()
        async throws
    {
        let sender = ScriptedSender([ScriptedSender.answer(201, body: Self.payment)])
        _ = try await ask(sender)
        let limits = try #require(sender.requests.first?.limits)
        #expect(limits.connect <= .seconds(1))
        #expect(sender.requests.first?.fields["Prefer"] == "wait=5")
        #expect(limits.firstByte > .seconds(10) && limits.total > limits.firstByte)
    }

    @Test func `a quarantined payment is not asked about again`() async throws {
        let sender = ScriptedSender([ScriptedSender.answer(202, body: #"{"id":"pay_1","state":"quarantined"}"#)])
        let reply = try await ask(sender)
        guard case .quarantined = reply else { return #expect(Bool(false), "\(reply)") }
        #expect(sender.requests.count == 1)
    }

    @Test func `a refusal is final and tells its type`() async throws {
        let sender = ScriptedSender([ScriptedSender.answer(409, body: #"{"type":"/problems/too-late"}"#)])
        let reply = try await ask(sender)
        guard case .refused(let type, _) = reply else { return #expect(Bool(false), "\(reply)") }
        #expect(type == "/problems/too-late")
    }

    @Test func `who is in a hurry needs only the id`() async throws {
        let sender = ScriptedSender([ScriptedSender.answer(202, body: #"{"id":"pay_1","state":"processing"}"#)])
        let reply = try await ask(sender, isInHurry: true)
        #expect(reply.id == "pay_1")
        #expect(sender.requests.map { $0.fields["Prefer"] } == ["wait=0"])
    }

    @Test func `a request that is never answered stays open, with what came of it last`() async throws {
        let sender = ScriptedSender(otherwise: ScriptedSender.answer(500, body: "{}"))
        let reply = try await ask(sender, patience: .milliseconds(50))
        guard case .open(_, let last) = reply else { return #expect(Bool(false), "\(reply)") }
        #expect(last == "order-1: status 500")
        #expect(!reply.isOver)
    }
}
