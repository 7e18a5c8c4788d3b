import PaymentCore
import Testing

@Suite struct DiscrepancyTests {
    private let start = Compared.start
    private let rule = ComparisonPolicy.Rule(.settle, after: .hours(1))

    private func orphan(_ amount: Int64 = 1_000) throws -> ComparisonFinding {
        try Compared.finding(.orphan, theirs: Compared.theirs("k", .captured, amount: amount, names: "k"))
    }

    private func opened(_ finding: ComparisonFinding? = nil) throws -> Discrepancy {
        Discrepancy(try finding ?? orphan(), rule: rule, run: try Compared.run().id, at: start)
    }

    @Test func `what is seen again stays one, and tells only what changed`() throws {
        var found = try opened()
        #expect(found.actsAt == start + .hours(1))
        #expect(found.atRisk == (try Money(1_000, Compared.yen())))
        let run = try Compared.run(hour: 1).id
        try found.handle(.seen(orphan(), rule: rule, run: run), at: start + .minutes(5))
        #expect(found.openedAt == start && found.lastSeenAt == start + .minutes(5) && found.lastRun == run)
        #expect(found.history.map(\.kind) == [.opened])
        try found.handle(.seen(orphan(900), rule: rule, run: run), at: start + .minutes(6))
        #expect(found.history.map(\.kind) == [.opened, .changed])
        #expect(found.atRisk == (try Money(900, Compared.yen())))
        #expect(found.actsAt == start + .hours(1))
    }

    @Test func `what heals closes with its reason, and opens again when it comes back`() throws {
        var found = try opened()
        let run = try Compared.run().id
        try found.handle(.healed(.undone, ours: nil, theirs: nil, run: run), at: start + .minutes(1))
        #expect(found.state == .closed && found.closeReason == .undone && !found.explainsMoney)
        #expect(found.actsAt == nil)
        try found.handle(.healed(.undone, ours: nil, theirs: nil, run: run), at: start + .minutes(2))
        #expect(found.history.map(\.kind) == [.opened, .closed])
        try found.handle(.seen(orphan(), rule: rule, run: run), at: start + .minutes(3))
        #expect(found.state == .open && found.closeReason == nil && found.closedAt == nil && found.explainsMoney)
        #expect(found.openedAt == start + .minutes(3))
        #expect(found.actsAt == start + .minutes(3) + .hours(1))
        #expect(found.history.map(\.kind) == [.opened, .closed, .reopened])
    }

    @Test func `what a person closed stays closed until other facts are seen, and still explains its money`() throws {
        var found = try opened()
        let run = try Compared.run().id
        try found.handle(.closed(reason: "written off", by: "ada"), at: start)
        try found.handle(.seen(orphan(), rule: rule, run: run), at: start + .minutes(1))
        #expect(found.state == .closed && found.closeReason == .resolvedByPerson && found.explainsMoney)
        try found.handle(.acted(.undo, run: run), at: start + .minutes(1))
        #expect(found.state == .closed)
        try found.handle(.seen(orphan(999), rule: rule, run: run), at: start + .minutes(2))
        #expect(found.state == .open)
        try found.handle(.closed(reason: "written off", by: "ada"), at: start + .minutes(3))
        let yen = try Compared.yen()
        try found.handle(
            .healed(.undone, ours: nil, theirs: NetAmount(0, yen), run: run), at: start + .minutes(4))
        #expect(found.state == .closed && found.closeReason == .resolvedByPerson)
        #expect(found.theirsNet == NetAmount(0, yen))
    }

    @Test func `what is begun is said once, and begun anew when it turns out to be something else`() throws {
        var found = try opened()
        let run = try Compared.run().id
        try found.handle(.acted(.settle, run: run), at: start + .hours(1))
        #expect(found.state == .settling && found.actsAt == nil)
        try found.handle(.seen(orphan(), rule: rule, run: run), at: start + .hours(2))
        #expect(found.state == .settling && found.actsAt == nil)
        let other = try Compared.finding(.duplicate, theirs: Compared.theirs("k", .captured, names: "k"))
        try found.handle(.seen(other, rule: .init(.tell), run: run), at: start + .hours(3))
        #expect(found.state == .open && found.suggestion == .tell && found.finding == .duplicate)
    }

    @Test func `what is in flight again is not judged, but what it counts is kept up`() throws {
        var found = try opened()
        let yen = try Compared.yen()
        let before = found
        try found.handle(
            .unjudged(ours: NetAmount(1_000, yen), theirs: NetAmount(1_000, yen), run: found.lastRun), at: start)
        #expect(found.state == .open && found.history == before.history && found.evidence == before.evidence)
        #expect(!found.explainsMoney)
    }

    @Test func `people assign, comment and close, and are told what is allowed`() throws {
        var found = try opened()
        try found.handle(.assigned(to: "ada", by: "grace"), at: start)
        #expect(found.assignee == "ada")
        try found.handle(.assigned(to: nil, by: "grace"), at: start)
        #expect(found.assignee == nil)
        try found.handle(.commented("asked the provider", by: "ada"), at: start)
        let before = found
        let long = String(repeating: "x", count: Discrepancy.longestText + 1)
        let refused: [(DiscrepancyEvent, DiscrepancyRefusal)] = [
            (.commented("", by: "ada"), .text(field: "comment", allowed: "1 to 4000 bytes of UTF-8")),
            (.commented(long, by: "ada"), .text(field: "comment", allowed: "1 to 4000 bytes of UTF-8")),
            (.commented("x", by: ""), .text(field: "person", allowed: "1 to 128 bytes of UTF-8")),
            (.assigned(to: "", by: "ada"), .text(field: "assignee", allowed: "1 to 128 bytes of UTF-8")),
            (.closed(reason: "", by: "ada"), .text(field: "reason", allowed: "1 to 4000 bytes of UTF-8")),
            (.closed(reason: "x", by: ""), .text(field: "person", allowed: "1 to 128 bytes of UTF-8")),
        ]
        for (event, refusal) in refused {
            #expect(throws: refusal) { try found.handle(event, at: start) }
            #expect(found == before)
        }
        try found.handle(.closed(reason: "settled by phone", by: "ada"), at: start)
        #expect(found.history.map(\.kind) == [.opened, .assigned, .assigned, .commented, .closed])
        #expect(throws: DiscrepancyRefusal.alreadyClosed) { try found.handle(.closed(reason: "x", by: "a"), at: start) }
        #expect(throws: DiscrepancyRefusal.alreadyClosed) { try found.handle(.assigned(to: "a", by: "a"), at: start) }
        try found.handle(.commented("and said so", by: "ada"), at: start)
    }

    @Test func `a full history takes no comments, and still every event of a run`() throws {
        var found = try opened()
        while found.history.count < Discrepancy.mostEntries { try found.handle(.commented("x", by: "ada"), at: start) }
        #expect(throws: DiscrepancyRefusal.historyFull) { try found.handle(.commented("x", by: "ada"), at: start) }
        try found.handle(.closed(reason: "x", by: "ada"), at: start)
        let run = try Compared.run().id
        try found.handle(.seen(orphan(5), rule: rule, run: run), at: start)
        #expect(found.state == .open && found.history.count == Discrepancy.mostEntries + 2)
    }

    @Test func `the reason for healing follows from what was found and what changed`() throws {
        let taken = try Compared.ours("k", .taken)
        let failed = try Compared.ours("k", .ended, state: .failed)
        func reason(
            _ finding: ComparisonFinding, acted: Bool = false, now: ComparisonClass = .matched, ours: BookedPosition?
        ) throws -> Discrepancy.CloseReason {
            var found = try opened(finding)
            if acted { try found.handle(.acted(.settle, run: found.lastRun), at: start) }
            return found.healing(now: now, ours: ours)
        }
        let status = try Compared.finding(.statusDiffers, ours: failed, theirs: Compared.theirs("k", .captured))
        #expect(try reason(status, acted: true, ours: taken) == .settled)
        #expect(try reason(status, ours: taken) == .healedByLateAnswer)
        #expect(try reason(status, ours: failed) == .correctedThere)
        let only = try Compared.finding(.oursOnly, ours: taken)
        #expect(try reason(only, ours: taken) == .listedLate)
        #expect(try reason(only, acted: true, ours: failed) == .settled)
        #expect(try reason(Compared.finding(.hidden, ours: taken), ours: taken) == .listedLate)
        #expect(try reason(orphan(), ours: taken) == .healedByLateAnswer)
        #expect(try reason(orphan(), acted: true, ours: taken) == .adopted)
        #expect(try reason(orphan(), acted: true, now: .inert, ours: nil) == .undone)
        #expect(try reason(orphan(), now: .inert, ours: nil) == .correctedThere)
    }
}
