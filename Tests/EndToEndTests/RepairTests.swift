import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// A payment that waits for people is taken out of quarantine by two of them, with the runbook's own commands.
@Suite struct RepairTests {
    /// After the first inquiry nothing is read for an hour, so that a version that was read is the newest.
    private static let quiet: WorldSettings = {
        var settings = WorldSettings()
        settings.askOnceThenQuiet()
        return settings
    }()

    /// A payment whose provider recorded another amount, once it was asked about.
    private func quarantined(_ key: String, _ world: World, _ client: APIClient) async throws -> APIClient.Answer {
        try world.simulator.order(FaultOrder(Fault(.amountChanged), operation: .authorize), at: "card")
        let created = try await client.create(Bodies.card(), key: key, wait: 1)
        #expect(try await client.settled(created.id).state == "quarantined")
        try await client.untilInquired(created.id)
        return created
    }

    @Test func `one person proposes, the same one cannot approve, and a second one ends it`() async throws {
        try await World.run(RepairTests.quiet) { world, client in
            let desk = try RepairDesk(world)
            let created = try await quarantined("repair-1", world, client)
            let explained = try await world.command(["payments", "explain", created.id, "--output", "text"])
            #expect(explained.output.contains("reconciled repairs propose"), "\(explained.output)")

            let letter = world.directory.appendingPathComponent("letter.txt")
            try Data("They released it.".utf8).write(to: letter)
            let version = try await client.version(of: created.id)
            let words = [
                "propose", created.id, "--action", "undone_outside", "--evidence", "Their mail of today, case 17.",
                "--evidence-file", letter.path, "--reference", "RV-881", "--version", version, "--output", "text",
            ]
            let proposed = try await desk.run(words, as: desk.ken, at: client)
            #expect(proposed.status == 0, "\(proposed.output)")
            let id = try RepairDesk.identifier(proposed.output)
            #expect(proposed.output.contains("It waits for another person"))
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").state == "quarantined")

            let listed = try await desk.run(["list", "--output", "text"], as: desk.onCall, at: client)
            #expect(listed.output.contains("\(id)  proposed  undone_outside"), "\(listed.output)")
            let approve = ["approve", id, "--reason", "I read it too.", "--output", "text"]
            let own = try await desk.run(approve, as: desk.ken, at: client)
            #expect(own.status == 1 && own.output.contains("Nobody approves what they proposed"), "\(own.output)")
            let operators = try await desk.run(approve, as: desk.onCall, at: client)
            #expect(operators.status == 1 && operators.output.contains("role approver"), "\(operators.output)")
            let taken = ["reject", id, "--reason", "Hana shall propose it.", "--output", "text"]
            #expect(try await desk.run(taken, as: desk.ken, at: client).status == 0)

            var again = words
            let place = try #require(again.firstIndex(of: version))
            again[place] = try await client.version(of: created.id)
            let second = try RepairDesk.identifier(try await desk.run(again, as: desk.onCall, at: client).output)
            let approved = try await desk.run(
                ["approve", second, "--reason", "I read it too.", "--output", "text"], as: desk.ken, at: client)
            #expect(approved.status == 0 && approved.output.contains("approved by ken"), "\(approved.output)")
            #expect(try await client.settled(created.id).state == "failed")
            let trail = try await client.send(.get, "/v1/payments/\(created.id)/events?limit=200").text
            for word in [#""resolved""#, "RV-881", "on-call", "ken", "Their mail of today", "repair rejected"] {
                #expect(trail.contains(word), "\(word) is not in the trail")
            }
            let verdict = try await world.command(["payments", "verify"])
            #expect(verdict.status == 0, "\(verdict.output)")
            let replayed = try await world.command(["payments", "explain", created.id, "--replay", "--output", "text"])
            #expect(
                replayed.status == 0 && replayed.output.contains("repair.undone: the same row"), "\(replayed.output)")
        }
    }

    @Test func `what was approved is done at once`() async throws {
        try await World.run(RepairTests.quiet) { world, client in
            let desk = try RepairDesk(world)
            let created = try await quarantined("repair-2", world, client)
            let words = ["propose", created.id, "--action", "resume", "--evidence", "They mended their answers."]
            let proposed = try await desk.run(
                words + ["--version", try await client.version(of: created.id)], as: desk.onCall, at: client)
            #expect(proposed.status == 0, "\(proposed.output)")
            let id = try RepairDesk.identifier(proposed.output)
            let before = try await world.sends(.inquire, to: "card")
            let approved = try await desk.run(["approve", id, "--reason", "I asked too."], as: desk.ken, at: client)
            #expect(approved.status == 0, "\(approved.output)")
            try await Polling.until("it is asked about") { try await world.sends(.inquire, to: "card") > before }
            // They did not: it is with people again.
            #expect(try await client.settled(created.id).state == "quarantined")
        }
    }

    @Test func `what is asked wrongly is refused with what is allowed`() async throws {
        try await World.run { world, client in
            let desk = try RepairDesk(world)
            let words = ["propose", "order-1", "--action", "resume", "--evidence", "none at all", "--version", "1"]
            let wrong = try await desk.run(words, as: desk.onCall, at: client)
            #expect(wrong.status == 2 && wrong.output.contains("allowed: pay_ and 40 hexadecimal digits"))
            let unknown = try await desk.run(["show", "rep_1"], as: desk.onCall, at: client)
            #expect(unknown.status == 2 && unknown.output.contains("allowed: rep_ and 40 hexadecimal digits"))
            let nobody = world.directory.appendingPathComponent("nobody")
            try Data("nobody's token".utf8).write(to: nobody)
            let stranger = try await desk.run(["list"], as: nobody.path, at: client)
            #expect(stranger.status == 1 && stranger.output.contains("401"))
            let settled = try await client.create(Bodies.card(), key: "repair-3")
            var fine = words
            (fine[1], fine[7]) = (settled.id, try await client.version(of: settled.id))
            let nothing = try await desk.run(fine, as: desk.onCall, at: client)
            #expect(nothing.status == 1 && nothing.output.contains("waits neither for people"))
        }
    }
}
