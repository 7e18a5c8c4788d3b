import HTTPTransport
import PaymentCore
import Reconciler
import Testing

@testable import Webhooks

@Suite struct WebhookSenderTests {
    /// A clock that stands still. Nobody here waits for it.
    private struct Clock: WallClock {
        func now() -> Timestamp { Timestamp(milliseconds: 1_700_000_000_999) }
        func sleep(until moment: Timestamp) async throws {}
    }

    private static func payment() throws -> Payment {
        let (caller, card) = (try CallerID("shop"), try ProviderName("card"))
        let amount = try Money(1_200, #require(Currency(code: "JPY")))
        let request = try CreateRequest(
            caller: caller, key: IdempotencyKey("a"), amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            captureMode: .automatic, contracts: [card: .reference])
        let context = MachineContext(now: Clock().now(), contracts: [card: .reference])
        return PaymentMachine.create(request, context).machine.payment
    }

    private static func answer(_ wire: ScriptedSender, to caller: String = "shop") async throws -> WebhookAnswer {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let target = WebhookSender.Target(
            url: "https://shop.example/hooks", secrets: WebhookSecrets([secret]), sender: wire)
        let sender = WebhookSender(
            targets: [try CallerID(caller): target], body: { Array("{\"id\":\"\($0.id)\"}".utf8) }, clock: Clock())
        return await sender.deliver(try payment())
    }

    @Test func `a webhook is one signed POST of the document`() async throws {
        let wire = ScriptedSender([ScriptedSender.answer(204)])
        #expect(try await Self.answer(wire) == .status(204))
        let request = try #require(wire.requests.first)
        #expect(wire.requests.count == 1)
        #expect(request.method == .post && request.url == "https://shop.example/hooks")
        #expect(request.body == Array("{\"id\":\"\(try Self.payment().id)\"}".utf8))
        #expect(request.fields["content-type"] == "application/json")
        #expect(request.fields["webhook-timestamp"] == "1700000000")
        #expect(request.fields["webhook-id"]?.hasPrefix("msg_") == true)
        #expect(request.fields["webhook-signature"]?.hasPrefix("v1,") == true)
        #expect(request.fields["authorization"] == nil)
        // A kept connection that is dead costs a second request within the same lease.
        #expect(request.limits.total * 2 < Duration.milliseconds(WebhookCourier.Settings().lease.milliseconds))
    }

    @Test(arguments: [
        ("120", Span.seconds(120)), ("0", .zero), ("soon", nil), ("-1", nil), ("9999999999", .days(1)), ("", nil),
        ("Tue, 14 Nov 2023 22:15:20 GMT", .milliseconds(119_001)), ("Tue, 14 Nov 2023 22:13:20 GMT", .zero),
    ])
    func `an endpoint that asks for time is understood, in seconds or as a date`(_ text: String, _ asked: Span?)
        async throws
    {
        let wire = ScriptedSender([ScriptedSender.answer(503, fields: HTTPFields([("Retry-After", text)]))])
        #expect(try await Self.answer(wire) == .status(503, retryAfter: asked))
    }

    @Test(arguments: TransportFailure.Code.allCases)
    func `no answer is no answer, whatever the reason`(_ code: TransportFailure.Code) async throws {
        let wire = ScriptedSender([ScriptedSender.fail(code, .sent), ScriptedSender.fail(code, .sent)])
        #expect(try await Self.answer(wire) == .none(code: code.rawValue))
        #expect(wire.requests.count == (code == .deadConnectionReused ? 2 : 1))
    }

    /// Found from outside: receivers end connections that rest, and each such delivery waited for its next attempt.
    @Test func `a kept connection that was dead is no attempt`() async throws {
        let wire = ScriptedSender([ScriptedSender.fail(.deadConnectionReused, .sent), ScriptedSender.answer(200)])
        #expect(try await Self.answer(wire) == .status(200))
        #expect(wire.requests.map(\.body).count == 2 && Set(wire.requests.map(\.body)).count == 1)
    }

    @Test func `a caller without an endpoint is sent nothing`() async throws {
        let wire = ScriptedSender()
        #expect(try await Self.answer(wire, to: "kiosk") == .unsent(code: "no_endpoint"))
        #expect(wire.requests.isEmpty)
    }
}
