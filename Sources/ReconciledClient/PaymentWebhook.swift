public import Foundation

/// What the daemon says of a payment without being asked. ``WebhookVerifier`` makes it of a verified request.
public struct PaymentWebhook: Sendable, Hashable {
    /// Names what is said (`webhook-id`). What is delivered again has the same one: take each once.
    public let id: String
    /// What happened, such as `payment.updated`. A later daemon may have more types.
    public let type: String
    /// When this delivery was sent, in whole seconds (`webhook-timestamp`). A later delivery of the same is later.
    public let sentAt: Date
    /// The payment as the daemon showed it in this webhook. By now it may have changed again.
    public let payment: Payment

    /// Throws ``WebhookError/unreadable(_:)``. The body was verified before.
    init(id: String, sentAt: Date, body: Data) throws(WebhookError) {
        let message: Message
        do {
            message = try JSONDecoder().decode(Message.self, from: body)
        } catch {
            throw .unreadable(PaymentWebhook.text(of: error))
        }
        self.id = id
        self.sentAt = sentAt
        type = message.type
        payment = message.data
    }

    /// What of the body is read.
    private struct Message: Decodable {
        let type: String
        let data: Payment
    }

    /// Names the member at fault, and nothing of what the body says.
    private static func text(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
        case DecodingError.valueNotFound(_, let context): "\(path(context.codingPath)) is null"
        case DecodingError.typeMismatch(_, let context): "\(path(context.codingPath)) is of another type"
        default: "the body is not JSON, or a number in it is out of range"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        let names = keys.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return names.isEmpty ? "the body" : names.joined(separator: ".")
    }
}
