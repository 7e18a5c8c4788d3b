internal import HTTPEdge

/// The routes of the operators' listener.
enum AdminRoute: String, Sendable, Hashable, RoutePattern {
    case livez = "/livez"
    case readyz = "/readyz"
    case startupz = "/startupz"
    case activez = "/activez"
    case metrics = "/metrics"
    case description = "/openapi.yaml"
    case paymentsDescription = "/payments.yaml"
    case payments = "/v1/payments"
    case payment = "/v1/payments/{id}"
    case events = "/v1/payments/{id}/events"
    case explanation = "/v1/payments/{id}/explanation"
    case runs = "/v1/reconciliations"
    case run = "/v1/reconciliations/{id}"
    case findings = "/v1/reconciliations/{id}/findings"
    case abandonment = "/v1/reconciliations/{id}/abandon"
    case discrepancies = "/v1/discrepancies"
    case discrepancy = "/v1/discrepancies/{id}"
    case assignment = "/v1/discrepancies/{id}/assignment"
    case comments = "/v1/discrepancies/{id}/comments"
    case close = "/v1/discrepancies/{id}/close"
    case repairs = "/v1/repairs"
    case repair = "/v1/repairs/{id}"
    case approval = "/v1/repairs/{id}/approve"
    case rejection = "/v1/repairs/{id}/reject"
    case webhooks = "/v1/webhooks"
    // Before the one with an identifier, which its path would match as well.
    case redeliveries = "/v1/webhooks/redeliver"
    case webhook = "/v1/webhooks/{id}"
    case redelivery = "/v1/webhooks/{id}/redeliver"
    case site = "/v1/site"
    case obstacles = "/v1/site/obstacles"
    case promotion = "/v1/site/promote"
    case drain = "/v1/site/drain"
    case demotion = "/v1/site/demote"
    case mode = "/v1/site/mode"

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .runs, .repairs: ["GET", "POST"]
        case .abandonment, .assignment, .comments, .close, .approval, .rejection, .redeliveries, .redelivery,
            .promotion, .drain, .demotion, .mode:
            ["POST"]
        default: ["GET"]
        }
    }

    /// Whether it asks how the process is, and nothing else.
    var isProbe: Bool {
        switch self {
        case .livez, .readyz, .startupz, .activez: true
        default: false
        }
    }

    /// Whether an operator's token is needed.
    var isForOperators: Bool { rawValue.hasPrefix("/v1/") }

    /// The operation of a method on comparisons; `nil` for routes of something else.
    func comparison(_ method: String) -> OperatorComparisons.Operation? {
        switch self {
        case .runs: method == "POST" ? .planRun : .listRuns
        case .run: .readRun
        case .findings: .listFindings
        case .abandonment: .abandonRun
        case .discrepancies: .listDiscrepancies
        case .discrepancy: .readDiscrepancy
        case .assignment: .assign
        case .comments: .comment
        case .close: .close
        default: nil
        }
    }

    /// The operation of a method on repairs; `nil` for routes of something else.
    func repair(_ method: String) -> OperatorRepairs.Operation? {
        switch self {
        case .repairs: method == "POST" ? .propose : .list
        case .repair: .read
        case .approval: .approve
        case .rejection: .reject
        default: nil
        }
    }

    /// The operation on webhooks; `nil` for routes of something else.
    var webhookOperation: OperatorWebhooks.Operation? {
        switch self {
        case .webhooks: .list
        case .redeliveries: .redeliverGivenUp
        case .webhook: .read
        case .redelivery: .redeliver
        default: nil
        }
    }

    /// The operation on the site; `nil` for routes of something else.
    var siteOperation: OperatorSite.Operation? {
        switch self {
        case .site: .read
        case .obstacles: .readObstacles
        case .promotion: .promote
        case .drain: .drain
        case .demotion: .demote
        case .mode: .setMode
        default: nil
        }
    }
}
