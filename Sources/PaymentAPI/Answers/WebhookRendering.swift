internal import PaymentCore
package import Reconciler
package import StrictJSON

/// Webhooks as the published schemas have them: one place for callers, who see those of their payments, and for
/// operators, who see all.
package enum WebhookRendering {
    /// What a caller sees.
    static func forCaller(_ webhook: Webhook) -> JSONValue { document(webhook, []) }

    /// What operators see.
    package static func forOperators(_ webhook: Webhook) -> JSONValue {
        document(webhook, [JSONMember("caller", .string(webhook.caller.name))])
    }

    private static func document(_ webhook: Webhook, _ more: [JSONMember]) -> JSONValue {
        .object(
            [JSONMember("payment_id", .string(webhook.payment.text))] + more + [
                JSONMember("state", .string(webhook.state.rawValue)),
                JSONMember("raised", .integer(webhook.raised)),
                JSONMember("raised_at", .string(webhook.raisedAt.rfc3339)),
                JSONMember("delivered", .integer(webhook.delivered)),
                JSONMember("delivered_at", .optional(webhook.deliveredAt?.rfc3339)),
                JSONMember("due_at", .optional(webhook.dueAt?.rfc3339)),
                JSONMember("attempts", .integer(webhook.attempts)),
                JSONMember("failure", .optional(webhook.failure)),
            ])
    }
}
