import CoreMetrics
import HTTPEdge
import PaymentCore
import Synchronization
import Testing

@testable import OperationsConsole

/// What the first page shows of the last hour.
@Suite struct ConsoleHistoryTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func history(
        _ ages: [Int64], _ metrics: MetricsRegistry = MetricsRegistry(), hasMore: Bool = false,
        now: @escaping @Sendable () -> Timestamp = { ConsoleHistoryTests.start }
    ) -> ConsoleHistory {
        let list: @Sendable (String?) async -> OperatorAnswer = { query in
            #expect(query == "waiting_for=time&provider=card&limit=200")
            let payments = ages.map { #"{"created_at":"\#((Self.start + .seconds(-$0)).rfc3339)"}"# }
            let more = hasMore ? #""cursor""# : "null"
            return ConsoleStage.answer(
                200, #"{"data":[\#(payments.joined(separator: ","))],"next_cursor":\#(more)}"#)
        }
        let none: @Sendable () -> OperatorAnswer = { ConsoleStage.answer(404, "{}") }
        return ConsoleHistory(
            reads: OperatorReads(
                list: list, payment: { _ in none() }, events: { _, _ in none() }, explanation: { _ in none() }),
            metrics: metrics, providers: ["card"], now: now)
    }

    @Test func `what waits is counted by its age, and more than is looked at is said to be more`() async {
        let history = history([0, 59, 60, 599, 600, 3_599, 3_600, 90_000], hasMore: true)
        await history.look()
        #expect(history.samples.last?.waiting["card"] == ConsoleHistory.Waiting(byAge: [2, 2, 2, 2], isMore: true))
    }

    @Test func `an hour is kept, and no more`() async {
        let moment = Mutex(ConsoleHistoryTests.start)
        let history = history([]) { moment.withLock { $0 } }
        for _ in 0..<300 {
            moment.withLock { $0 = $0 + .seconds(15) }
            await history.look()
        }
        let samples = history.samples
        #expect(samples.count == 240)
        #expect(samples.last.map { $0.at - samples[0].at } == .seconds(239 * 15))
    }

    @Test func `requests that did not get through, or got no answer, are counted apart`() async {
        let metrics = MetricsRegistry()
        for (outcome, count) in [("accepted", Int64(7)), ("indeterminate", 2), ("unsent", 4)] {
            metrics.makeCounter(
                label: "reconciled_attempts",
                dimensions: [("provider", "card"), ("kind", "sale"), ("outcome", outcome), ("again", "false")]
            ).increment(by: count)
        }
        let history = history([], metrics)
        await history.look()
        let counted = history.samples.last?.attempts["card"]
        #expect(counted?.all == 13 && counted?.lost == 6)
    }

    @Test func `a picture has a column for each minute that was seen, as high as what waited`() {
        let samples = (0..<3).map { (minute: Int) in
            ConsoleHistory.Sample(
                at: Self.start + .minutes(Int64(minute)),
                waiting: ["card": ConsoleHistory.Waiting(byAge: [minute * 10, 0, 0, 2], isMore: false)],
                attempts: [:], settled: [:])
        }
        let until = (Self.start + .minutes(2)).milliseconds
        let picture = WaitingPicture(samples, of: "card", until: until)
        #expect(picture.most == 22)
        let columns = picture.rectangles.map { "\($0["x"] ?? "") \($0["age"] ?? "") \($0["height"] ?? "")" }
        #expect(columns == ["342 3 5", "348 0 25", "348 3 5", "354 0 50", "354 3 5"], "\(columns)")
        #expect(WaitingPicture(samples, of: "points", until: until).rectangles.isEmpty)
    }
}
