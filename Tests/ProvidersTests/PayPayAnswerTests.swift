import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The table of answers of the adapter for PayPay, and whose answers are believed.
struct PayPayAnswerTests {
    private let script = PayPayScript()

    // MARK: The table

    @Test(arguments: [
        (401, "UNAUTHORIZED", OutcomeClass.refused, "unauthorized"),
        (401, "OP_OUT_OF_SCOPE", .refused, "op_out_of_scope"),
        (404, "OPA_CLIENT_NOT_FOUND", .refused, "opa_client_not_found"), (429, "RATE_LIMIT", .throttled, "rate_limit"),
        (401, "INVALID_USER_AUTHORIZATION_ID", .refused, "invalid_user_authorization_id"),
        (401, "EXPIRED_USER_AUTHORIZATION_ID", .refused, "expired_user_authorization_id"),
        (400, "CANCELED_USER", .declined, "canceled_user"),
        (400, "NO_SUFFICIENT_FUND", .declined, "no_sufficient_fund"),
        (400, "UNACCEPTABLE_OP", .declined, "unacceptable_op"),
        (400, "REFUND_LIMIT_EXCEEDED", .refused, "refund_limit_exceeded"),
        (400, "REFUND_WINDOW_EXCEED", .refused, "refund_window_exceed"),
        (400, "ALREADY_CAPTURED", .refused, "already_captured"), (400, "ORDER_EXPIRED", .refused, "order_expired"),
        (400, "ORDER_NOT_CAPTURABLE", .refused, "order_not_capturable"),
        (400, "ORDER_NOT_REVERSIBLE", .refused, "order_not_reversible"),
        (400, "ORDER_NO_LONGER_AVAILABLE", .refused, "order_no_longer_available"),
        (400, "HIGHER_CAPTURE_NOT_PERMITTED", .refused, "higher_capture_not_permitted"),
        (404, "RESOURCE_NOT_FOUND", .refused, "not_found"),
        (400, "INVALID_REQUEST_PARAMS", .refused, "invalid_request_params"),
        (400, "MISSING_REQUEST_PARAMS", .refused, "missing_request_params"),
        (400, "INVALID_PARAMS", .refused, "invalid_params"),
        (400, "VALIDATION_FAILED_EXCEPTION", .refused, "validation_failed_exception"),
    ])
    func `every row of the table has its outcome`(
        status: Int, code: String, outcome: OutcomeClass, short: String
    ) throws {
        let fields = HTTPFields.of("application/json", retryAfter: "7")
        let body = Array(PayPayBodies.answer(code).utf8)
        let reply = PayPayReply(HTTPResponse(status: status, fields: fields, body: body, bytesWritten: 5))
        let report = PayPayAnswers.report(of: reply, at: StandingClock.noon)
        #expect(report.outcome == outcome && report.code == short && report.bytesWritten == 5, "\(report)")
        let isOurs = ["UNAUTHORIZED", "OP_OUT_OF_SCOPE", "OPA_CLIENT_NOT_FOUND"].contains(code)
        #expect(report.credentialsRefused == isOurs)
        // No error of PayPay's says what it is about.
        #expect(report.namesKey == (isOurs || outcome == .throttled))
        #expect(report.retryAfter == (outcome == .throttled ? StandingClock.noon + .seconds(7) : nil))
    }

    @Test func `the table above is the whole table, and each row says where PayPay says so`() {
        let rows = PayPayAnswers.rows
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(rows.allSatisfy { $0.source.contains("paypay.ne.jp/") })
        #expect(rows.flatMap(\.codes).count == 22 && Set(rows.flatMap(\.codes)).count == 22)
    }

    @Test(arguments: [
        (500, "INTERNAL_SERVER_ERROR"), (500, "SERVICE_ERROR"), (500, "TRANSACTION_FAILED"), (503, "MAINTENANCE_MODE"),
        (400, "SOMETHING_NEW"), (403, "UNAUTHORIZED"), (429, "SLOWER"), (400, "UNAUTHORIZED"), (500, "CANCELED_USER"),
        (400, "RESOURCE_NOT_FOUND"), (302, "SUCCESS"),
    ])
    func `what is not documented so is in doubt`(status: Int, code: String) async throws {
        let (provider, sender) = try script.provider([script.error(status, code)])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == .indeterminate && report.code == "http_\(status)" && report.observation == nil)
        #expect(sender.requests.count == 1)
    }

    @Test(arguments: [
        (200, "{}", "malformed_body"), (200, "", "malformed_body"),
        (200, PayPayBodies.answer("SUCCESS"), "no_transaction"),
        (202, PayPayBodies.answer("REQUEST_ACCEPTED"), "no_transaction"),
        (200, PayPayBodies.answer("SUCCESS", "{}"), "malformed_body"),
        (200, PayPayBodies.answer("SUCCESS", "[]"), "malformed_body"),
        (400, "{}", "http_400"), (400, "{\"resultInfo\":{}}", "http_400"),
        (200, PayPayBodies.answer("SUCCESS", PayPayBodies.payment("COMPLETED", of: "another")), "answer_mismatch"),
    ])
    func `an answer that does not show our payment proves nothing`(status: Int, body: String, code: String) async throws
    {
        let (provider, _) = try script.provider([script.json(status, body)])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == .indeterminate && report.code == code && report.observation == nil, "\(report)")
    }

    @Test func `a page is no answer of PayPay's, whatever its status`() async throws {
        for status in [200, 401, 404, 429] {
            let page = ScriptedSender.answer(status, fields: .of("text/html"), body: "<html></html>")
            let (provider, _) = try script.provider([page, page, page])
            #expect(try await provider.send(script.book.send(.sale)).outcome == .indeterminate, "\(status)")
            #expect(try await provider.inquire(script.book.inquiry(.sale)).status == .unavailable, "\(status)")
            #expect(try await provider.send(script.book.sendAfterSale(.refund)).outcome == .unsent, "\(status)")
        }
    }

    // MARK: Payments

    @Test(arguments: [
        ("CREATED", OutcomeClass.accepted, "pending"), ("COMPLETED", .accepted, "captured"),
        ("FAILED", .declined, "failed"), ("CANCELED", .refused, "conflict_voided"),
        ("EXPIRED", .refused, "conflict_expired"), ("REFUNDED", .refused, "conflict_voided"),
    ])
    func `a payment that is answered tells by its status`(
        status: String, outcome: OutcomeClass, code: String
    ) async throws {
        let (provider, sender) = try script.provider([try script.shown(status)])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == outcome && report.code == code && report.namesKey && report.bytesWritten > 0)
        #expect(report.observation?.source == .answer && report.observation?.began == StandingClock.noon)
        #expect(sender.requests.map(\.url) == ["https://paypay.example/v2/payments"])
    }

    @Test func `a decline is believed once a read shows the payment`() async throws {
        let (provider, _) = try script.provider([script.error(400, "NO_SUFFICIENT_FUND"), try script.shown("FAILED")])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == .declined && report.code == "no_sufficient_fund" && report.namesKey)
        #expect(report.observation?.status == .declined && report.observation?.reason == "no_sufficient_fund")
    }

    @Test(arguments: [(404, PayPayScript.missing), (500, "SERVICE_ERROR"), (429, "RATE_LIMIT")])
    func `a decline that no read shows names no payment`(status: Int, code: String) async throws {
        let (provider, _) = try script.provider([script.error(400, "CANCELED_USER"), script.error(status, code)])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == .declined && report.code == "canceled_user" && !report.namesKey)
        #expect(report.observation == nil)
    }

    @Test func `a decline beside a payment that was taken is not believed`() async throws {
        let (provider, _) = try script.provider([
            script.error(400, "NO_SUFFICIENT_FUND"), try script.shown("COMPLETED"),
        ])
        let report = try await provider.send(script.book.send(.sale))
        #expect(report.outcome == .accepted && report.observation?.status == .captured)
    }

    @Test(arguments: [
        (404, "RESOURCE_NOT_FOUND", Observation.Status.notFound), (404, "OTHER", .unavailable),
        (400, "RESOURCE_NOT_FOUND", .unavailable), (401, "UNAUTHORIZED", .unavailable),
    ])
    func `only one answer says that there is nothing`(
        status: Int, code: String, expected: Observation.Status
    ) async throws {
        let (provider, _) = try script.provider([script.error(status, code)])
        #expect(try await provider.inquire(script.book.inquiry(.sale)).status == expected)
    }

    @Test func `an inquiry that is answered with another payment is unavailable`() async throws {
        let (provider, _) = try script.provider([try script.shown("COMPLETED", of: "another")])
        let known = try await provider.inquire(script.book.inquiry(.sale))
        #expect(known.status == .unavailable && known.reason == "answer_mismatch")
    }
}
