internal import HTTPEdge
internal import Hummingbird
internal import Metrics
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// `POST /v1/providers/{name}/notifications`: what providers send. It has no token; the signature over the body is
/// the proof, so the body has to be read first. Its size, its time and the number of those that are read are bounded.
struct NotificationRoute: Sendable {
    /// The largest notification.
    static let maximumBodyBytes = 262_144
    /// So many are read or acted on at the same time, whichever providers send them.
    static let places = 64

    let notifications: ProviderNotifications?
    let bodyDeadline: Duration
    private let gate: RequestGate<ProviderName>

    init(notifications: ProviderNotifications?, bodyDeadline: Duration) {
        self.notifications = notifications
        self.bodyDeadline = bodyDeadline
        gate = RequestGate(limit: Self.places, senders: notifications?.providers.count ?? 0)
    }

    func answer(_ request: Request, provider text: String) async throws(Problem) -> Answer {
        guard let notifications, let provider = Self.provider(text), notifications.accepts(provider) else {
            throw .notFound
        }
        guard gate.enter(provider) == nil else {
            throw .notAccepting("Too many notifications are being read.", retryAfter: 1)
        }
        defer { gate.leave(provider) }
        let body = try await BodyReading(maximumBytes: Self.maximumBodyBytes, deadline: bodyDeadline).read(request)
        let headers = HeaderValues(request.headers)
        let result: String
        do {
            let outcome = try await notifications.receive(
                SignedNotification(body: body) { headers.all($0) }, from: provider)
            result = outcome.rawValue
        } catch {
            Self.count(provider, Self.word(error))
            throw Self.problem(error)
        }
        Self.count(provider, result)
        return Answer(202, .members(["outcome": .string(result)]))
    }

    private static func provider(_ text: String) -> ProviderName? {
        do { return try ProviderName(text) } catch { return nil }
    }

    private static func count(_ provider: ProviderName, _ outcome: String) {
        Counter(
            label: "reconciled_notifications", dimensions: [("provider", provider.name), ("outcome", outcome)]
        ).increment()
    }

    private static func word(_ failure: NotificationFailure) -> String {
        switch failure {
        case .notAccepted: "not_accepted"
        case .refused(let refusal): refusal.rawValue
        case .operation: "not_now"
        }
    }

    private static func problem(_ failure: NotificationFailure) -> Problem {
        switch failure {
        case .notAccepted: return .notFound
        case .refused(.malformed):
            return Problem(
                .invalidRequest, 400, "Invalid request", detail: "The signature is right; the body is no notification.")
        case .refused(let refusal):
            var problem = Problem.unauthorized
            problem.detail =
                switch refusal {
                case .outOfTime: "It was signed more than five minutes away from now."
                case .unsigned: "A signature of the provider's is needed over the body."
                case .wrongSignature, .malformed: "No secret that is configured here makes this signature."
                }
            problem.closesConnection = true
            return problem
        case .operation(let failure): return Problem(reading: failure)
        }
    }
}
