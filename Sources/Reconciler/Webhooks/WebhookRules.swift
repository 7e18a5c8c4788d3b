public import PaymentCore

/// What became of a request to a caller's endpoint.
public enum WebhookAnswer: Sendable, Hashable {
    /// It answered with a status.
    ///
    /// - Parameter retryAfter: how long it asks to be left alone, where it said so.
    case status(Int, retryAfter: Span? = nil)
    /// No answer came; the code says why.
    case none(code: String)
    /// Nothing was sent, because the payment or the endpoint cannot be had here; the code says why.
    case unsent(code: String)
}

/// When a webhook is tried again, and when it is given up.
///
/// The schedule is that of the Standard Webhooks specification, shortened at its end: about three days.
public enum WebhookRules {
    /// How long after each attempt in vain the next one follows. After the last of them it is given up.
    public static let pauses: [Span] = [
        .seconds(5), .seconds(30), .minutes(5), .minutes(30), .hours(2), .hours(5), .hours(10), .hours(14), .hours(20),
        .hours(20),
    ]
    /// How long a report waits for a payment that is under way again. Its next state at rest is due at once.
    public static let postponement = Span.hours(1)

    /// What the row becomes after an attempt.
    ///
    /// An attempt counts as accepted with any status of 200 to 299. A redirection is not followed, and so is a failure.
    public static func settlement(
        of claimed: ClaimedWebhook, after answer: WebhookAnswer
    ) -> WebhookSettlement {
        switch answer {
        case .status(200...299, _): return WebhookSettlement(of: claimed, .accepted)
        case .status(410, _):
            // The specification's word for an endpoint that wants no more.
            return WebhookSettlement(of: claimed, .givenUp(failure: "http_410"))
        case .status(let status, let retryAfter):
            return again(claimed, failure: "http_\(status)", notBefore: retryAfter)
        case .none(let code), .unsent(let code): return again(claimed, failure: code, notBefore: nil)
        }
    }

    private static func again(
        _ claimed: ClaimedWebhook, failure: String, notBefore: Span?
    ) -> WebhookSettlement {
        let attempts = claimed.webhook.attempts
        guard attempts < pauses.count else { return WebhookSettlement(of: claimed, .givenUp(failure: failure)) }
        var pause = pauses[attempts]
        if let notBefore { pause = max(pause, min(notBefore, RetryAfter.longest)) }
        // Up to a tenth more, by the payment: those that failed together do not come back together.
        let spread = Int64(Digest(of: [claimed.webhook.payment.text, String(attempts)]).bytes.first ?? 0)
        let extra = Span.milliseconds(pause.milliseconds / 10 * spread / 255)
        return WebhookSettlement(of: claimed, .again(after: pause + extra, failure: failure))
    }
}
