import Foundation
import HTTPTransport
import Testing

/// Callers are told of their payments without asking, whatever becomes of the daemon and of their answers.
@Suite struct WebhookTests {
    @Test func `each state at rest reaches the caller once, signed, and in order`() async throws {
        try await WebhookReceiver.run { receiver in
            try await World.run(try receiver.settings()) { _, client in
                let created = try await client.create(Bodies.payment([("card", 700)], capture: "manual"), key: "w-1")
                #expect(created.state == "authorized", "\(created.text)")
                #expect(
                    try await client.metric(
                        "reconciled_webhook_deliveries_total{caller=\"shop\",outcome=\"given_up\"}") == 0)
                let path = "/v1/payments/\(created.id)"
                try await Polling.until("the hold is heard of") { try receiver.heard().count == 1 }
                _ = try await client.operate("\(path)/capture", key: "w-1-capture", wait: 15)
                try await Polling.until("the capture is heard of") { try receiver.heard().count == 2 }
                let refund = #"{"amount": {"value": 300, "currency": "JPY"}}"#
                let refunded = try await client.operate("\(path)/refunds", body: refund, key: "w-1-refund", wait: 15)
                #expect(refunded.status < 300, "\(refunded.text)")
                try await Polling.until("the refund is heard of") { try receiver.heard().count == 3 }
                let heard = try receiver.heard()
                #expect(heard.map(\.payment.state) == ["authorized", "succeeded", "succeeded"])
                #expect(heard.map { $0.payment.refunds.map(\.state) } == [[], [], ["succeeded"]])
                #expect(Set(heard.map(\.id)).count == 3 && heard.allSatisfy { $0.payment.id == created.id })
                #expect(heard.allSatisfy { $0.signedBy == [0] && abs($0.age) < 60 })
                #expect(heard.allSatisfy { $0.type == "payment.updated" && $0.contentType == "application/json" })
                #expect(heard.allSatisfy { $0.path == "/hooks" && $0.authorization == nil })

                // What another caller does is none of its business.
                var other = client
                other.token = World.otherCallerToken
                let others = try await other.create(Bodies.payment([("card", 500)]), key: "w-2")
                #expect(others.state == "succeeded", "\(others.text)")
                let second = try await client.create(Bodies.payment([("card", 900)]), key: "w-3")
                try await Polling.until("the next is heard of") { try receiver.heard().count == 4 }
                #expect(try receiver.states(of: second.id) == ["succeeded"])
                #expect(try receiver.states(of: others.id).isEmpty)
                #expect(
                    try await client.metric(
                        "reconciled_webhook_deliveries_total{caller=\"shop\",outcome=\"accepted\"}") == 4)
            }
        }
    }

    @Test(arguments: ["lose", "500", "302 http://127.0.0.1:1/elsewhere"])
    func `a delivery that was not accepted is made again, with the same identifier`(_ answer: String) async throws {
        try await WebhookReceiver.run { receiver in
            try receiver.answer(answer)
            try await World.run(try receiver.settings()) { _, client in
                let created = try await client.create(Bodies.payment([("card", 700)]), key: "w-1")
                #expect(created.state == "succeeded", "\(created.text)")
                try await Polling.until("it is tried") { try receiver.heard().count == 1 }
                // Its caller sees that, with its own token.
                let path = "/v1/payments/\(created.id)/webhook"
                try await Polling.until("the failure is written") {
                    try await client.send(.get, path).json["failure"] is String
                }
                #expect(try await client.send(.get, path).state == "waiting")
                try receiver.answer("200")
                try await Polling.until("it is tried again") { try receiver.heard().count == 2 }
                try await Polling.until("the delivery is written") {
                    try await client.send(.get, path).state == "delivered"
                }
                let heard = try receiver.heard()
                #expect(Set(heard.map(\.id)).count == 1 && heard.map(\.answer).last == "200")
                #expect(heard.allSatisfy { $0.signedBy == [0] })
            }
        }
    }

    /// A name of the caller's that leads into our own network reaches nobody there.
    @Test func `a private address that the configuration does not name is not connected to`() async throws {
        try await WebhookReceiver.run { receiver in
            try await World.run(try receiver.settings(mayBePrivate: false)) { world, client in
                let created = try await client.create(Bodies.payment([("card", 700)]), key: "w-1")
                #expect(created.state == "succeeded", "\(created.text)")
                try await Polling.until("it is tried") { world.log().contains("addressNotAllowed") }
                #expect(try receiver.heard().isEmpty)
                #expect(
                    try await client.metric("reconciled_webhook_deliveries_total{caller=\"shop\",outcome=\"failed\"}")
                        >= 1)
            }
        }
    }

    /// The report is raised in the commit that ends the payment: there is no instant between them.
    @Test(arguments: ["before-outcome:capture", "after-outcome:capture"])
    func `a payment whose daemon is killed around its end is reported all the same`(_ failpoint: String) async throws {
        try await WebhookReceiver.run { receiver in
            try await World.run(try receiver.settings(), failpoint: failpoint) { world, client in
                _ = try? await client.create(Bodies.payment([("card", 700)]), key: "w-1")
                try await world.diedByItself()
                let next = try await world.start()
                let created = try await next.create(Bodies.payment([("card", 700)]), key: "w-1")
                #expect(try await next.settled(created.id).state == "succeeded")
                try await Polling.until("it is heard of") { try receiver.states(of: created.id) == ["succeeded"] }
            }
        }
    }

    @Test func `daemons that are killed while they deliver lose no report, and reorder none`() async throws {
        try await WebhookReceiver.run { receiver in
            let store = try await WorldStore.postgres()
            try await World.run(try receiver.settings(WorldSettings(store: store, daemons: 2))) { world, client in
                try receiver.answer("503")
                var ids: [String] = []
                for number in 0..<12 {
                    let body = Bodies.payment([("card", 700)], capture: "manual")
                    let created = try await client.create(body, key: "k-\(number)")
                    #expect(created.state == "authorized", "\(created.text)")
                    ids.append(created.id)
                }
                try await Polling.until("some are tried") { try !receiver.heard().isEmpty }
                await world.kill(0)
                try receiver.answer("lose")
                let other = try await world.client(of: 1)
                for (number, id) in ids.enumerated() {
                    _ = try await other.operate("/v1/payments/\(id)/capture", key: "c-\(number)", wait: 15)
                }
                let tried = try receiver.heard().count
                try await Polling.until("more are tried") { try receiver.heard().count > tried }
                await world.kill(1)
                try receiver.answer("204")
                for number in 0..<2 { try await world.start(number) }
                // A row that was claimed by a daemon that is dead is due again after a minute.
                try await Polling.until("all are accepted", within: .seconds(150)) {
                    let accepted = try receiver.heard().filter { $0.answer == "204" }
                    return Set(accepted.filter { $0.payment.state == "succeeded" }.map(\.payment.id)) == Set(ids)
                }
                for id in ids {
                    let states = try receiver.states(of: id)
                    let firstEnd = try #require(states.firstIndex(of: "succeeded"))
                    #expect(states[firstEnd...].allSatisfy { $0 == "succeeded" }, "\(states)")
                }
                #expect(try receiver.heard().allSatisfy { $0.signedBy == [0] })
            }
        }
    }

    @Test func `a secret is replaced without a restart, and both sign for a while`() async throws {
        try await WebhookReceiver.run { receiver in
            try await World.run(try receiver.settings()) { world, client in
                let file = world.configuration
                let before = try String(contentsOf: file, encoding: .utf8)
                let next = world.directory.appendingPathComponent("next.secret")
                try WebhookReceiver.nextSecret.write(to: next, atomically: true, encoding: .utf8)
                try before.replacing(", secret_file:", with: ", next_secret_file: \(next.path), secret_file:")
                    .write(to: file, atomically: true, encoding: .utf8)
                try await Polling.until("it is read") { world.log().contains("callers.shop.webhook.secret") }
                _ = try await client.create(Bodies.payment([("card", 700)]), key: "w-1")
                try await Polling.until("it is heard of") { try receiver.heard().count == 1 }
                #expect(try receiver.heard().map(\.signedBy) == [[0, 1]])
                #expect(!world.log().contains("whsec_"))
            }
        }
    }
}
