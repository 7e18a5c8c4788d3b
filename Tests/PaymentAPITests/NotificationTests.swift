import PaymentCore
import Reconciler
import Testing

@testable import PaymentAPI

/// Takes what says who it is: `id payment`, after the header that signs it.
private struct PlainReader: NotificationReader {
    func read(
        _ notification: SignedNotification, at now: Timestamp
    ) throws(NotificationRefusal) -> ProviderNotification {
        switch notification.header("x-signature") {
        case []: throw .unsigned
        case ["good"]: break
        case ["old"]: throw .outOfTime
        default: throw .wrongSignature
        }
        let words = String(decoding: notification.body, as: UTF8.self).split(separator: " ").map(String.init)
        guard let id = words.first else { throw .malformed }
        if words.count == 3, words[2] == "done" {
            let key = EffectKey(reported: words[1])
            return ProviderNotification(
                id: id, key: key,
                news: EffectNews(
                    key: key, kind: .authorize, amount: nil, word: ProviderWord(.succeeded, at: now)))
        }
        guard words.count == 2 else { return ProviderNotification(id: id) }
        return ProviderNotification(
            id: id, payment: PaymentID(text: words[1]),
            key: PaymentID(text: words[1]) == nil ? EffectKey(reported: words[1]) : nil)
    }
}

struct NotificationTests {
    private let path = "/v1/providers/cards/notifications"

    private func run(
        _ payments: [Payment], _ body: @escaping @Sendable (RunningAPI) async throws -> Void
    ) async throws {
        let cards = try ProviderName("cards")
        try await RunningAPI.run(
            notifications: { operations in
                ProviderNotifications(
                    readers: [cards: PlainReader()], store: ReadOnlyStore(payments: payments),
                    operations: operations, clock: StillClock())
            }, body)
    }

    private func send(
        _ api: RunningAPI, _ body: String, signature: String? = "good", path: String? = nil
    ) async throws -> RawAnswer {
        try await api.send(
            "POST", path ?? self.path, body: body, key: nil,
            headers: signature.map { [("X-Signature", $0)] } ?? [], token: nil)
    }

    private func waiting() throws -> Payment { try SamplePayment().payment }

    @Test func `a signed notification makes the payment be asked about, once`() async throws {
        let payment = try waiting()
        try await run([payment]) { api in
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let first = try await send(api, "evt_1 \(payment.id)")
            #expect(try first.status == 202 && first.string("outcome") == "inquired")
            let again = try await send(api, "evt_1 \(payment.id)")
            #expect(try again.status == 202 && again.string("outcome") == "repeated")
            #expect(api.operations.calls == [.reconcile(payment.caller, payment.id, wait: .zero)])
            _ = try await send(api, "evt_2 \(payment.id)")
            #expect(api.operations.calls.count == 2)
        }
    }

    @Test func `where it is evidence it is in the payment's row before it is acknowledged`() async throws {
        let payment = try waiting()
        let key = try #require(payment.legs.first?.primary.key)
        try await run([payment]) { api in
            let reason = OperationFailure.notAccepting(reason: "stopping", retryAfter: 7)
            api.operations.set { $0.result = .failure(reason) }
            #expect(try await send(api, "evt_1 \(key.text) done").status == 503)
            api.operations.set {
                $0.result = .success(.unsettled(payment))
                $0.payments = [payment]
            }
            let taken = try await send(api, "evt_1 \(key.text) done")
            #expect(try taken.status == 202 && taken.string("outcome") == "noted", "\(taken)")
            // Whether it is new is for the row to say.
            #expect(try await send(api, "evt_1 \(key.text) done").string("outcome") == "noted")
            let calls = api.operations.calls
            #expect(calls.count == 3)
            guard case .take(let news, payment.legs[0].provider, nil)? = calls.last else {
                Issue.record("expected news of the leg: \(calls)")
                return
            }
            #expect(news.key == key && news.word.state == .succeeded)
            #expect(try await send(api, "evt_2 unknown done").string("outcome") == "unconcerned")
        }
    }

    @Test func `it may name an effect in place of the payment`() async throws {
        let payment = try waiting()
        let key = try #require(payment.legs.first?.primary.key)
        try await run([payment]) { api in
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let answer1 = try await send(api, "evt_1 \(key.text)")
            #expect(try answer1.string("outcome") == "inquired")
        }
    }

    @Test(arguments: [nil, "bad", "old"])
    func `what is not signed is refused, and nothing is asked`(signature: String?) async throws {
        let payment = try waiting()
        try await run([payment]) { api in
            let answer = try await send(api, "evt_1 \(payment.id)", signature: signature)
            #expect(answer.status == 401)
            #expect(try answer.string("type") == "/problems/unauthorized")
            #expect(api.operations.calls.isEmpty)
            // What was refused is not remembered.
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let answer2 = try await send(api, "evt_1 \(payment.id)")
            #expect(try answer2.string("outcome") == "inquired")
        }
    }

    @Test func `a token of a caller signs nothing`() async throws {
        try await run([try waiting()]) { api in
            let answer = try await api.send("POST", path, body: "evt_1", key: nil)
            #expect(answer.status == 401)
        }
    }

    @Test func `what is settled, unknown or of another provider is not asked about`() async throws {
        var sample = try SamplePayment(key: "settled")
        sample.run()
        let settled = sample.payment
        #expect(settled.conclusion != nil)
        let unknown = try SamplePayment(key: "unknown").payment
        try await run([settled]) { api in
            for body in ["evt_1 \(settled.id)", "evt_2 \(unknown.id)", "evt_3", "evt_4 pay_none"] {
                let answer3 = try await send(api, body)
                #expect(try answer3.string("outcome") == "unconcerned", "\(body)")
            }
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a site that may not act has it delivered again`() async throws {
        let payment = try waiting()
        try await run([payment]) { api in
            let reason = OperationFailure.notAccepting(reason: "stopping", retryAfter: 7)
            api.operations.set { $0.result = .failure(reason) }
            let refused = try await send(api, "evt_1 \(payment.id)")
            #expect(refused.status == 503 && refused.headers["retry-after"] == "7")
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let answer4 = try await send(api, "evt_1 \(payment.id)")
            #expect(try answer4.string("outcome") == "inquired")
        }
    }

    @Test func `no more are acted on at once than there are places, and what was put off is taken later`() async throws
    {
        let payment = try waiting()
        try await run([payment]) { api in
            let gate = TurnStile()
            api.operations.set {
                $0.result = .success(.unsettled(payment))
                $0.delay = { await gate.pass() }
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<NotificationRoute.places {
                    group.addTask { try await send(api, "evt_\(number) \(payment.id)").status }
                }
                try await poll { api.operations.calls.count == NotificationRoute.places }
                let refused = try await send(api, "evt_more \(payment.id)")
                #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
                gate.open()
                for try await status in group { #expect(status == 202) }
            }
            #expect(try await send(api, "evt_more \(payment.id)").status == 202)
        }
    }

    @Test func `a provider without a secret, and another method, have no such route`() async throws {
        try await run([]) { api in
            let other = "/v1/providers/points/notifications"
            let answer5 = try await send(api, "evt_1", path: other)
            #expect(answer5.status == 404)
            let answer6 = try await send(api, "evt_1", path: "/v1/providers/CARDS!/notifications")
            #expect(answer6.status == 404)
            let answer7 = try await api.get(path, token: nil)
            #expect(answer7.status == 405)
        }
        try await RunningAPI.run { api in
            let none = try await send(api, "evt_1")
            #expect(none.status == 404)
        }
    }

    @Test func `a body that is too large, or no notification, is refused`() async throws {
        try await run([]) { api in
            let large = String(repeating: "a", count: NotificationRoute.maximumBodyBytes + 1)
            let answer8 = try await send(api, large)
            #expect(answer8.status == 413)
            let empty = try await send(api, " ")
            #expect(try empty.status == 400 && empty.string("type") == "/problems/invalid-request")
        }
    }

    @Test func `the oldest is forgotten once there are too many`() async throws {
        let cards = try ProviderName("cards")
        let payment = try waiting()
        let operations = ScriptedOperations()
        operations.set { $0.result = .success(.unsettled(payment)) }
        let notifications = ProviderNotifications(
            readers: [cards: PlainReader()], store: ReadOnlyStore(payments: [payment]), operations: operations,
            clock: StillClock())
        func outcome(_ id: String) async throws -> ProviderNotifications.Outcome {
            let body = Array("\(id) \(payment.id)".utf8)
            return try await notifications.receive(
                SignedNotification(body: body) { _ in ["good"] }, from: cards)
        }
        #expect(try await outcome("first") == .inquired)
        for index in 0..<9_999 { _ = try await outcome("evt_\(index)") }
        #expect(try await outcome("first") == .repeated)
        _ = try await outcome("one more")
        #expect(try await outcome("evt_0") == .repeated)
        #expect(try await outcome("first") == .inquired)
    }
}
