import Foundation
import Testing

@testable import ReconciledClient

/// What a client does with each answer: what it repeats, what it believes, and what its journal keeps.
@Suite final class RepetitionTests: Sendable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
    let clock = SkippingClock()
    let journal: DirectoryJournal
    let site: URL

    init() throws {
        journal = try DirectoryJournal(directory)
        site = try #require(URL(string: "http://127.0.0.1:8080/"))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func client(_ daemon: ScriptedDaemon, sites: [URL]? = nil) -> PaymentsClient {
        PaymentsClient(
            sites: sites ?? [site], token: { "token-of-the-shop" }, journal: journal, transport: daemon, clock: clock)
    }

    private func asked(_ value: Int64 = 1_500, deadline: Date? = nil) -> NewPayment {
        let amount = Money(value, "JPY")
        let leg = NewPayment.Leg(provider: "card", instrument: "tok-1", amount: amount)
        return NewPayment(amount: amount, legs: [leg], deadline: deadline)
    }

    @Test func `a payment is sent once where it is answered`() async throws {
        let daemon = ScriptedDaemon([.payment("succeeded")])
        let payment = try await client(daemon).pay(asked(), order: "order-731")
        #expect(payment.state == .succeeded && payment.id == Sample.payment)
        let request = try #require(daemon.requests.first)
        #expect(daemon.requests.count == 1 && clock.pauses.isEmpty)
        #expect(request.method == "POST" && request.url.absoluteString == "http://127.0.0.1:8080/v1/payments")
        #expect(request.headers["Idempotency-Key"] == "order-731/create")
        #expect(request.headers["Authorization"] == "Bearer token-of-the-shop")
        #expect(request.headers["Prefer"] == "wait=10" && request.timeLimit == .seconds(20))
        let body = String(decoding: try #require(request.body), as: UTF8.self)
        #expect(body.contains(#""reference":"order-731""#))
        #expect(body.contains(#""amount":{"currency":"JPY","value":1500}"#))
        #expect(try journal.unfinished().isEmpty)
    }

    @Test(arguments: [
        ScriptedDaemon.Step.lost, .payment("processing", 202), .problem(500, "internal"),
        .problem(503, "not-accepting", retryable: true), .problem(409, "idempotency-in-flight", retryable: true),
        .problem(429, "rate-limited", retryable: true), .answer(502, "<html>Bad gateway</html>", [:]),
        .answer(404, "not here", [:]), .answer(200, "<html>Sign in</html>", [:]), .answer(301, "", [:]),
        .payment("succeeded", amount: 9),
        .answer(403, #"{"type": "about:blank", "title": "Forbidden", "status": 403}"#, [:]),
    ]) func `what says nothing about the end is repeated, with the same key and the same bytes`(
        _ step: ScriptedDaemon.Step
    ) async throws {
        let daemon = ScriptedDaemon([step, step, .payment("failed")])
        let payment = try await client(daemon).pay(asked(), order: "order-731")
        #expect(payment.state == .failed)
        #expect(daemon.requests.count == 3)
        #expect(Set(daemon.requests.map(\.body)).count == 1)
        #expect(Set(daemon.requests.map { $0.headers["Idempotency-Key"] }) == ["order-731/create"])
        #expect(clock.pauses.count == 2 && clock.pauses[0] >= .milliseconds(200) && clock.pauses[1] > clock.pauses[0])
    }

    @Test func `a pause is as long as the answer says, and never shorter`() async throws {
        let busy = ScriptedDaemon.Step.problem(
            503, "not-accepting", retryable: true, headers: ["Retry-After": "7"])
        let daemon = ScriptedDaemon([busy, .lost, .payment("succeeded")])
        _ = try await client(daemon).pay(asked(), order: "order-731")
        #expect(clock.pauses[0] == .seconds(7) && clock.pauses[1] < .seconds(1))
    }

    @Test func `who gives up waiting is told that nobody knows, and the operation stays`() async throws {
        let daemon = ScriptedDaemon([.payment("quarantined", 202)])
        let error = await #expect(throws: ClientError.self) {
            try await self.client(daemon).pay(self.asked(), order: "order-731", within: .seconds(30))
        }
        guard case .unsettled(let key, let last, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key.text == "order-731/create" && last == .payment(.quarantined, id: Sample.payment))
        #expect(clock.now.passed <= .seconds(30) && daemon.requests.count > 5)
        #expect(try journal.unfinished().map(\.key.text) == ["order-731/create"])
    }

    @Test func `whoever gives up is told why, and of no other payment`() async throws {
        struct Locked: Error {}
        let other = ScriptedDaemon([.payment("succeeded", amount: 9)])
        let key = try OperationKey.create(order: "order-731")
        let why = "the answer shows something else than was asked for"
        await #expect(throws: ClientError.unsettled(key, last: nil, because: why)) {
            try await self.client(other).pay(self.asked(), order: "order-731", within: .zero)
        }
        let tokenless = PaymentsClient(
            sites: [site], token: { throw Locked() }, journal: journal, transport: other, clock: clock)
        await #expect(throws: ClientError.unsettled(key, last: nil, because: "there is no token (Locked())")) {
            try await tokenless.pay(self.asked(), order: "order-731", within: .zero)
        }
        #expect(other.requests.count == 1)
    }

    @Test func `a process that starts anew sends what was stored, though its deadline is another now`() async throws {
        let daemon = ScriptedDaemon([.lost, .payment("succeeded")])
        let first = asked(deadline: Date(timeIntervalSince1970: 1_790_000_000))
        await #expect(throws: ClientError.self) {
            try await self.client(daemon).pay(first, order: "order-731", within: .zero)
        }
        let later = asked(deadline: Date(timeIntervalSince1970: 1_790_000_900))
        let payment = try await client(daemon).pay(later, order: "order-731")
        #expect(payment.state == .succeeded && daemon.requests.count == 2)
        #expect(daemon.requests[0].body == daemon.requests[1].body)
        let body = String(decoding: try #require(daemon.requests[1].body), as: UTF8.self)
        #expect(body.contains(#""deadline":"2026-09-21T14:13:20Z""#))
    }

    @Test func `another amount under a stored key is refused before anything is sent`() async throws {
        let daemon = ScriptedDaemon([.payment("succeeded")])
        _ = try await client(daemon).pay(asked(), order: "order-731")
        let key = try OperationKey.create(order: "order-731")
        await #expect(throws: ClientError.differs(key)) {
            try await self.client(daemon).pay(self.asked(1_600), order: "order-731")
        }
        #expect(daemon.requests.count == 1)
    }

    @Test func `resuming ends what was left, and no more`() async throws {
        let daemon = ScriptedDaemon([.payment("processing", 202)])
        await #expect(throws: ClientError.self) {
            try await self.client(daemon).pay(self.asked(), order: "order-731", within: .zero)
        }
        let back = ScriptedDaemon([.payment("succeeded", headers: ["Idempotent-Replayed": "false"])])
        let resumed = try await client(back).resume()
        #expect(resumed.map(\.operation.key.text) == ["order-731/create"])
        guard case .payment(let payment) = try resumed.first?.result.get() else {
            Issue.record("no payment")
            return
        }
        #expect(payment.state == .succeeded)
        #expect(back.requests.map(\.body) == [daemon.requests[0].body])
        #expect(try await client(back).resume().isEmpty && back.requests.count == 1)
    }

    @Test func `an answer that was kept from before is read anew`() async throws {
        let daemon = ScriptedDaemon([
            .payment("authorized", headers: ["Idempotent-Replayed": "true"]), .payment("succeeded", 200),
        ])
        let payment = try await client(daemon).pay(asked(), order: "order-731")
        #expect(payment.state == .succeeded)
        #expect(daemon.requests.map(\.method) == ["POST", "GET"])
        #expect(daemon.requests[1].url.path == "/v1/payments/\(Sample.payment)")
    }

    @Test(arguments: ["succeeded", "failed", "canceled"])
    func `an answer that was kept and is final is enough`(_ state: String) async throws {
        let daemon = ScriptedDaemon([.payment(state, headers: ["Idempotent-Replayed": "true"]), .lost])
        #expect(try await client(daemon).pay(asked(), order: "order-731").state.rawValue == state)
        #expect(daemon.requests.count == 1)
    }

    @Test func `a token that may not read has to do with what was kept`() async throws {
        let kept = ScriptedDaemon.Step.payment("authorized", headers: ["Idempotent-Replayed": "true"])
        let daemon = ScriptedDaemon([kept, .problem(403, "forbidden")])
        #expect(try await client(daemon).pay(asked(), order: "order-731").state == .authorized)
        let refund = ScriptedDaemon.Step.answer(
            201, ScriptedDaemon.Step.refund("succeeded"), ["Idempotent-Replayed": "true"])
        let other = ScriptedDaemon([refund, .problem(403, "forbidden")])
        #expect(try await client(other).refund(Sample.payment, order: "order-731", number: 1).state == .succeeded)
    }

    @Test func `a refund is shown as it is now, also if its answer was kept from before`() async throws {
        let kept = ScriptedDaemon.Step.answer(
            201, ScriptedDaemon.Step.refund("processing"), ["Idempotent-Replayed": "true"])
        let daemon = ScriptedDaemon([kept, .payment("succeeded", 200)])
        #expect(try await client(daemon).refund(Sample.payment, order: "order-731", number: 1).state == .succeeded)
        #expect(
            daemon.requests.map(\.url.path) == [
                "/v1/payments/\(Sample.payment)/refunds", "/v1/payments/\(Sample.payment)",
            ])
    }

    /// Found by the conformance kit, with 300 orders of the seed 4711.
    @Test func `a pause that reading anew was told is kept`() async throws {
        let kept = ScriptedDaemon.Step.payment("authorized", headers: ["Idempotent-Replayed": "true"])
        let busy = ScriptedDaemon.Step.problem(429, "rate-limited", retryable: true, headers: ["Retry-After": "7"])
        let daemon = ScriptedDaemon([kept, busy, kept, .payment("succeeded", 200)])
        #expect(try await client(daemon).pay(asked(), order: "order-731").state == .succeeded)
        #expect(clock.pauses == [.seconds(7)])
    }

    @Test func `a refund is asked for under its number, and is final before it is told`() async throws {
        let daemon = ScriptedDaemon([
            .answer(202, ScriptedDaemon.Step.refund("processing"), [:]),
            .answer(201, ScriptedDaemon.Step.refund("succeeded"), [:]),
        ])
        let refund = try await client(daemon).refund(
            Sample.payment, order: "order-731", number: 2, amount: Money(500, "JPY"), reason: "one item less")
        #expect(refund.state == .succeeded && daemon.requests.count == 2)
        #expect(daemon.requests[1].url.path == "/v1/payments/\(Sample.payment)/refunds")
        #expect(daemon.requests[1].headers["Idempotency-Key"] == "order-731/refund-2")
        let body = try #require(daemon.requests[1].body)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"amount":{"currency":"JPY","value":500},"reason":"one item less"}"#)
    }

    @Test func `a capture and a cancel wait for the payment's end`() async throws {
        let daemon = ScriptedDaemon([
            .payment("processing", 202), .payment("succeeded", 200), .payment("canceling", 202),
            .payment("canceled", 200),
        ])
        #expect(try await client(daemon).capture(Sample.payment, order: "order-731").state == .succeeded)
        #expect(
            try await client(daemon).cancel(Sample.payment, order: "order-731", reason: "sold out").state == .canceled)
        #expect(daemon.requests.map(\.url.lastPathComponent) == ["capture", "capture", "cancel", "cancel"])
        let bodies = daemon.requests.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) }
        #expect(bodies == ["{}", "{}", #"{"reason":"sold out"}"#, #"{"reason":"sold out"}"#])
    }
}
