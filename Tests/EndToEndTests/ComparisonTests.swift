import Foundation
import PaymentCore
import PostgresServers
import PostgresStore
import ProviderSimulator
import Reconciler
import SQLiteStore
import Testing

/// Both sides compared by the real daemon, which is killed at random: every planted difference is found and classed,
/// none is invented, the money is proven, and what the policy settles is settled.
@Suite struct ComparisonTests {
    /// How many payments are compared. `make test-all` takes 100,000.
    private static func count() throws -> Int {
        let name = "RECONCILED_COMPARED_PAYMENTS"
        guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return 2_000 }
        return try #require(Int(text), "\(name) is a number: \(text)")
    }

    enum Kind: String, CaseIterable {
        case sqlite, postgres
    }

    @Test(arguments: Kind.allCases)
    func `every planted difference is found, none is invented, whenever the daemon is killed`(
        _ kind: Kind
    ) async throws {
        let count = try ComparisonTests.count()
        var settings = WorldSettings()
        if kind == .postgres { settings.store = try await .postgres() }
        settings.logLevel = "info"
        // Of many, a page of the simulator's listing takes its time on a machine that does other things as well.
        settings.firstByte = count > 10_000 ? "2s" : settings.firstByte
        // The schedule has nothing to do: what is compared is asked for.
        settings.comparison =
            #"{begin: "2099-01-01T00:00:00Z", ask_again_after: 1ms, "#
            + "page_size: \(max(10, count / 200)), policy: {orphan: undo after 0s, duplicate: undo after 0s}}"
        let store = settings.store
        try await World.run(settings) { world, _ in
            let course = try await ComparisonCourse(world: world, count: count)
            await world.kill()
            try await course.fillBooks(store)
            let expected = try await course.plant(each: max(2, count / 1_000))

            let (first, interrupted) = try await course.compareWhileKilling(3)
            #expect(interrupted > 1, "it was interrupted on its way")
            #expect(first.state == "completed")
            #expect(first.counts.unanswered == 0)
            #expect(first.proven == true, "each difference of money has a name")
            try await ComparisonTests.expect(expected, in: course)

            try await ComparisonTests.expectSettled(expected, course)
            #expect(try await world.simulator.ledger(ComparisonCourse.provider).chargedTwice.isEmpty)
        }
    }

    /// Every difference that was planted is there as what it is, and nothing else.
    private static func expect(_ expected: [String: ComparisonClass], in course: ComparisonCourse) async throws {
        var left = expected
        for found in try await course.discrepancies() {
            let key = found.subject.key ?? found.subject.currency ?? ""
            let planted = left.removeValue(forKey: key)
            #expect(planted?.rawValue == found.class, "\(key) was found as \(found.class)")
        }
        #expect(left.isEmpty, "\(left.count) were not found: \(left.prefix(5))")
    }

    /// What the policy undoes is undone and closes by itself, and comparing again finds nothing new.
    private static func expectSettled(
        _ expected: [String: ComparisonClass], _ course: ComparisonCourse
    ) async throws {
        let isUndone = { (found: DiscrepancyDocument) in found.suggestedAction == "undo" }
        var undone: [DiscrepancyDocument] = []
        // One run begins the undoing, the next sees that it is done; what is under way meanwhile takes another.
        try await Polling.until("what was planted beyond our books is undone", within: course.limit * 4) {
            let again = try await course.compareAgain()
            #expect(again.proven == true)
            undone = try await course.discrepancies().filter(isUndone)
            return undone.allSatisfy { $0.state == "closed" }
        }
        let wanted = expected.values.count { $0 == .orphan || $0 == .duplicate }
        #expect(undone.count == wanted && undone.allSatisfy { $0.closeReason == "undone" })
        try await expect(expected, in: course)
        let ledger = try await course.world.simulator.ledger(ComparisonCourse.provider)
        for found in undone {
            let transaction = ledger.transactions.first { $0.key == found.subject.key }
            #expect(transaction?.net == 0 && transaction?.held == 0, "\(found.subject.key ?? "") holds no money")
        }
    }
}
