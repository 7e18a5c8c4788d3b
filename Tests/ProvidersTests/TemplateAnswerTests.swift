import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The table of answers of the template, and whose answers are believed.
struct TemplateAnswerTests {
    private let book = OrderBook(primary: .sale)

    private func provider(
        _ steps: [ScriptedSender.Step], amounts: AmountFormat = .minorUnits
    ) throws -> (TemplateProvider, ScriptedSender) {
        let sender = ScriptedSender(steps)
        let provider = TemplateProvider(
            name: try ProviderName("points"), contract: .template, amounts: amounts,
            client: ProviderClient(
                address: try ProviderAddress("https://points.example"), sender: sender, limits: TimeLimits()),
            clock: StandingClock())
        return (provider, sender)
    }

    private func json(_ status: Int, _ body: String) -> ScriptedSender.Step {
        ScriptedSender.answer(status, fields: .of("application/json", retryAfter: "7"), body: body)
    }

    private func error(_ status: Int, _ code: String) -> ScriptedSender.Step { json(status, #"{"error":"\#(code)"}"#) }

    private func debit(
        _ status: String = "TAKEN", of reference: String? = nil, unit: String = "JPY", amount: Int64 = 1200,
        note: String? = nil, refunds: String = ""
    ) throws -> String {
        """
        {"reference":"\(try reference ?? book.key(.sale).text)","amount":\(amount),"unit":"\(unit)",\
        "status":"\(status)","note":"\(try note ?? book.payment.text)","refunds":[\(refunds)],"of_tomorrow":[1]}
        """
    }

    // MARK: The table

    @Test(arguments: [
        (401, "UNAUTHORIZED", OutcomeClass.refused, "unauthorized"), (429, "RATE_LIMITED", .throttled, "rate_limited"),
        (503, "MAINTENANCE", .throttled, "maintenance"),
        (422, "INSUFFICIENT_BALANCE", .declined, "insufficient_balance"),
        (422, "ACCOUNT_CLOSED", .declined, "account_closed"), (422, "REFUND_DECLINED", .declined, "refund_declined"),
        (422, "AMOUNT_TOO_LARGE", .refused, "amount_too_large"),
        (404, "ACCOUNT_NOT_FOUND", .refused, "account_not_found"), (404, "DEBIT_NOT_FOUND", .refused, "not_found"),
        (409, "NOT_DECIDED", .refused, "not_decided"), (409, "REVERSED", .refused, "reversed"),
        (409, "REFUNDED", .refused, "refunded"), (409, "DECLINED", .refused, "declined"),
        (409, "REFERENCE_IN_USE", .indeterminate, "key_conflict"),
        (400, "INVALID_REQUEST", .refused, "invalid_request"),
    ])
    func `every row of the table has its outcome`(
        status: Int, code: String, outcome: OutcomeClass, short: String
    ) async throws {
        // The read after it fails, so that the table alone speaks.
        let (provider, _) = try provider([error(status, code), error(500, "INTERNAL")])
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == outcome && report.code == short && report.observation == nil, "\(report)")
        #expect(report.credentialsRefused == (status == 401))
        #expect(!report.namesKey && report.bytesWritten > 0)
        if outcome == .throttled { #expect(report.retryAfter == StandingClock.noon + .seconds(7)) }
    }

    @Test func `the table above is the whole table, and each row has a source`() {
        let pairs = TemplateAnswers.rows.flatMap { row in row.codes.map { "\(row.status) \($0)" } }
        #expect(pairs.count == 15 && Set(pairs).count == 15)
        #expect(TemplateAnswers.rows.allSatisfy { !$0.source.isEmpty })
    }

    @Test(arguments: [
        (500, "INTERNAL"), (503, "OVERLOADED"), (400, "SOMETHING_NEW"), (404, "INSUFFICIENT_BALANCE"),
        (422, "UNAUTHORIZED"), (302, "REVERSED"),
    ])
    func `what is not documented so is in doubt`(status: Int, code: String) async throws {
        let (provider, sender) = try provider([error(status, code)])
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == .indeterminate && report.code == "http_\(status)" && report.observation == nil)
        #expect(sender.requests.count == 1)
    }

    @Test(arguments: [200, 401, 404, 422, 429, 503])
    func `a page is no answer of the service, whatever its status`(status: Int) async throws {
        let page = ScriptedSender.answer(status, fields: .of("text/html"), body: "<html></html>")
        let (provider, _) = try provider([page, page])
        #expect(try await provider.send(book.send(.sale)).outcome == .indeterminate)
        #expect(try await provider.inquire(book.inquiry()).status == .unavailable)
    }

    // MARK: Whose debit it is

    @Test func `an answer about another debit proves nothing`() async throws {
        let another = json(200, try debit(of: "another"))
        let (provider, _) = try provider([another, another])
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == .indeterminate && report.code == "answer_mismatch" && report.observation == nil)
        let known = try await provider.inquire(book.inquiry())
        #expect(known.status == .unavailable && known.reason == "answer_mismatch")
    }

    @Test func `a debit that names another payment, or another unit, is a contradiction`() async throws {
        let odd = [json(200, try debit(note: "another")), json(200, try debit(unit: "PTS"))]
        let (provider, _) = try provider(odd)
        #expect(try await provider.inquire(book.inquiry()).contradiction == "another_payment")
        #expect(try await provider.inquire(book.inquiry()).contradiction == "amount_unreadable")
    }

    @Test(arguments: [
        ("TAKEN", OutcomeClass.accepted, "captured", true), ("DECLINED", .declined, "insufficient_balance", true),
        ("REVERSED", .refused, "conflict_voided", true),
    ])
    func `a decline is what the read after it shows`(
        status: String, outcome: OutcomeClass, code: String, namesKey: Bool
    ) async throws {
        let (provider, _) = try provider([error(422, "INSUFFICIENT_BALANCE"), json(200, try debit(status))])
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == outcome && report.code == code && report.namesKey == namesKey, "\(report)")
        #expect(report.observation != nil)
    }

    @Test func `a decline that no read bears out names no key`() async throws {
        let (provider, _) = try provider([error(422, "ACCOUNT_CLOSED"), error(404, "DEBIT_NOT_FOUND")])
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == .declined && !report.namesKey && report.observation?.status == .notFound)
    }

    @Test func `a success that shows nothing of the change is in doubt`() async throws {
        for kind in [EffectKind.void, .refund] {
            let (provider, _) = try provider([json(200, try debit())])
            let report = try await provider.send(book.send(kind))
            #expect(report.outcome == .indeterminate && report.code == "effect_missing", "\(kind)")
        }
    }

    @Test func `two refunds under one reference are no answer`() async throws {
        let refund = #"{"reference":"r","amount":1,"status":"DONE"}"#
        let (provider, _) = try provider([json(200, try debit(refunds: "\(refund),\(refund)"))])
        #expect(try await provider.inquire(book.inquiry()).reason == "malformed_body")
    }

    // MARK: Amounts

    @Test func `points go over the wire by an exact ratio, and what is not exact is refused beforehand`() async throws {
        let yen = try book.money(1200)
        let points = try AmountConversion(numerator: 1, denominator: 5, unitCode: "PTS", currency: yen.currency)
        let (provider, sender) = try provider(
            [json(201, try debit(unit: "PTS", amount: 240))], amounts: .converted(points))
        let report = try await provider.send(book.send(.sale))
        #expect(report.outcome == .accepted && report.observation?.amount == yen)
        let body = String(decoding: try #require(sender.requests.first).body, as: UTF8.self)
        #expect(body.contains(#""amount":240"#) && body.contains(#""unit":"PTS""#))
        #expect(throws: UnconvertibleAmount(reason: .notExact)) { try provider.validate(book.money(1201)) }
    }
}
