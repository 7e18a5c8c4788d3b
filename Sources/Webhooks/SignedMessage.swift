internal import HTTPTransport
internal import PaymentCore

/// A body on its way to a caller's endpoint, with the fields of the Standard Webhooks specification.
struct SignedMessage: Sendable {
    /// The same for the same body. A receiver that saw it before saw this state of the payment before.
    let id: String
    let body: [UInt8]
    let fields: HTTPFields

    /// - Parameter timestamp: when it is sent, in seconds since 1970. It is signed, so that nothing old is replayed.
    init(body: [UInt8], timestamp: Int64, secrets: [WebhookSecret]) {
        self.body = body
        id = "msg_\(Digest(ofFile: body).hex.prefix(40))"
        let signatures = secrets.map { [id] in $0.signature(id: id, timestamp: timestamp, body: body) }
        fields = HTTPFields([
            ("Content-Type", "application/json"), ("User-Agent", "reconciled"), ("webhook-id", id),
            ("webhook-timestamp", String(timestamp)), ("webhook-signature", signatures.joined(separator: " ")),
        ])
    }
}
