import HTTPTransport
import Logging
import PaymentCore
import Reconciler
import Testing

@testable import Providers

@Suite struct AnswerTimeTests {
    /// A clock that goes on by so much with each look at it.
    private struct SteppingClock: WallClock {
        let at: Timestamp
        func now() -> Timestamp { at }
        func sleep(until moment: Timestamp) async throws {}
    }

    /// 1994-11-06T08:49:37Z
    private static let moment = Timestamp(milliseconds: 784_111_777_000)

    private func watch(_ dates: [[String]], status: Int = 200) async throws -> (ProviderClockWatch, ProviderName) {
        let cards = try ProviderName("cards")
        let watch = ProviderClockWatch()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let layer = AnswerTime(
            provider: cards, skew: .seconds(5), clock: SteppingClock(at: Self.moment), watch: watch, logger: logger)
        for values in dates {
            let fields = HTTPFields(values.map { ("Date", $0) })
            let wire = ScriptedSender([ScriptedSender.answer(status, fields: fields)])
            let request = HTTPRequest(method: .get, url: "https://cards.example/", label: "test")
            let answer = try await layer.send(request, next: wire)
            #expect(answer.status == status)
        }
        return (watch, cards)
    }

    @Test(arguments: [200, 404, 410, 503]) func `an answer of any status tells the provider's time`(status: Int)
        async throws
    {
        let hourAhead = Array(repeating: ["Sun, 06 Nov 1994 09:49:37 GMT"], count: 3)
        let (watch, cards) = try await watch(hourAhead, status: status)
        let reading = try #require(watch.reading(of: cards))
        #expect(abs(reading.offset.milliseconds - 3_600_000) <= reading.uncertainty.milliseconds)
        #expect(reading.uncertainty <= .milliseconds(1_000))
        #expect(watch.inDoubt == [cards])
    }

    @Test func `without a date, with two, or with one that is none, nothing is said`() async throws {
        let date = "Sun, 06 Nov 1994 09:49:37 GMT"
        for values in [[], [date, date], ["yesterday"], ["Sun, 06 Nov 1994 09:49:37 CET"]] as [[String]] {
            let (watch, cards) = try await watch([values, values, values, values])
            #expect(watch.reading(of: cards) == nil, "\(values)")
            #expect(watch.inDoubt.isEmpty)
        }
    }
}
