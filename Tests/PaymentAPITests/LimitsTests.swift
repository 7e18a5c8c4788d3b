import Hummingbird
import LogCapture
import Logging
import Testing

@testable import HTTPEdge
@testable import PaymentAPI

/// What is bounded where nobody says otherwise.
@Suite struct LimitsTests {
    @Test func `the defaults are those of the guide`() {
        let limits = APILimits()
        #expect([limits.bodyDeadline, limits.idleTimeout, limits.linger] == [.seconds(10), .seconds(60), .seconds(2)])
        #expect(limits.maximumBodyBytes == 65_536 && limits.maximumDepth == 16)
        #expect(limits.maximumHeaderFieldBytes == 8_192 && limits.maximumHeaderBytes == 16_384)
        #expect(limits.maximumHeaderFields == 64)
        #expect(limits.defaultWaitSeconds == 5 && limits.maximumWaitSeconds == 30)
    }

    @Test func `of many strangers the first is told, and then their number every minute`() {
        let lines = LogLines()
        let log = StrangersLog.ofCallers(Logger(label: "test") { _ in lines.handler })
        let start = ContinuousClock.now
        log.refused(nil, at: start)
        #expect(lines.all.count == 1 && lines.all[0].contains("1"))
        for second in 1...9 { log.refused(.expired, at: start + .seconds(6 * second)) }
        #expect(lines.all.count == 1)
        log.refused(nil, at: start + .seconds(60))
        #expect(lines.all.count == 2 && lines.all[1].contains("10"), "\(lines.all)")
        #expect(lines.all[1].contains("expired 9, unknown 1"), "\(lines.all)")
        log.refused(nil, at: start + .seconds(120))
        #expect(lines.all.count == 3 && !lines.all[2].contains("10"), "\(lines.all)")
    }

    @Test func `what a request took is logged in milliseconds`() {
        let lines = LogLines()
        let record = AccessRecord(
            name: RequestName(HeaderValues([:])), method: "GET", route: nil, caller: nil, token: nil, status: 404,
            duration: .microseconds(12_345), bodyBytes: 7)
        record.write(to: Logger(label: "test") { _ in lines.handler })
        #expect(lines.all.count == 1 && lines.all[0].contains("12.345"), "\(lines.all)")
    }
}
