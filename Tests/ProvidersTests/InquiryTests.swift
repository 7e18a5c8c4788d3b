import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// What an inquiry makes of an answer.
///
/// Only the provider itself can say "not found".
struct InquiryTests {
    private let book = OrderBook()

    private func inquire(_ step: @escaping ScriptedSender.Step) async throws -> Observation {
        try await scriptedProvider(ScriptedSender([step])).inquire(book.inquiry())
    }

    private func answer(_ status: Int, _ type: String?, _ body: String) async throws -> Observation {
        try await inquire(ScriptedSender.answer(status, fields: .of(type), body: body))
    }

    @Test
    func `every status of the contract is read`() async throws {
        let key = try book.key(.authorize)
        for status in WireTransaction.Status.allCases {
            let body =
                status == .tombstoned
                ? WireBodies.tombstone(key: key) : WireBodies.transaction(status.rawValue, key: key)
            let observation = try await answer(200, "application/json", body)
            #expect(observation.status.rawValue == status.rawValue)
            #expect(observation.source == .inquiry && observation.began == StandingClock.noon)
            #expect(observation.key == key && observation.contradiction == nil)
            #expect((observation.amount == nil) == (status == .tombstoned))
        }
    }

    @Test
    func `captures and refunds are listed with their keys`() async throws {
        let body = WireBodies.transaction(
            "captured", key: try book.key(.authorize),
            captures: [WireBodies.movement(try book.key(.capture), "succeeded", value: 1000)],
            refunds: [
                try WireBodies.movement(book.key(.refund), "pending", value: 10),
                try WireBodies.movement(book.key(.refund, operation: "second"), "declined", reason: "closed"),
            ])
        let observation = try await answer(200, "application/json", body)
        #expect(
            observation.captures == [
                Observation.Movement(key: try book.key(.capture), amount: try book.money(1000), state: .succeeded)
            ])
        #expect(observation.refunds.map(\.state) == [.pending, .declined])
        #expect(observation.refunds.last?.reason == "closed")
    }

    @Test
    func `not found needs the document of the provider`() async throws {
        let problem = WireBodies.problem("/problems/not-found", status: 404)
        #expect(try await answer(404, "application/problem+json", problem).status == .notFound)
        #expect(try await answer(404, "application/json", problem).status == .notFound)
        let others: [(String?, String)] = [
            ("text/html", WireBodies.html), ("text/plain", "404 page not found"), (nil, ""), ("text/html", problem),
            ("application/json", #"{"message":"no Route matched with those values"}"#),
            ("application/problem+json", WireBodies.problem("about:blank", status: 404)),
            ("application/problem+json", WireBodies.problem("/problems/not-found", status: 200)),
            ("application/json", "{}"), ("application/json", ""),
            ("application/json", WireBodies.transaction("authorized", key: try book.key(.authorize))),
        ]
        for (type, body) in others {
            let observation = try await answer(404, type, body)
            #expect(observation.status == .unavailable, "\(type ?? "none") \(body)")
            #expect(observation.reason == "http_404")
        }
    }

    @Test
    func `everything else is unavailable, with its reason`() async throws {
        let key = try book.key(.authorize)
        let cases: [(Int, String?, String, String)] = [
            (200, "text/html", WireBodies.html, "wrong_content_type"),
            (200, "application/json", "{\"key\":", "malformed_body"), (200, nil, "", "empty_body"),
            (200, "application/json", WireBodies.transaction("captured", key: try book.key(.void)), "answer_mismatch"),
            (201, "application/json", WireBodies.transaction("captured", key: key), "http_201"),
            (302, nil, "", "redirect_refused"), (500, "application/json", "{}", "http_500"),
            (409, "application/json", WireBodies.transaction("captured", key: key), "http_409"),
            (
                429, "application/problem+json", WireBodies.problem("/problems/rate-limited", status: 429),
                "rate_limited"
            ),
            (
                401, "application/problem+json", WireBodies.problem("/problems/unauthorized", status: 401),
                "unauthorized"
            ),
            (503, "text/html", WireBodies.html, "http_503"),
        ]
        for (status, type, body, reason) in cases {
            let observation = try await answer(status, type, body)
            #expect(observation.status == .unavailable, "\(status) \(body)")
            #expect(observation.reason == reason)
            #expect(observation.source == .inquiry)
        }
    }

    @Test
    func `no failure of the transport is evidence of absence`() async throws {
        for code in TransportFailure.Code.allCases {
            for phase in [Phase.waiting, .connected, .sent, .receiving] {
                let observation = try await inquire(ScriptedSender.fail(code, phase))
                #expect(observation.status == .unavailable)
                #expect(observation.reason?.isEmpty == false)
            }
        }
    }

    @Test
    func `contradictions are carried`() async throws {
        let key = try book.key(.authorize)
        let sale = try await answer(
            200, "application/json", WireBodies.transaction("captured", key: key, kind: "sale"))
        #expect(sale.status == .captured && sale.contradiction == "another_kind")
        let movement = try WireBodies.movement(book.key(.capture), "succeeded", currency: "QQQ")
        let unreadable = try await answer(
            200, "application/json", WireBodies.transaction("captured", key: key, captures: [movement]))
        #expect(unreadable.contradiction == "amount_unreadable")
    }
}
