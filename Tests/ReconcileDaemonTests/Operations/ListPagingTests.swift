import APIDescription
import ArgumentParser
import MemoryStore
import ProgramEdge
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore
@testable import ReconcileDaemon

/// Lists of the command line that are longer than what they print.
@Suite struct ListPagingTests {
    private static let words = ["/usr/bin/reconciled", "discrepancies", "--config", "my config.yaml"]

    private func discrepancies(_ arguments: [String]) throws -> ListDiscrepancies {
        try ListDiscrepancies.parse(["--config", "my config.yaml"] + arguments)
    }

    /// The cursor at the end of a list.
    private func cursor(_ lines: [String], _ format: OutputFormat) throws -> String? {
        guard let last = lines.last else { return nil }
        if format == .json { return try JSONText(last)["next_cursor"]?.string }
        return last.hasPrefix("there are more: ") ? last.split(separator: " ").last.map(String.init) : nil
    }

    @Test(arguments: OutputFormat.allCases)
    func `each part of a list of discrepancies names the next, and together they are all of it`(
        format: OutputFormat
    ) async throws {
        let book = try OperationsBook()
        let kept = try await book.keep(
            try ["a", "b", "c", "d", "e"].map { try book.finding($0, $0 == "e" ? .foreign : .orphan) })
        let desk = try book.desk()
        var (seen, next): ([String], String?) = ([], nil)
        var parts = 0
        repeat {
            // Time passes between the parts; an age is counted from each.
            book.clock.advance(by: .minutes(1))
            let more = next.map { ["--cursor", $0] } ?? []
            let list = try discrepancies(["--class", "orphan", "--older-than", "0s", "--limit", "2"] + more)
            let lines = try await list.lines(try list.query(), at: desk, format, after: ListPagingTests.words + more)
            next = try cursor(lines, format)
            seen += next == nil ? lines : lines.dropLast()
            parts += 1
        } while next != nil && parts < 10
        #expect(parts == 2)
        let ids = kept.prefix(4).map(\.id.text)
        #expect(seen.count == 4 && zip(seen, ids).allSatisfy { $0.contains($1) }, "\(seen)")
    }

    @Test func `a list that ends with the last of them names no next part`() async throws {
        let book = try OperationsBook()
        _ = try await book.keep([try book.finding("a"), try book.finding("b")])
        let list = try discrepancies(["--limit", "2"])
        let lines = try await list.lines(try list.query(), at: try book.desk(), .text, after: ListPagingTests.words)
        #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("--cursor") })
    }

    @Test func `the command that goes on is the one that was given, from another place`() {
        let command = [
            "/opt/bin/reconciled", "discrepancies", "list", "--config", "my 'own'.yaml", "--class", "orphan",
        ]
        let wanted = #"there are more: reconciled discrepancies list --config 'my '\''own'\''.yaml' --class orphan"#
        for before in [[], ["--cursor", "old"], ["--cursor=old"]] {
            #expect(ListPaging.more("new", as: .text, after: command + before) == wanted + " --cursor new")
        }
    }

    @Test func `a cursor of other filters is refused, and so is what is none`() async throws {
        let book = try OperationsBook()
        _ = try await book.keep([try book.finding("a", .orphan), try book.finding("b", .orphan)])
        let list = try discrepancies(["--class", "orphan", "--limit", "1"])
        let lines = try await list.lines(try list.query(), at: try book.desk(), .json, after: ListPagingTests.words)
        let cursor = try #require(try cursor(lines, .json))
        #expect(try discrepancies(["--class", "orphan", "--cursor", cursor]).query().after != nil)
        for wrong in [["--class", "foreign", "--cursor", cursor], ["--cursor", cursor], ["--cursor", "x"]] {
            let failure = #expect(throws: CommandFailure.self) { try discrepancies(wrong).query() }
            #expect(failure?.code == .usage && "\(failure.map { "\($0)" } ?? "")".contains("--cursor"))
        }
        #expect(throws: CommandFailure.self) { try discrepancies(["--limit", "201"]).query() }
    }

    @Test(arguments: OutputFormat.allCases)
    func `lists of payments go on in the same way`(format: OutputFormat) async throws {
        let book = try OperationsBook()
        let scenario = Scenario(store: book.store, clock: book.clock)
        for key in ["order-1", "order-2", "order-3"] {
            try await scenario.settle(.init(key))
            book.clock.advance(by: .seconds(1))
        }
        var (seen, next): ([String], String?) = ([], nil)
        var parts = 0
        repeat {
            let more = next.map { ["--cursor", $0] } ?? []
            let list = try ListPayments.parse(["--config", "x", "--state", "succeeded", "--limit", "2"] + more)
            let lines = try await list.lines(try list.query(), in: book.store, format, after: ["reconciled"] + more)
            next = try cursor(lines, format)
            seen += next == nil ? lines : lines.dropLast()
            parts += 1
        } while next != nil && parts < 10
        #expect(parts == 2 && seen.count == 3 && Set(seen).count == 3, "\(seen)")
        let one = try ListPayments.parse(["--config", "x", "--key", "order-2"])
        let found = try await one.lines(try one.query(), in: book.store, format, after: [])
        let second = PaymentID(caller: try CallerID("shop"), key: try IdempotencyKey("order-2"))
        #expect(found.count == 1 && found.first?.contains(second.text) == true, "\(found)")
        for wrong in ["", "two words", "schlüssel"] {
            let list = try ListPayments.parse(["--config", "x", "--key", wrong])
            #expect(throws: CommandFailure.self, "\(wrong)") { try list.query() }
        }
        let other = try ListPayments.parse(["--config", "x", "--cursor", "x"])
        #expect(throws: CommandFailure.self) { try other.query() }
    }
}
