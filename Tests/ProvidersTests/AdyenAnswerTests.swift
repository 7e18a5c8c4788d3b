import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The table of answers of the adapter for Adyen, by hand once more, and what it never does.
struct AdyenAnswerTests {
    private func answer(
        _ status: Int, _ code: String, key: String? = nil, _ fields: [(String, String)] = []
    ) -> HTTPResponse {
        var all = HTTPFields([("Content-Type", "application/json"), ("Retry-After", "7")] + fields)
        if let key { all["Idempotency-Key"] = key }
        let body = "{\"status\":\(status),\"errorCode\":\"\(code)\",\"message\":\"words\",\"errorType\":\"x\"}"
        return HTTPResponse(status: status, fields: all, body: Array(body.utf8), bytesWritten: 5)
    }

    private func report(_ answer: HTTPResponse) throws -> AttemptReport {
        AdyenAnswers.report(
            of: AdyenReply(answer), key: try OrderBook().key(.authorize), at: StandingClock.noon)
    }

    @Test(arguments: [
        (409, "704", OutcomeClass.throttled, "adyen_704"), (422, "704", .throttled, "adyen_704"),
        (422, "703", .throttled, "adyen_703"), (503, "703", .throttled, "adyen_703"),
        (429, "0", .throttled, "adyen_0"), (401, "000", .refused, "adyen_000"), (403, "010", .refused, "adyen_010"),
        (400, "702", .refused, "adyen_702"), (404, "0", .refused, "adyen_0"), (422, "130", .refused, "adyen_130"),
    ])
    func `every row of the table has its outcome`(
        status: Int, code: String, outcome: OutcomeClass, short: String
    ) throws {
        let report = try report(answer(status, code))
        #expect(report.outcome == outcome && report.code == short && report.bytesWritten == 5, "\(report)")
        #expect(report.credentialsRefused == (status == 401 || status == 403))
        #expect(report.retryAfter == StandingClock.noon + .seconds(7))
        #expect(!report.namesKey, "it names no key")
    }

    @Test func `the table above is the whole table, and each row says where Adyen says so`() {
        let rows = AdyenAnswers.rows
        #expect(rows.map(\.name) == ["in-progress", "keys-unavailable", "rate-limited", "credentials", "invalid"])
        #expect(rows.allSatisfy { $0.source.hasPrefix("docs.adyen.com/") })
    }

    @Test(arguments: [
        (500, "905"), (502, "0"), (503, "0"), (504, "0"), (409, "0"), (503, "704"), (409, "703"), (402, "101"),
        (302, "0"),
    ])
    func `what is not documented so is in doubt`(status: Int, code: String) throws {
        let report = try report(answer(status, code))
        #expect(report.outcome == .indeterminate && report.code == "http_\(status)", "\(report)")
    }

    @Test(arguments: [("true", OutcomeClass.indeterminate), ("false", .refused), ("TRUE", .refused)])
    func `what Adyen says may be sent again was not refused for good`(word: String, outcome: OutcomeClass) throws {
        #expect(try report(answer(422, "130", [("transient-error", word)])).outcome == outcome)
        // It says nothing of what executed nothing.
        #expect(try report(answer(429, "0", [("transient-error", word)])).outcome == .throttled)
        #expect(try report(answer(500, "0", [("transient-error", word)])).outcome == .indeterminate)
    }

    @Test func `only an answer with our key is about our request`() throws {
        let ours = try OrderBook().key(.authorize).text
        #expect(try report(answer(422, "130", key: ours)).namesKey)
        #expect(try !report(answer(422, "130", key: ours + "0")).namesKey)
    }

    /// Adyen advises to send without a key where its store of keys is away (703). That would charge twice.
    @Test(arguments: [(422, "703"), (503, "703"), (409, "704"), (422, "704")])
    func `a key is never dropped, whatever is wrong with the store of keys`(status: Int, code: String) async throws {
        let key = try OrderBook().key(.authorize).text
        let refusal = answer(status, code, key: key)
        let sender = ScriptedSender([], otherwise: { _ throws(TransportFailure) in refusal })
        let provider = try SuiteWire.adyen.provider(
            "card", .adyen, token: SuiteWire.adyen.tokens.good, clock: StandingClock(),
            at: "https://checkout-test.adyen.example/v71", sender: sender)
        var book = OrderBook()
        book.instrument = "shopper-1:card-0001"
        for number in 1...3 {
            let report = await provider.send(try book.send(.authorize, number: number))
            #expect(report.outcome == .throttled && report.code == "adyen_\(code)", "\(report)")
        }
        #expect(sender.requests.map { $0.fields["Idempotency-Key"] } == [key, key, key])
        #expect(Set(sender.requests.map(\.body)).count == 1, "and every copy is the same")
    }
}
