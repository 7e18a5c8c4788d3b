import CoreMetrics
import MemoryStore
import OperationsConsole
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore
@testable import ReconcileDaemon

@Suite struct ComparisonGaugesTests {
    /// The value of a series, as the text of the metrics shows it.
    private func value(_ series: String, _ registry: MetricsRegistry) -> Double? {
        registry.openMetrics().split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
    }

    @Test func `gauges follow the queue, and go back to zero`() async throws {
        let book = try OperationsBook()
        let registry = MetricsRegistry()
        var gauges = ComparisonGauges(providers: [book.cards], start: ManualClock.start, factory: registry)
        try await gauges.record(book.store, now: book.clock.now())
        let orphans = #"reconciled_discrepancies_open{class="orphan",provider="cards"}"#
        let oldest = #"reconciled_oldest_discrepancy_seconds{provider="cards"}"#
        let atRisk = #"reconciled_discrepancies_at_risk{currency="JPY"}"#
        #expect(value(orphans, registry) == 0 && value(oldest, registry) == 0)
        let kept = try await book.keep([
            try book.finding("a", .orphan), try book.finding("b", .orphan), try book.finding("c", .foreign),
        ])
        try await gauges.record(book.store, now: book.clock.now())
        #expect(value(orphans, registry) == 2)
        #expect(value(oldest, registry) == 180)
        #expect(value(atRisk, registry) == 3_000)
        let desk = try book.desk()
        for discrepancy in kept {
            _ = try await desk.change(discrepancy.id, .close(reason: "Done."), by: "hana", version: nil)
        }
        try await gauges.record(book.store, now: book.clock.now())
        #expect(value(orphans, registry) == 0 && value(oldest, registry) == 0 && value(atRisk, registry) == 0)
    }

    @Test func `the lag runs from the start until something is compared, then from the end of the chain`() async throws
    {
        let book = try OperationsBook()
        let registry = MetricsRegistry()
        let lag = #"reconciled_comparison_lag_seconds{provider="cards"}"#
        var gauges = ComparisonGauges(providers: [book.cards], start: ManualClock.start, factory: registry)
        book.clock.advance(by: .seconds(90))
        try await gauges.record(book.store, now: book.clock.now())
        #expect(value(lag, registry) == 90)
        // A window that is being compared is not compared yet.
        let next = book.run(try book.day(9))
        _ = try await book.store.begin(next)
        try await gauges.record(book.store, now: book.clock.now())
        #expect(value(lag, registry) == 86_490)
        try await book.completed(next)
        try await gauges.record(book.store, now: book.clock.now())
        #expect(value(lag, registry) == 90)
        let runs = "reconciled_comparison_runs"
        #expect(value(#"\#(runs){provider="cards",state="completed"}"#, registry) == 1)
        #expect(value(#"\#(runs){provider="cards",state="planned"}"#, registry) == 0)
    }

    @Test func `the runs of each provider are its own`() async throws {
        let book = try OperationsBook()
        let registry = MetricsRegistry()
        let points = try ProviderName("points")
        var gauges = ComparisonGauges(providers: [book.cards, points], start: ManualClock.start, factory: registry)
        try await book.completed(book.run(try book.day()))
        try await gauges.record(book.store, now: book.clock.now())
        let runs = "reconciled_comparison_runs"
        #expect(value(#"\#(runs){provider="cards",state="completed"}"#, registry) == 1)
        #expect(value(#"\#(runs){provider="points",state="completed"}"#, registry) == 0)
    }
}
