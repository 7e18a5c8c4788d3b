public import HTTPTransport
public import PaymentCore
public import Reconciler

/// Sends webhooks over HTTP.
public struct WebhookSender: WebhookEndpoint {
    /// Where the webhooks of one caller go.
    public struct Target: Sendable {
        /// The URL.
        let url: String
        /// What signs them.
        let secrets: WebhookSecrets
        /// The wire. Its configuration says to which addresses it may connect.
        let sender: any HTTPSender

        /// A target.
        public init(url: String, secrets: WebhookSecrets, sender: any HTTPSender) {
            self.url = url
            self.secrets = secrets
            self.sender = sender
        }
    }

    /// How long each part of a delivery may take. A lease of the courier is longer.
    public static let limits = TimeLimits(
        connect: .seconds(3), tls: .seconds(3), firstByte: .seconds(10), total: .seconds(15))
    /// More of an answer is not read. Nothing in it is needed.
    static let largestAnswer = 64 << 10

    private let targets: [CallerID: Target]
    private let body: @Sendable (Payment) -> [UInt8]
    private let clock: any WallClock

    /// A sender.
    /// - Parameters:
    ///   - body: The document that reports a payment, the same bytes for the same payment.
    ///   - clock: By what deliveries are dated.
    public init(
        targets: [CallerID: Target], body: @escaping @Sendable (Payment) -> [UInt8], clock: any WallClock
    ) {
        self.targets = targets
        self.body = body
        self.clock = clock
    }

    /// Sends the payment's document to its caller's endpoint, and once more if a kept connection was dead.
    public func deliver(_ payment: Payment) async -> WebhookAnswer {
        guard let target = targets[payment.caller] else { return .unsent(code: "no_endpoint") }
        let message = SignedMessage(
            body: body(payment), timestamp: clock.now().milliseconds / 1_000, secrets: target.secrets.current)
        let request = HTTPRequest(
            method: .post, url: target.url, fields: message.fields, body: message.body, limits: WebhookSender.limits,
            maximumResponseBytes: WebhookSender.largestAnswer, label: "webhook")
        let first = await answer(to: request, over: target.sender)
        // Receivers end connections that rest, some within seconds. To deliver twice does no harm.
        guard first == .none(code: TransportFailure.Code.deadConnectionReused.rawValue) else { return first }
        return await answer(to: request, over: target.sender)
    }

    private func answer(to request: HTTPRequest, over sender: any HTTPSender) async -> WebhookAnswer {
        do {
            let response = try await sender.send(request)
            let now = clock.now()
            let asked = response.fields["Retry-After"].flatMap { RetryAfter($0) }
            return .status(response.status, retryAfter: asked.map { $0.moment(from: now) - now })
        } catch {
            return .none(code: error.code.rawValue)
        }
    }
}
