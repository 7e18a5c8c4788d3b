internal import HTTPEdge

/// The routes of the public listener.
enum Route: String, Sendable, Hashable, RoutePattern {
    case payments = "/v1/payments"
    case payment = "/v1/payments/{id}"
    case capture = "/v1/payments/{id}/capture"
    case cancel = "/v1/payments/{id}/cancel"
    case refunds = "/v1/payments/{id}/refunds"
    case reconcile = "/v1/payments/{id}/reconcile"
    case events = "/v1/payments/{id}/events"
    case webhook = "/v1/payments/{id}/webhook"
    case notifications = "/v1/providers/{id}/notifications"
    case site = "/v1/site"
    case description = "/openapi.yaml"

    /// The scopes of which a token needs one for a request; `nil` where no token is needed.
    func scopes(_ method: String) -> Set<CallerScope>? {
        switch self {
        case .payments where method == "POST": [.create]
        case .payments, .payment, .events, .webhook: [.read]
        case .capture: [.capture]
        // Whoever began something may end it.
        case .cancel: [.create, .capture]
        case .refunds: [.refund]
        case .reconcile: [.create, .capture, .refund]
        case .notifications, .site, .description: nil
        }
    }

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .payments: ["GET", "POST"]
        case .payment, .events, .webhook, .site, .description: ["GET"]
        case .capture, .cancel, .refunds, .reconcile, .notifications: ["POST"]
        }
    }
}
