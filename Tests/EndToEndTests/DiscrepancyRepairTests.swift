import Foundation
import ProviderSimulator
import Testing

/// What a provider has beyond our books is undone, or accepted, by two people, with the commands of the guide.
@Suite struct DiscrepancyRepairTests {
    @Test(arguments: [false, true])
    func `two people have one orphan undone and write another one off`(onPostgres: Bool) async throws {
        var settings = WorldSettings()
        if onPostgres { settings.store = try await .postgres() }
        // What is compared is asked for, by this test or by an approval.
        settings.comparison = #"{begin: "2099-01-01T00:00:00Z", settle_delay: 0s}"#
        settings.contractLines = ["max_request_life: 5s", "clock_skew: 500ms"]
        settings.reconcileLines = ["send_within: 1s"]
        // One comparison has to see both: as long as such requests may take, so that a busy machine hides none.
        settings.firstByte = settings.total
        let store = settings.store
        try await World.run(settings) { world, _ in
            let desk = try RepairDesk(world)
            let course = try await ComparisonCourse(world: world, count: 20)
            await world.kill()
            try await course.fillBooks(store)
            let client = try await world.start()
            try await course.plantOrphans(2)
            _ = try await course.compareAgain()
            let orphans = try await course.discrepancies()
            #expect(orphans.map(\.class) == ["orphan", "orphan"] && orphans.allSatisfy { $0.state == "open" })
            let (first, second) = (try #require(orphans.first), try #require(orphans.last))

            let words = ["--evidence", "No shop of ours sold it.", "--version", "\(first.version)", "--output", "text"]
            let wrong = try await desk.run(
                ["propose", first.id, "--action", "charged"] + words, as: desk.onCall, at: client)
            #expect(wrong.status == 1 && wrong.output.contains("undo and write_off are allowed"), "\(wrong.output)")
            let both = try await desk.run(
                ["propose", first.id, "--leg", "0", "--action", "undo"] + words, as: desk.onCall, at: client)
            #expect(both.status == 2 && both.output.contains("a discrepancy has neither"), "\(both.output)")
            let proposed = try await desk.run(
                ["propose", first.id, "--action", "undo"] + words, as: desk.ken, at: client)
            #expect(proposed.status == 0 && proposed.output.contains(first.id), "\(proposed.output)")
            let undo = try RepairDesk.identifier(proposed.output)
            let approve = ["approve", undo, "--reason", "I asked all shops.", "--output", "text"]
            let own = try await desk.run(approve, as: desk.ken, at: client)
            #expect(own.status == 1 && own.output.contains("Nobody approves what they proposed"), "\(own.output)")
            #expect(try await Self.net(world, first) > 0, "one person alone moves nothing")
            let taken = ["reject", undo, "--reason", "Hana shall propose it."]
            #expect(try await desk.run(taken, as: desk.ken, at: client).status == 0)

            try await Self.repair(first, "undo", desk, course)
            try await Polling.until("the order is carried out", within: .seconds(60)) {
                try await Self.net(world, first) == 0
            }
            try await Self.repair(second, "write_off", desk, course)
            try await Polling.until("the undoing is seen", within: .seconds(60)) {
                _ = try await course.compareAgain()
                return try await Self.now(first, course).closeReason == "undone"
            }
            let accepted = try await Self.now(second, course)
            #expect(accepted.state == "closed" && accepted.closeReason == "resolved_by_person")
            #expect(try await Self.net(world, second) > 0, "what was written off is not touched")

            let listed = try await desk.run(["list", "--state", "decided"], as: desk.onCall, at: client)
            #expect(listed.output.contains(first.id) && listed.output.contains(second.id), "\(listed.output)")
            let history = try await world.command(["discrepancies", "show", first.id, "--output", "text"])
            for word in ["proposes undo by rep_", "approves undo by rep_", "proposed by on-call", "No shop of ours"] {
                #expect(history.output.contains(word), "\(word) is not in \(history.output)")
            }
        }
    }

    private static func net(_ world: World, _ found: DiscrepancyDocument) async throws -> Int64 {
        let ledger = try await world.simulator.ledger(ComparisonCourse.provider)
        let transaction = try #require(ledger.transactions.first { $0.key == found.subject.key })
        return transaction.net + transaction.held
    }

    private static func now(
        _ found: DiscrepancyDocument, _ course: ComparisonCourse
    ) async throws -> DiscrepancyDocument {
        try #require(try await course.discrepancies().first { $0.id == found.id })
    }

    private static func repair(
        _ found: DiscrepancyDocument, _ action: String, _ desk: RepairDesk, _ course: ComparisonCourse
    ) async throws {
        let version = try await now(found, course).version
        let client = try await course.world.client(of: 0)
        let proposed = try await desk.run(
            [
                "propose", found.id, "--action", action, "--evidence", "No shop of ours sold it.", "--version",
                "\(version)",
            ], as: desk.onCall, at: client)
        try #require(proposed.status == 0, "\(proposed.output)")
        let approve = ["approve", try RepairDesk.identifier(proposed.output), "--reason", "I asked all shops."]
        let approved = try await desk.run(approve, as: desk.ken, at: client)
        try #require(approved.status == 0, "\(approved.output)")
    }
}
