import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// What a report carries besides its class.
struct ReportTests {
    private let book = OrderBook()

    private func send(
        _ order: SendOrder, _ status: Int, _ body: String, _ type: String = "application/json",
        retryAfter: String? = nil, amounts: AmountFormat = .minorUnits, contract: ProviderContract = .reference
    ) async throws -> AttemptReport {
        let step = ScriptedSender.answer(status, fields: .of(type, retryAfter: retryAfter), body: body)
        return try await scriptedProvider(ScriptedSender([step]), contract: contract, amounts: amounts).send(order)
    }

    @Test
    func `an accepted authorization carries the whole transaction`() async throws {
        let key = try book.key(.authorize)
        let body = WireBodies.transaction(
            "authorized", key: key, payment: try book.payment.text, until: "2026-03-08T11:00:00.250Z")
        let report = try await send(book.send(.authorize), 201, body)
        #expect(report.outcome == .accepted && report.code == "authorized")
        let observation = try #require(report.observation)
        #expect(observation.status == .authorized)
        #expect(observation.source == .answer)
        #expect(observation.began == StandingClock.noon)
        #expect(observation.key == key)
        #expect(try observation.amount == book.money(1200))
        #expect(observation.authorizedUntil == Timestamp(rfc3339: "2026-03-08T11:00:00.250Z"))
        #expect(observation.contradiction == nil)
        #expect(report.bytesWritten > 0)
    }

    @Test
    func `another amount or currency is accepted and carried, for the core to find`() async throws {
        let key = try book.key(.authorize)
        let more = try await send(
            try book.send(.authorize), 201, WireBodies.transaction("authorized", key: key, value: 1201))
        #expect(more.outcome == .accepted)
        #expect(try more.observation?.amount == book.money(1201))
        let dollars = try await send(
            try book.send(.authorize), 201, WireBodies.transaction("authorized", key: key, currency: "USD"))
        #expect(dollars.observation?.amount?.currency.code == "USD")
        let nowhere = try await send(
            try book.send(.authorize), 201, WireBodies.transaction("authorized", key: key, currency: "QQQ"))
        #expect(nowhere.outcome == .accepted)
        #expect(nowhere.observation?.contradiction == "amount_unreadable")
    }

    @Test
    func `another kind or another payment is a contradiction`() async throws {
        let key = try book.key(.authorize)
        let sale = try await send(
            try book.send(.authorize), 201, WireBodies.transaction("captured", key: key, kind: "sale"))
        #expect(sale.observation?.contradiction == "another_kind")
        let foreign = try await send(
            try book.send(.authorize), 200,
            WireBodies.transaction("authorized", key: key, payment: "pay_" + String(repeating: "0", count: 40)))
        #expect(foreign.observation?.contradiction == "another_payment")
    }

    @Test
    func `an answer about another key carries nothing`() async throws {
        let body = WireBodies.transaction("authorized", key: try book.key(.refund))
        let report = try await send(book.send(.authorize), 201, body)
        #expect(report.code == "answer_mismatch")
        #expect(report.observation == nil)
    }

    @Test
    func `a declined capture shows the hold, the capture and the reason`() async throws {
        let body = WireBodies.transaction(
            "authorized", key: try book.key(.authorize),
            captures: [WireBodies.movement(try book.key(.capture), "declined", reason: "account_closed")])
        let report = try await send(book.send(.capture), 402, body)
        #expect(report.outcome == .declined && report.code == "account_closed")
        #expect(report.observation?.status == .authorized)
        #expect(report.observation?.captures.first?.state == .declined)
        #expect(report.observation?.captures.first?.reason == "account_closed")
    }

    @Test
    func `a success that the transaction does not show leads to an inquiry`() async throws {
        let body = WireBodies.transaction("authorized", key: try book.key(.authorize))
        let report = try await send(book.send(.capture), 201, body)
        #expect(report.outcome == .indeterminate && report.code == "effect_missing")
        #expect(report.observation == nil)
    }

    @Test
    func `a missing transaction is an observation too`() async throws {
        for kind in [EffectKind.capture, .void, .refund] {
            let order = try book.send(kind)
            let own = kind == .void ? order.transactionKey : order.key
            let report = try await send(
                order, 404, WireBodies.problem("/problems/not-found", status: 404, key: own),
                "application/problem+json")
            #expect(report.outcome == .refused && report.code == "not_found")
            #expect(report.namesKey)
            #expect(report.observation?.status == .notFound)
            #expect(report.observation?.source == .answer)
        }
    }

    @Test
    func `a refusal that names no key is no read, and one that names another is nobody's`() async throws {
        for kind in [EffectKind.capture, .void, .refund] {
            let keyless = try await send(
                try book.send(kind), 404, WireBodies.problem("/problems/not-found", status: 404),
                "application/problem+json")
            #expect(keyless.outcome == .refused && !keyless.namesKey)
            #expect(keyless.observation == nil)
            let foreign = try await send(
                try book.send(kind), 400,
                WireBodies.problem(
                    "/problems/invalid-request", status: 400, key: try book.key(.sale, operation: "other")),
                "application/problem+json")
            #expect(foreign.outcome == .indeterminate && foreign.code == "answer_mismatch")
        }
    }

    @Test
    func `a key that is bound to another request is said to be`() async throws {
        let order = try book.send(.refund)
        let conflict = try await send(
            order, 422, WireBodies.problem("/problems/key-reused", status: 422, key: order.key),
            "application/problem+json")
        #expect(conflict.outcome == .indeterminate && conflict.keyConflicts)
    }

    @Test
    func `refused credentials are marked as such`() async throws {
        let refused = try await send(
            try book.send(.void), 401, WireBodies.problem("/problems/unauthorized", status: 401),
            "application/problem+json")
        #expect(refused.outcome == .refused && refused.credentialsRefused)
        let forbidden = try await send(
            try book.send(.void), 403, WireBodies.problem("about:blank", status: 403), "application/problem+json")
        #expect(forbidden.outcome == .refused && forbidden.credentialsRefused)
        let malformed = try await send(
            try book.send(.void), 400, WireBodies.problem("/problems/invalid-request", status: 400),
            "application/problem+json")
        #expect(malformed.outcome == .refused && !malformed.credentialsRefused)
    }

    @Test
    func `a wait is believed up to a day`() async throws {
        let cases: [(String?, Timestamp?)] = [
            ("7", StandingClock.noon + .seconds(7)), ("0", StandingClock.noon), (nil, nil), ("soon", nil),
            ("Sun, 01 Mar 2026 12:00:30 GMT", StandingClock.noon + .seconds(30)),
            ("Sun, 01 Mar 2026 11:00:00 GMT", StandingClock.noon),
            ("Sun, 01 Mar 2099 11:00:00 GMT", StandingClock.noon + .days(1)),
            ("999999999999999999", StandingClock.noon + .days(1)), ("-1", nil), ("9999999999999999999999", nil),
        ]
        for (header, expected) in cases {
            let report = try await send(
                try book.send(.refund), 429, WireBodies.problem("/problems/rate-limited", status: 429),
                "application/problem+json", retryAfter: header)
            #expect(report.outcome == .throttled)
            #expect(report.retryAfter == expected, "\(header ?? "none")")
        }
    }

    @Test
    func `503 with a wait that cannot be read is no evidence`() async throws {
        let body = WireBodies.problem("/problems/unavailable", status: 503)
        let report = try await send(
            try book.send(.authorize), 503, body, "application/problem+json", retryAfter: "later")
        #expect(report.outcome == .indeterminate && report.code == "http_503")
    }

    @Test
    func `codes of the audit trail are short, plain and without card numbers`() async throws {
        let key = try book.key(.authorize)
        let reasons = [
            ("Do not honour!", "do_not_honour_"), ("card 4111 1111 1111 1111 refused", "withheld"),
            (String(repeating: "x", count: 200), String(repeating: "x", count: 64)),
        ]
        for (reason, code) in reasons {
            let report = try await send(
                try book.send(.authorize), 402, WireBodies.transaction("declined", key: key, reason: reason))
            #expect(report.code == code)
            #expect(report.observation?.reason == code)
        }
    }

    @Test
    func `doubtful answers say why`() async throws {
        let key = try book.key(.authorize)
        let cases: [(Int, String, String, String)] = [
            (200, "text/html", WireBodies.html, "wrong_content_type"), (200, "application/json", "{", "malformed_body"),
            (302, "text/html", "", "redirect_refused"),
            (
                410, "application/problem+json", WireBodies.problem("/problems/not-after-passed", status: 410),
                "not_after_passed"
            ),
            (409, "application/problem+json", WireBodies.problem("/problems/conflict", status: 409), "key_conflict"),
            (422, "application/problem+json", WireBodies.problem("/problems/key-reused", status: 422), "key_conflict"),
            (500, "application/json", WireBodies.transaction("authorized", key: key), "http_500"),
            (201, "application/problem+json", WireBodies.problem("about:blank", status: 201), "no_transaction"),
        ]
        for (status, type, body, code) in cases {
            let report = try await send(book.send(.authorize), status, body, type)
            #expect(report.outcome == .indeterminate)
            #expect(report.code == code)
        }
    }
}
