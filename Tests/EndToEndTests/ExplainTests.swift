import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// An operator asks a real daemon, and the program beside it, why a payment is in its state.
@Suite struct ExplainTests {
    @Test func `a payment in doubt is explained, and its recorded decisions are made again`() async throws {
        var settings = WorldSettings()
        settings.askOnceThenQuiet()
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.errorBefore), operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "why-1", wait: 0)
            let path = "/v1/payments/\(created.id)"
            try await client.untilInquired(created.id)
            var operators = client
            operators.token = World.operatorToken
            #expect(try await client.send(.get, "\(path)/explanation", admin: true).status == 401)
            let asked = try await operators.send(.get, "\(path)/explanation", admin: true)
            #expect(asked.status == 200, "\(asked.text)")
            let leg = try #require((asked.json["legs"] as? [[String: Any]])?.first, "\(asked.text)")
            #expect((leg["decision"] as? [String: Any])?["row"] as? String == "do.undecided", "\(asked.text)")
            #expect((leg["waits_for"] as? [String: Any])?["what"] as? String == "moment")
            #expect((asked.json["remedies"] as? [[String: Any]])?.map { $0["name"] as? String } == ["reconcile"])
            // Callers are told the state and its reason, not the rows.
            #expect(try await client.send(.get, "\(path)/explanation").status == 404)

            let text = try await world.command(["payments", "explain", created.id, "--output", "text"])
            #expect(text.status == 0, "\(text.output)")
            let said = [
                "Row none.authorize: leg 0 shall be held.", "nobody knows what became of it",
                "Row do.undecided, about its authorization: the provider has not decided, or cannot be asked.",
                "What you may do (version ", "reconciled payments reconcile",
            ]
            for sentence in said { #expect(text.output.contains(sentence), "\(sentence) is not in \(text.output)") }
            let json = try await world.command(["payments", "explain", created.id, "--output", "json"])
            let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect(document?["payment_id"] as? String == created.id, "\(json.output)")

            let now = try await client.send(.post, "\(path)/reconcile", wait: 20)
            #expect(now.state == "succeeded")
            let ended = try await world.command(["payments", "explain", created.id, "--output", "text"])
            #expect(ended.output.contains("It ended as succeeded at "), "\(ended.output)")
            let replayed = try await world.command(["payments", "explain", created.id, "--replay", "--output", "text"])
            #expect(replayed.status == 0, "\(replayed.output)")
            #expect(replayed.output.contains("do.first: the same row"), "\(replayed.output)")
            #expect(replayed.output.contains("4 of 4 recorded decisions are made by the same row"))
            try await tryContracts(world, created.id)
        }
    }

    /// The answer of the authorization was lost, and the payment was asked about before it went on.
    private func tryContracts(_ world: World, _ id: String) async throws {
        let file = world.directory.appending(path: "contract.yaml")
        func tried(_ contract: String, _ words: [String]) async throws -> (status: Int32, output: String) {
            try contract.write(to: file, atomically: true, encoding: .utf8)
            let options = ["--what-if", file.path, "--output", "text"]
            let done = try await world.command(["payments", "explain"] + words + options)
            return (done.status, done.output)
        }
        let unchanged = try await tried("base: reference\n", ["--provider", "card"])
        #expect(unchanged.status == 0, "\(unchanged.output)")
        #expect(unchanged.output.contains("0 of 2 recorded decisions of 1 payment would be made by another row"))
        let other = try await tried(
            "key_retention: 126s\ndeclines_bound: false\n", ["--provider", "card", "--last", "5"])
        #expect(other.status == 0, "nothing took so long: \(other.output)")
        #expect(other.output.contains("key_retention: forever is 126s in the file"), "\(other.output)")
        let wrong = try await tried("key_retentions: 1h\n", [id, "--provider", "card"])
        #expect(wrong.status == 2 && wrong.output.contains("key_retentions"), "\(wrong.output)")
        let phases = try await tried("base: reference_sale\n", [id, "--provider", "card"])
        #expect(phases.status == 2 && phases.output.contains("allowed: authorize_capture"), "\(phases.output)")
        let nobody = try await tried("base: reference\n", [])
        #expect(nobody.status == 2 && nobody.output.contains("--provider: ''; allowed: card"), "\(nobody.output)")
        let random = try await tried("inquiry: none\n", [id, "--provider", "card"])
        #expect(random.output.contains("the daemon refuses this contract: "), "\(random.output)")
    }

    @Test func `a decision that another contract changes is named, and the exit code tells it`() async throws {
        try await World.run { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .authorize), at: "card")
            let declined = try await client.create(Bodies.card(), key: "if-1", wait: 20)
            #expect(declined.state == "failed", "\(declined.text)")
            let file = world.directory.appending(path: "contract.yaml")
            try "declines_bound: false\n".write(to: file, atomically: true, encoding: .utf8)
            let words = ["payments", "explain", "--what-if", file.path, "--provider", "card"]
            let text = try await world.command(words + ["--output", "text"])
            #expect(text.status == 1, "\(text.output)")
            #expect(text.output.contains("declines_bound: true is false in the file"), "\(text.output)")
            let named = text.output.split(separator: "\n").filter { $0.hasPrefix(declined.id) }
            #expect(named.count == 1 && named[0].contains(" becomes "), "\(text.output)")
            #expect(named.first?.contains("declines_bound yes becomes no") == true, "\(text.output)")
            let json = try await world.command(words + ["--output", "json"])
            #expect(json.status == 1 && json.output.contains(#""verdict":"other""#), "\(json.output)")
            let others = try await world.command(words.dropLast() + ["points", "--output", "text"])
            #expect(others.status == 0 && others.output.contains("decisions of 0 payments"), "\(others.output)")
            let elsewhere = try await world.command(words.dropLast() + ["points", declined.id])
            #expect(elsewhere.status == 2 && elsewhere.output.contains("allowed: card, where"), "\(elsewhere.output)")
        }
    }

    @Test func `what is asked wrongly is refused with what is allowed`() async throws {
        try await World.run { world, client in
            let wrong = try await world.command(["payments", "explain", "order-1"])
            #expect(wrong.status == 2 && wrong.output.contains("allowed: pay_ and 40 hexadecimal digits"))
            let unknown = "pay_\(String(repeating: "0", count: 40))"
            let missing = try await world.command(["payments", "explain", unknown])
            #expect(missing.status == 1 && missing.output.contains("there is no payment \(unknown)"))
            var operators = client
            operators.token = World.operatorToken
            func status(_ id: String) async throws -> Int {
                try await operators.send(.get, "/v1/payments/\(id)/explanation", admin: true).status
            }
            #expect(try await status(unknown) == 404)
            #expect(try await status("order-1") == 400)
        }
    }
}
