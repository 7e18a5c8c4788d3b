internal import HTTPEdge

/// What operators may ask, by route. It is one for programs, which bring a token with each request, and for the
/// console, whose pages are made of the same answers.
struct OperatorDesk: Sendable {
    let reads: OperatorReads
    let comparisons: OperatorComparisons?
    let repairs: OperatorRepairs?
    let webhooks: OperatorWebhooks?
    let site: OperatorSite?

    /// Whether this process serves the route.
    func has(_ route: AdminRoute) -> Bool {
        if route.siteOperation != nil { return site != nil }
        if route.webhookOperation != nil { return webhooks != nil }
        if route.comparison("GET") != nil { return comparisons != nil }
        if route.repair("GET") != nil { return repairs != nil }
        return true
    }

    /// Refuses what the role of a person does not permit, whatever it is about.
    static func permit(_ method: String, to person: Operator) throws(Problem) {
        guard permits(method, to: person) else { throw .forbidden(needs: .operator) }
    }

    /// Whether somebody may do it. Viewers read.
    static func permits(_ method: String, to person: Operator) -> Bool { method == "GET" || person.role >= .operator }

    /// The answer to a request that is permitted.
    func answer(_ route: AdminRoute, _ method: String, _ request: OperatorRequest) async -> OperatorAnswer {
        switch route {
        case .payments: return await reads.list(request.query)
        case .payment: return await reads.payment(request.id)
        case .events: return await reads.events(request.id, request.query)
        case .explanation: return await reads.explanation(request.id)
        default:
            if let site, let operation = route.siteOperation { return await site.answer(operation, request) }
            if let webhooks, let operation = route.webhookOperation { return await webhooks.answer(operation, request) }
            if let repairs, let operation = route.repair(method) { return await repairs.answer(operation, request) }
            if let comparisons, let operation = route.comparison(method) {
                return await comparisons.answer(operation, request)
            }
            return Answer(Problem.notFound).told
        }
    }
}
