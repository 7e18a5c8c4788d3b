internal import PaymentCore

/// The routes of the public listener.
enum Route: String, Sendable, Hashable, CaseIterable {
    case payments = "/v1/payments"
    case payment = "/v1/payments/{id}"
    case capture = "/v1/payments/{id}/capture"
    case cancel = "/v1/payments/{id}/cancel"
    case refunds = "/v1/payments/{id}/refunds"
    case reconcile = "/v1/payments/{id}/reconcile"
    case events = "/v1/payments/{id}/events"
    case description = "/openapi.yaml"

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .payments: ["GET", "POST"]
        case .payment, .events, .description: ["GET"]
        case .capture, .cancel, .refunds, .reconcile: ["POST"]
        }
    }

    /// Finds the route of a path and the text at the place of the identifier.
    static func find(_ path: Substring) -> (route: Route, id: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.first == "" else { return nil }
        let rest = Array(parts.dropFirst())
        for route in allCases {
            let pattern = route.rawValue.split(separator: "/").map(String.init)
            guard pattern.count == rest.count else { continue }
            var id = ""
            let matches = zip(pattern, rest).allSatisfy { expected, found in
                if expected == "{id}" {
                    id = found
                    return !found.isEmpty
                }
                return expected == found
            }
            if matches { return (route, id) }
        }
        return nil
    }
}
