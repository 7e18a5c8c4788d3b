import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The table of answers of the adapter for Stripe, and whose answers are believed.
struct StripeAnswerTests {
    private let book = OrderBook(format: .hex64)

    private func provider(_ steps: [ScriptedSender.Step]) throws -> (StripeProvider, ScriptedSender) {
        let sender = ScriptedSender(steps)
        let provider = StripeProvider(
            name: try ProviderName("card"), contract: .stripe, store: nil,
            client: ProviderClient(
                address: try ProviderAddress("https://api.stripe.example"), sender: sender, limits: TimeLimits()),
            clock: StandingClock())
        return (provider, sender)
    }

    private func json(_ status: Int, _ body: String, key: String? = nil, isReplay: Bool = false) -> ScriptedSender.Step
    {
        var fields = HTTPFields.of("application/json")
        if let key { fields["Idempotency-Key"] = key }
        if isReplay { fields["Idempotent-Replayed"] = "true" }
        return ScriptedSender.answer(status, fields: fields, body: body)
    }

    private func registered(group: String? = nil, id: String = "pi_1") throws -> ScriptedSender.Step {
        let key = try book.key(.authorize).text
        return json(
            200, StripeBodies.intent("requires_confirmation", id: id, group: group ?? key), key: key + "-register")
    }

    /// The outcome of a confirm that is answered so.
    private func outcome(
        _ status: Int, _ body: String, namesKey: Bool = true, rest: [ScriptedSender.Step] = []
    ) async throws -> AttemptReport {
        let key = try book.key(.authorize).text
        let (provider, _) = try provider(
            [try registered(), json(status, body, key: namesKey ? key : nil)] + rest)
        return try await provider.send(book.send(.authorize))
    }

    private static let invalid = "invalid_request_error"

    @Test(arguments: [
        (401, StripeBodies.error(invalid), OutcomeClass.refused, "http_401"),
        (403, StripeBodies.error(invalid), .refused, "http_403"),
        (429, StripeBodies.error(invalid, code: "rate_limit"), .throttled, "rate_limit"),
        (429, StripeBodies.error(invalid, code: "lock_timeout"), .throttled, "lock_timeout"),
        (400, StripeBodies.error("idempotency_error"), .indeterminate, "key_conflict"),
        (409, StripeBodies.error("idempotency_error", code: "idempotency_key_in_use"), .indeterminate, "key_in_use"),
        (400, StripeBodies.error(invalid, code: "resource_missing"), .refused, "resource_missing"),
        (404, StripeBodies.error(invalid, code: "resource_missing"), .refused, "resource_missing"),
        (400, StripeBodies.error(invalid, code: "amount_too_large"), .refused, "amount_too_large"),
        (402, StripeBodies.error("card_error", code: "card_declined", decline: "lost_card"), .declined, "lost_card"),
        (500, StripeBodies.error("api_error"), .indeterminate, "http_500"),
        (502, "<html></html>", .indeterminate, "http_502"),
        (503, StripeBodies.error("api_error"), .indeterminate, "http_503"),
        (302, "{}", .indeterminate, "http_302"), (200, "{}", .indeterminate, "malformed_body"),
        (200, StripeBodies.intent("requires_action"), .accepted, "pending"),
        (200, StripeBodies.intent("requires_confirmation"), .indeterminate, "effect_missing"),
        (200, StripeBodies.intent("requires_capture", id: "pi_2"), .indeterminate, "answer_mismatch"),
    ])
    func `each answer to a confirm has the outcome of the table`(
        status: Int, body: String, expected: OutcomeClass, code: String
    ) async throws {
        let report = try await outcome(status, body)
        #expect(report.outcome == expected && report.code == code, "\(status) \(body): \(report)")
        #expect(report.credentialsRefused == (status == 401 || status == 403))
    }

    @Test func `rows of the table have a name of their own and say where Stripe says so`() {
        let rows = StripeAnswers.rows
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(rows.allSatisfy { $0.source.hasPrefix("docs.stripe.com/") })
    }

    @Test(arguments: [400, 402, 404])
    func `a refusal that does not name our key is a doubt`(status: Int) async throws {
        let body =
            status == 402
            ? StripeBodies.error("card_error", code: "card_declined") : StripeBodies.error(Self.invalid)
        #expect(try await !outcome(status, body, namesKey: false).namesKey)
        #expect(try await outcome(status, body, namesKey: true).namesKey)
    }

    @Test func `a conflict of keys that does not name our key is none`() async throws {
        let body = StripeBodies.error("idempotency_error")
        #expect(try await !outcome(400, body, namesKey: false).keyConflicts)
        #expect(try await outcome(400, body, namesKey: true).keyConflicts)
    }

    @Test func `a registration of somebody else is never confirmed`() async throws {
        let (provider, sender) = try provider([try registered(group: StripeBodies.key)])
        let report = try await provider.send(book.send(.authorize))
        #expect(report.outcome == .unsent && report.code == "answer_mismatch")
        #expect(sender.requests.count == 1)
    }

    @Test func `a decline of another intent is a doubt`() async throws {
        let other = StripeBodies.intent("requires_payment_method", id: "pi_2")
        let body = StripeBodies.error("card_error", code: "card_declined", intent: other)
        let report = try await outcome(402, body)
        #expect(report.outcome == .indeterminate && report.code == "answer_mismatch")
    }

    @Test(arguments: [
        StripeBodies.list([StripeBodies.charge()]), StripeBodies.list([StripeBodies.charge(intent: "\"pi_1\"")]),
        StripeBodies.list([], hasMore: true), "{\"object\":\"list\",\"data\":[]}", "{}", "[]", "",
        "{\"object\":\"search_result\",\"data\":[],\"has_more\":false}",
    ])
    func `an answer to another question is no status`(body: String) async throws {
        // The charges are of another group than the one that was asked for, or their intents are not shown.
        let (provider, _) = try provider([json(200, body)])
        let known = try await provider.inquire(book.inquiry())
        #expect(known.status == .unavailable && known.reason?.isEmpty == false)
    }

    @Test(arguments: [401, 403, 404, 429, 500, 503])
    func `only an empty list says that nothing is there`(status: Int) async throws {
        let (provider, _) = try provider([
            json(status, StripeBodies.error(Self.invalid, code: "resource_missing")),
            json(200, StripeBodies.list([])),
        ])
        #expect(try await provider.inquire(book.inquiry()).status == .unavailable)
        #expect(try await provider.inquire(book.inquiry()).status == .notFound)
    }

    @Test(arguments: [true, false])
    func `disputes that do not all fit on a page are no status`(hasMore: Bool) async throws {
        let key = try book.key(.authorize).text
        let intent = StripeBodies.intent("succeeded", received: 1200, group: key)
        let charge = StripeBodies.charge(captured: 1200, group: key, intent: intent, isDisputed: true)
        let (provider, _) = try provider([
            json(200, StripeBodies.list([charge])),
            json(200, StripeBodies.list([StripeBodies.dispute("lost")], hasMore: hasMore)),
        ])
        let known = try await provider.inquire(book.inquiry())
        #expect(known.status == (hasMore ? .unavailable : .captured))
        #expect(known.reason == (hasMore ? "too_many_disputes" : nil))
    }

    @Test func `a charge leaves with one key for its registration and another for its confirm`() async throws {
        let key = try book.key(.authorize).text
        let charge = StripeBodies.charge(group: key)
        let (provider, sender) = try provider([
            try registered(), json(200, StripeBodies.intent("requires_capture", group: key, charge: charge), key: key),
        ])
        let report = try await provider.send(book.send(.authorize))
        #expect(report.outcome == .accepted && report.observation?.status == .authorized)
        #expect(report.observation?.authorizedUntil == Timestamp(milliseconds: 1_772_970_000_000))
        #expect(sender.requests.map { $0.fields["Idempotency-Key"] } == [key + "-register", key])
        #expect(sender.requests.allSatisfy { $0.fields["Stripe-Version"] == "2024-06-20" })
        #expect(sender.requests.allSatisfy { $0.fields["Content-Type"] == "application/x-www-form-urlencoded" })
        let form = String(decoding: try #require(sender.requests.first).body, as: UTF8.self)
        #expect(form.contains("amount=1200&currency=jpy&capture_method=manual"))
        #expect(form.contains("transfer_group=\(key)"))
        #expect(form.contains("metadata%5Breconciled_key%5D=\(key)"))
    }

    /// Only what is in the request itself, and the same in every copy of it, keeps all of them from being registered.
    @Test(arguments: [
        ("resource_missing", "payment_method", true, OutcomeClass.accepted),
        ("resource_missing", "payment_method", false, .unsent), ("resource_missing", "customer", true, .refused),
        ("amount_too_small", "amount", true, .refused), ("amount_too_large", "amount", true, .accepted),
        ("account_invalid", "payment_method", true, .refused),
    ])
    func `a cancel is done where the registration is refused for ever, and for nothing else`(
        code: String, parameter: String, namesKey: Bool, outcome: OutcomeClass
    ) async throws {
        let key = try book.key(.authorize).text + "-register"
        let refusal = StripeBodies.error(Self.invalid, code: code, parameter: parameter)
        let (provider, sender) = try provider([
            json(200, StripeBodies.list([])), json(400, refusal, key: namesKey ? key : nil),
        ])
        let report = try await provider.send(book.send(.void))
        #expect(report.outcome == outcome, "\(report.code)")
        #expect(report.observation?.status == (outcome == .accepted ? .tombstoned : nil))
        #expect(sender.requests.count == 2)
    }

    @Test func `what went before an effect does not count as its bytes`() async throws {
        let (provider, _) = try provider([json(500, StripeBodies.error("api_error"))])
        let report = try await provider.send(book.send(.authorize))
        #expect(report.outcome == .unsent && report.bytesWritten == 0 && report.code == "http_500")
    }
}
