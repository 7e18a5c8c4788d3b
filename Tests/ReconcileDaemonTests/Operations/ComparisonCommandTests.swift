import APIDescription
import ArgumentParser
import MemoryStore
import ProgramEdge
import Reconciler
import StoreContract
import Synchronization
import Testing

@testable import PaymentCore
@testable import ReconcileDaemon

@Suite struct ComparisonCommandTests {
    @Test func `a discrepancy is given to a person or to nobody, and not to both or to neither`() async throws {
        let id = "dis_" + String(repeating: "0", count: 40)
        for words in [[id], [id, "hana", "--nobody"]] {
            let command = try AssignDiscrepancy.parse(words + ["--by", "ken", "--config", "/nowhere.yaml"])
            let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
            #expect(failure.map { "\($0)" }?.contains("or --nobody") == true)
        }
        for words in [[id, "hana"], [id, "--nobody"]] {
            let command = try AssignDiscrepancy.parse(words + ["--by", "ken", "--config", "/nowhere.yaml"])
            let failure = await #expect(throws: (any Error).self) { try await command.run() }
            #expect("\(String(describing: failure))".contains("nowhere.yaml"), "\(String(describing: failure))")
        }
    }

    /// What was printed.
    private final class Printed: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func print(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A daemon that does its work at once.
    private struct InstantExecution: ComparisonExecution {
        let book: OperationsBook
        let found: [ComparisonFinding]

        func execute(
            _ run: ComparisonRun, progress: @Sendable (ComparisonRun) -> Void
        ) async throws -> ComparisonRun {
            let ended = try await book.completed(run, found)
            progress(ended)
            return ended
        }
    }

    private func code(_ runs: [ComparisonRun]) -> CommandFailure.Code? {
        do {
            try ComparisonCommand.judge(runs)
            return nil
        } catch let failure as CommandFailure {
            return failure.code
        } catch {
            return .usage
        }
    }

    private func command(
        _ book: OperationsBook, _ execution: any ComparisonExecution, _ format: OutputFormat, _ printed: Printed
    ) throws -> ComparisonCommand {
        ComparisonCommand(desk: try book.desk(), execution: execution, format: format) { printed.print($0) }
    }

    @Test func `a run is planned over the newest window, followed, and told with its findings`() async throws {
        let book = try OperationsBook()
        let found = [try book.finding("a", .orphan), try book.finding("b", .duplicate)]
        for format in OutputFormat.allCases {
            let printed = Printed()
            let command = try command(book, InstantExecution(book: book, found: found), format, printed)
            let wish = ComparisonCommand.Wish(provider: book.cards, isDry: true, again: true)
            let run = try await command.run(wish, patience: .minutes(1))
            #expect(run.state == .completed && run.isDry)
            #expect(run.window.to <= ManualClock.start && run.window.to.milliseconds % 60_000 == 0)
            #expect(run.window.to - run.window.from == .hours(1))
            #expect(printed.all.count == 4, "\(printed.all)")
            #expect(code([run]) == .finding)
            if format == .json {
                for line in printed.all { _ = try JSONText(line) }
                #expect(try JSONText(printed.all[0])["state"]?.string == "planned")
            } else {
                #expect(printed.all[2].contains("would be opened"), "\(printed.all)")
            }
        }
    }

    @Test func `a run that nobody takes up is left planned, and that is said`() async throws {
        let book = try OperationsBook()
        let printed = Printed()
        let follow = FollowedComparison(
            store: book.store, clock: MovingClock(book.clock), patience: .minutes(10), pause: .seconds(30))
        let command = try command(book, follow, .text, printed)
        let run = try await command.run(.init(provider: book.cards), patience: .minutes(10))
        #expect(run.state == .planned && code([run]) == .unavailable)
        #expect(try await book.store.run(run.id)?.state == .planned)
    }

    @Test func `a run is followed until a daemon has ended it`() async throws {
        let book = try OperationsBook()
        let printed = Printed()
        let clock = MovingClock(book.clock) { tick in
            guard tick == 3 else { return }
            let planned = try await book.store.runs(RunQuery()).items
            try await book.completed(try #require(planned.first))
        }
        let follow = FollowedComparison(store: book.store, clock: clock, patience: .minutes(10), pause: .seconds(1))
        let command = try command(book, follow, .text, printed)
        let run = try await command.run(.init(provider: book.cards), patience: .minutes(10))
        #expect(run.state == .completed && code([run]) == nil)
        #expect(printed.all.last?.contains("the money is proven") == true, "\(printed.all)")
    }

    @Test func `the exit code tells what became of the runs`() async throws {
        let book = try OperationsBook()
        var run = book.run(try book.day())
        #expect(code([run]) == .unavailable)
        run.state = .abandoned
        #expect(code([run]) == .unavailable)
        run.state = .completed
        #expect(code([run]) == nil)
        run.counts[.matched] = 5
        run.counts[.inFlight] = 5
        #expect(code([run]) == nil)
        run.counts[.hidden] = 1
        #expect(code([run]) == .finding)
        #expect(code([]) == nil)
        var unproven = book.run(try book.day())
        unproven.state = .completed
        let yen = try #require(Currency(code: "JPY"))
        unproven.proofs = [
            BalanceProof(
                currency: yen, opening: .init(), moved: .init(ours: 5), closing: .init(ours: 5),
                explained: ExplainedDifference())
        ]
        #expect(code([unproven]) == .finding)
    }

    @Test func `a run that something holds up is not blamed on a daemon that is missing`() throws {
        let book = try OperationsBook()
        var run = book.run(try book.day())
        run.state = .running
        func words() -> String {
            do {
                try ComparisonCommand.judge([run])
                return ""
            } catch let failure as CommandFailure {
                return failure.message
            } catch {
                return "\(error)"
            }
        }
        #expect(words().contains("no daemon with the role batch"))
        let now = book.clock.now()
        run.trouble = .init(code: "sums_do_not_fit", needsPerson: true, since: now, at: now, times: 3)
        #expect(words().contains("held up since \(now.rfc3339) by sums_do_not_fit, 3 times"), "\(words())")
        #expect(!words().contains("no daemon"))
    }

    @Test func `what the desk refuses has an exit code of its kind`() async throws {
        let book = try OperationsBook()
        let desk = try book.desk()
        let kept = try #require(try await book.keep([try book.finding("a")]).first)
        func code(_ body: () async throws(ComparisonDeskFailure) -> Discrepancy) async -> CommandFailure.Code? {
            do {
                _ = try await told(body)
                return nil
            } catch let failure as CommandFailure {
                return failure.code
            } catch {
                return nil
            }
        }
        let missing = try #require(DiscrepancyID(text: "dis_\(String(repeating: "0", count: 40))"))
        #expect(
            await code { () async throws(ComparisonDeskFailure) in try await desk.discrepancy(missing) } == .finding)
        let stale = await code { () async throws(ComparisonDeskFailure) in
            try await desk.change(kept.id, .comment("x"), by: "hana", version: kept.version + 1)
        }
        #expect(stale == .finding)
        let stranger = await code { () async throws(ComparisonDeskFailure) in
            try await desk.change(kept.id, .assign(to: "mallory"), by: "hana", version: nil)
        }
        #expect(stranger == .usage)
        await book.store.failNext(.unavailable, on: .changeDiscrepancy)
        let away = await code { () async throws(ComparisonDeskFailure) in
            try await desk.change(kept.id, .comment("x"), by: "hana", version: nil)
        }
        #expect(away == .unavailable)
    }

    @Test func `without a version a change is made to what is there, whoever else is at it`() async throws {
        let book = try OperationsBook()
        let desk = try book.desk()
        let kept = try #require(try await book.keep([try book.finding("a")]).first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    _ = try await desk.change(kept.id, .comment("word \(number)"), by: "hana", version: nil)
                }
            }
            try await group.waitForAll()
        }
        let history = try await desk.discrepancy(kept.id).history
        #expect(Set(history.dropFirst().map(\.text)) == Set((0..<4).map { "word \($0)" }))
    }

    @Test func `a discrepancy is shown to people with both sides and its history`() async throws {
        let book = try OperationsBook()
        let kept = try #require(try await book.keep([try book.finding("a", .orphan)]).first)
        let changed = try await book.desk().change(kept.id, .comment("one\ntwo"), by: "hana", version: nil)
        let text = ComparisonLine.complete(changed, now: book.clock.now() + .days(2), as: .text)
        #expect(text.contains("orphan  open  2d0h old  1000 JPY"), "\(text)")
        #expect(text.contains("ours      nothing"))
        #expect(text.contains("theirs    captured, amount 1200 JPY, captured 1200 JPY, refunded 200 JPY"))
        #expect(text.contains("commented  hana  one\\u{A}two"))
        let line = ComparisonLine.complete(changed, now: book.clock.now(), as: .json)
        #expect(try JSONText(line)["history"]?.items.count == 2)
    }

    @Test func `the filters of the command are those of the API`() throws {
        let filters = try DiscrepancyFilters.parse([
            "--class", "orphan", "--provider", "cards", "--state", "all", "--unassigned", "--at-risk-from", "5",
            "--currency", "JPY",
        ])
        let query = try filters.query(limit: 7)
        #expect(query.finding == .orphan && query.states.isEmpty && query.assignment == .nobody && query.limit == 7)
        #expect(query.atRiskFrom == (try Money(5, try #require(Currency(code: "JPY")))))
        for wrong in [
            ["--class", "matched"], ["--state", "done"], ["--payment", "x"], ["--older-than", "soon"],
            ["--at-risk-from", "5"], ["--currency", "JPY"], ["--assignee", "ken", "--unassigned"],
        ] {
            #expect(throws: CommandFailure.self) { _ = try DiscrepancyFilters.parse(wrong).query(limit: 1) }
        }
    }
}

/// A clock that moves on whenever somebody sleeps by it, and then does something.
private final class MovingClock: WallClock {
    private let clock: ManualClock
    private let ticks = Mutex(0)
    private let onTick: @Sendable (Int) async throws -> Void

    init(_ clock: ManualClock, onTick: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        self.clock = clock
        self.onTick = onTick
    }

    func now() -> Timestamp { clock.now() }

    func sleep(until moment: Timestamp) async throws {
        let tick = ticks.withLock { ticks in
            ticks += 1
            return ticks
        }
        clock.advance(by: moment - clock.now())
        try await onTick(tick)
    }
}
