import PaymentCore
import Reconciler
import Testing

@Suite struct WebhookRulesTests {
    private static func claimed(after attempts: Int, key: String = "a") throws -> ClaimedWebhook {
        let caller = try CallerID("shop")
        let webhook = Webhook(
            payment: PaymentID(caller: caller, key: try IdempotencyKey(key)), caller: caller,
            reported: Digest(of: ["state"]), raisedAt: RunnerStage.start, dueAt: RunnerStage.start, attempts: attempts)
        return ClaimedWebhook(webhook: webhook, token: LeaseToken(7))
    }

    private static func outcome(
        _ answer: WebhookAnswer, after attempts: Int = 0, key: String = "a"
    ) throws -> WebhookSettlement.Outcome {
        let settlement = WebhookRules.settlement(of: try claimed(after: attempts, key: key), after: answer)
        #expect(settlement.token == LeaseToken(7) && settlement.raised == 1)
        return settlement.outcome
    }

    /// The pause before the next attempt; `nil` if there is none.
    private static func pause(_ outcome: WebhookSettlement.Outcome) -> Span? {
        guard case .again(let pause, _) = outcome else { return nil }
        return pause
    }

    @Test(arguments: [200, 201, 204, 299])
    func `every status of success is accepted`(_ status: Int) throws {
        #expect(try Self.outcome(.status(status, retryAfter: .hours(1))) == .accepted)
    }

    @Test(arguments: [301, 302, 400, 401, 404, 408, 429, 500, 503])
    func `every other status is tried again, redirections included`(_ status: Int) throws {
        guard case .again(let pause, let failure) = try Self.outcome(.status(status)) else {
            Issue.record("it is not tried again")
            return
        }
        #expect(failure == "http_\(status)")
        #expect(pause >= .seconds(5) && pause <= .milliseconds(5_500))
    }

    @Test func `what had no answer is tried again, with its code`() throws {
        for answer in [WebhookAnswer.none(code: "totalTimeout"), .unsent(code: "totalTimeout")] {
            guard case .again(_, "totalTimeout") = try Self.outcome(answer) else {
                Issue.record("\(answer) is not tried again")
                return
            }
        }
    }

    @Test func `an endpoint that is gone is left alone at once`() throws {
        #expect(try Self.outcome(.status(410)) == .givenUp(failure: "http_410"))
    }

    @Test func `the pauses grow, and it is given up after about three days`() throws {
        var total = Span.zero
        var last = Span.zero
        for attempts in WebhookRules.pauses.indices {
            let pause = try #require(Self.pause(try Self.outcome(.status(500), after: attempts)))
            #expect(WebhookRules.pauses[attempts] >= last)
            #expect(pause >= WebhookRules.pauses[attempts])
            (last, total) = (WebhookRules.pauses[attempts], total + pause)
        }
        #expect(try Self.outcome(.status(500), after: WebhookRules.pauses.count) == .givenUp(failure: "http_500"))
        // 5 s, 30 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 20 h again.
        #expect(WebhookRules.pauses.reduce(.zero, +) == .hours(71) + .minutes(35) + .seconds(35))
        #expect(total <= .hours(80))
    }

    @Test func `an endpoint that asks for time gets it, and at most a day`() throws {
        func pause(_ asked: Span) throws -> Span? { Self.pause(try Self.outcome(.status(503, retryAfter: asked))) }
        #expect(try #require(try pause(.minutes(10))) >= .minutes(10))
        #expect(try #require(try pause(.minutes(10))) <= .minutes(11))
        #expect(try #require(try pause(.seconds(1))) <= .milliseconds(5_500))
        let longest = try #require(try pause(.days(400)))
        #expect(longest >= .hours(24) && longest <= .hours(27))
    }

    @Test func `those that failed together do not come back together`() throws {
        let pauses = try (0..<20).map { try Self.pause(Self.outcome(.status(500), after: 3, key: "k\($0)")) }
        #expect(Set(pauses).count > 10)
    }
}
