import Crypto
import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Traps for whoever connects to Stripe, each through the real daemon. Those of lost answers, stored errors, late
/// confirms, partial captures and currencies are in `StripeTests`, those of listings in `StripeComparisonTests`.
@Suite struct StripeTrapTests {
    private func run(_ body: @Sendable (World, APIClient) async throws -> Void) async throws {
        var settings = WorldSettings()
        settings.wire = .stripe
        try await World.run(settings, body)
    }

    private func refund(_ value: Int, of id: String, _ client: APIClient, key: String, wait: Int = 20) async throws
        -> APIClient.Answer
    {
        try await client.operate(
            "/v1/payments/\(id)/refunds", body: "{\"amount\":{\"value\":\(value),\"currency\":\"JPY\"}}", key: key,
            wait: wait)
    }

    private func refunds(of id: String, _ client: APIClient) async throws -> [String?] {
        let refunds = try await client.send(.get, "/v1/payments/\(id)").json["refunds"] as? [[String: Any]] ?? []
        return refunds.map { $0["state"] as? String }
    }

    private func nets(_ world: World) async throws -> [Int64] {
        try await world.simulator.ledger("card").transactions.map(\.net)
    }

    @Test(arguments: [FaultKind.requestLost, .responseLost, .errorAfter])
    func `keys that Stripe pruned charge nobody twice`(kind: FaultKind) async throws {
        try await run { world, client in
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.keyForgotten), operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
            #expect(try await nets(world) == [1_200])
        }
    }

    /// Lists show the state before a change for a while: nothing, or the hold alone.
    @Test(arguments: [ProviderSimulator.Operation.authorize, .capture])
    func `a list that lags behind leads to no second charge`(operation: ProviderSimulator.Operation) async throws {
        try await run { world, client in
            var stale = Fault(.staleInquiry)
            stale.staleMs = 2_000
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: operation), at: "card")
            try world.simulator.order(FaultOrder(stale, operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            #expect(try await client.settled(created.id, within: .seconds(40)).state == "succeeded")
            // What no list shows may be sent again: Stripe answers that as it did at first.
            #expect(try await world.simulator.ledger("card").chargedTwice.isEmpty)
            try await world.expectBooksAgree(client)
            #expect(try await nets(world) == [1_200])
        }
    }

    @Test func `a charge that takes its time is not made again`() async throws {
        try await run { world, client in
            var pending = Fault(.pending)
            pending.delayMs = 1_500
            try world.simulator.order(FaultOrder(pending, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }

    /// The first request is executed before or after its time limit here; a second one is answered 409 meanwhile.
    @Test(arguments: [Fault.Moment.before, .after])
    func `a key that is in use says nothing, and the charge is made once`(moment: Fault.Moment) async throws {
        try await run { world, client in
            var slow = Fault(.slow)
            (slow.delayMs, slow.execute) = (2_500, moment)
            try world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            #expect(try await client.settled(created.id, within: .seconds(40)).state == "succeeded")
            try await world.expectBooksAgree(client)
            #expect(try await nets(world) == [1_200])
            let answers = try await world.simulator.journal("card", operation: .authorize, limit: 100).map(\.status)
            // What was executed is found by an inquiry; what was not is sent again while the first is in progress.
            #expect(moment == .before || answers.contains(409), "\(answers)")
        }
    }

    @Test func `a limit of requests executes nothing, and the charge is made once`() async throws {
        try await run { world, client in
            for operation in [ProviderSimulator.Operation.register, .authorize, .capture] {
                try world.simulator.order(FaultOrder(Fault(.throttled), operation: operation), at: "card")
            }
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
            #expect(try await nets(world) == [1_200])
        }
    }

    @Test func `a capture that is declined releases the hold`() async throws {
        try await run { world, client in
            let created = try await client.create(Bodies.card(instrument: "capture-decline-1"), key: "stripe-1")
            #expect(try await client.settled(created.id).state == "failed")
            let ledger = try await world.simulator.ledger("card")
            #expect(ledger.transactions.map(\.held) == [0] && ledger.transactions.map(\.net) == [0])
            try await world.expectBooksAgree(client)
        }
    }

    /// A payment that rests `authorized`, on whose hold somebody acts at the dashboard.
    private func held(_ world: World, _ client: APIClient, then action: String) async throws -> APIClient.Answer {
        let held = try await client.create(Bodies.payment([("card", 1_200)], capture: "manual"), key: "stripe-1")
        try #require(held.state == "authorized", "\(held.text)")
        let key = try #require(try await world.simulator.ledger("card").transactions.first).key
        try await StripeDashboard(world).act(action, on: key)
        return held
    }

    @Test func `a hold that somebody released at the dashboard is never told as captured`() async throws {
        try await run { world, client in
            let payment = try await held(world, client, then: "cancel")
            let taken = try await client.operate(
                "/v1/payments/\(payment.id)/capture", body: "{}", key: "stripe-2", wait: 20)
            #expect(taken.state != "succeeded", "\(taken.text)")
            #expect(try await client.settled(payment.id).state == "failed")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: [true, false])
    func `a hold that somebody captured at the dashboard is taken once, or given back`(asks: Bool) async throws {
        try await run { world, client in
            let payment = try await held(world, client, then: "capture")
            // The caller captures, or gives up: neither takes the money twice, nor calls it released.
            let path = "/v1/payments/\(payment.id)/\(asks ? "capture" : "cancel")"
            _ = try await client.operate(path, body: "{}", key: "stripe-2", wait: 20)
            let ended = try await client.settled(payment.id)
            #expect(ended.state == (asks ? "succeeded" : "canceled"), "\(ended.text)")
            #expect(try await nets(world) == [asks ? 1_200 : 0])
            try await world.expectBooksAgree(client)
        }
    }

    /// The contract says seven days; the charge itself says `capture_before`.
    @Test func `a hold that ends before its contract says is no capture`() async throws {
        var settings = WorldSettings()
        settings.wire = .stripe
        settings.simulated.authorizationLifeMs = 4_000
        try await World.run(settings) { world, client in
            let held = try await client.create(Bodies.payment([("card", 1_200)], capture: "manual"), key: "stripe-1")
            #expect(held.state == "authorized", "\(held.text)")
            try await Polling.until("its end is told", within: .seconds(30)) {
                try await client.send(.get, "/v1/payments/\(held.id)").state == "canceled"
            }
            let ended = try await client.send(.get, "/v1/payments/\(held.id)")
            #expect(ended.text.contains("authorization_expired"), "\(ended.text)")
            let late = try await client.operate("/v1/payments/\(held.id)/capture", body: "{}", key: "stripe-2", wait: 0)
            #expect(late.status == 409, "\(late.text)")
            #expect(try await world.sends(.capture, to: "card") == 0)
            #expect(try await nets(world) == [0])
            try await world.expectBooksAgree(client)
        }
    }

    // MARK: Refunds

    @Test func `a refund that fails after it was accepted is told so, and can be asked for again`() async throws {
        try await run { world, client in
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            var failing = Fault(.pending)
            (failing.delayMs, failing.outcome) = (1_500, .declined)
            try world.simulator.order(FaultOrder(failing, operation: .refund), at: "card")
            _ = try await refund(1_200, of: created.id, client, key: "stripe-2", wait: 0)
            try await Polling.until("the refund failed", within: .seconds(30)) {
                try await refunds(of: created.id, client) == ["failed"]
            }
            // What did not go back is there to be refunded.
            let again = try await refund(1_200, of: created.id, client, key: "stripe-3")
            #expect(again.status == 201, "\(again.text)")
            #expect(try await nets(world) == [0])
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `two refunds of the same amount are two`() async throws {
        try await run { world, client in
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            for number in 1...2 {
                try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .refund), at: "card")
                let refund = try await refund(300, of: created.id, client, key: "stripe-refund-\(number)")
                #expect(refund.status == 201, "\(refund.text)")
                // The same request once more is the same refund.
                #expect(try await self.refund(300, of: created.id, client, key: "stripe-refund-\(number)").status < 300)
            }
            #expect(try await nets(world) == [600])
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a refund beside one from the dashboard gives back no more than was taken`() async throws {
        try await run { world, client in
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            let key = try #require(try await world.simulator.ledger("card").transactions.first).key
            var outside = PlantOrder(.refundAdded, key: key)
            outside.amountValue = 700
            _ = try await world.simulator.plant(outside, at: "card")
            _ = try await refund(1_200, of: created.id, client, key: "stripe-2", wait: 5)
            try await Polling.until("the refund failed", within: .seconds(40)) {
                try await refunds(of: created.id, client) == ["failed"]
            }
            #expect(try await nets(world) == [500])
            #expect(try await refund(500, of: created.id, client, key: "stripe-3").status == 201)
            #expect(try await nets(world) == [0])
        }
    }

    // MARK: Notifications

    private static func signed(_ body: String, at moment: Date = Date()) -> [(String, String)] {
        let seconds = Int(moment.timeIntervalSince1970)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(seconds).\(body)".utf8),
            using: SymmetricKey(data: Data(WorldSettings.notificationSecret.utf8)))
        return [("Stripe-Signature", "t=\(seconds),v1=" + code.map { String(format: "%02x", $0) }.joined())]
    }

    @Test func `a notification of a failed attempt ends no payment, however late and however often it comes`()
        async throws
    {
        try await run { world, client in
            // Stripe still works on the charge when the event of an earlier try comes.
            var pending = Fault(.pending)
            pending.delayMs = 8_000
            try world.simulator.order(FaultOrder(pending, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1", wait: 0)
            try #require(created.status == 202, "\(created.text)")
            try await Polling.until("the charge is at Stripe") {
                try await world.sends(.authorize, to: "card") == 1
            }
            var stranger = client
            stranger.token = nil
            func tell(_ id: String, at moment: Date = Date()) async throws -> Int {
                let body = """
                    {"id":"\(id)","object":"event","type":"payment_intent.payment_failed","data":{"object":\
                    {"object":"payment_intent","status":"requires_payment_method",\
                    "metadata":{"reconciled_payment":"\(created.id)"}}}}
                    """
                return try await stranger.send(
                    .post, "/v1/providers/card/notifications", body: body, headers: Self.signed(body, at: moment)
                ).status
            }
            for id in ["evt_1", "evt_1", "evt_2"] { #expect(try await (200...202).contains(tell(id))) }
            func heard(_ outcome: String) async throws -> Double {
                try await client.metric(
                    "reconciled_notifications_total{outcome=\"\(outcome)\",provider=\"card\"}")
            }
            let (inquired, repeated) = (try await heard("inquired"), try await heard("repeated"))
            #expect(inquired == 2 && repeated == 1, "\(inquired) \(repeated)")
            // A signature is good for five minutes, before and after.
            #expect(try await tell("evt_3", at: Date().addingTimeInterval(-600)) == 401)
            #expect(try await tell("evt_4", at: Date().addingTimeInterval(600)) == 401)
            #expect(try await client.settled(created.id, within: .seconds(40)).state == "succeeded")
            for id in ["evt_1", "evt_5"] { #expect(try await (200...202).contains(tell(id))) }
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").state == "succeeded")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }
}

/// What people do at Stripe's own dashboard, beside the daemon.
struct StripeDashboard {
    private let client: APIClient

    init(_ world: World) {
        client = APIClient(
            port: world.simulatorPort, adminPort: world.simulatorPort, token: "provider-key:token:merchant")
    }

    /// Captures or cancels the hold under a key.
    func act(_ action: String, on key: String) async throws {
        let list = try await client.send(.get, "/card/v1/charges?transfer_group=\(key)")
        let charges = list.json["data"] as? [[String: Any]] ?? []
        let intent = try #require(charges.first?["payment_intent"] as? String, "\(list.text)")
        let answer = try await client.send(.post, "/card/v1/payment_intents/\(intent)/\(action)")
        try #require(answer.status == 200, "\(answer.text)")
    }
}
