internal import HTTPEdge
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import Reconciler

/// Answers every request of the admin listener.
public struct AdminResponder: HTTPResponder {
    /// What comes with a request from its connection.
    public struct Context: InitializableFromSource, Sendable {
        let connection: ConnectionSource

        /// A context of a connection.
        public init(source: ApplicationRequestContextSource) { connection = ConnectionSource(source: source) }
    }

    let probes: Probes
    let metrics: MetricsRegistry
    let operators: OperatorDirectory
    let desk: OperatorDesk
    let console: Console?
    let descriptions: OperationsDescriptions
    let limits: AdminLimits
    let certificates: Replaceable<ListenerCertificates>?
    let strangers: StrangersLog
    let logger: Logger

    /// Answers one request.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let target = PathAndQuery(request.head.path ?? "")
        guard await isAdmitted(target.path, context.connection) else {
            var answer = Answer(.certificateMissing)
            answer.closesConnection = true
            return answer.response()
        }
        if let console, Console.serves(target.path) { return await console.respond(to: request, target) }
        // A body that is not read to its end ends the connection.
        var isUnread = BodyReading.isAnnounced(request)
        var answer: Answer
        do {
            let routed = try routed(target.path, request)
            let body = try await body(routed, request)
            isUnread = isUnread && body == nil
            answer = try await self.answer(routed, target.query, body ?? [])
        } catch let problem as Problem {
            answer = Answer(problem)
        }
        // Whoever has no token has one answer for each connection, except what everybody may ask.
        answer.closesConnection = answer.closesConnection || isUnread || answer.status == 401
        return answer.response()
    }

    /// Probes are for whoever reaches them: a kubelet has no certificate to show.
    private func isAdmitted(_ path: Substring, _ connection: ConnectionSource) async -> Bool {
        guard certificates?.current.clients == .whereAsked, AdminRoute.find(path)?.route.isProbe != true else {
            return true
        }
        return await connection.hasClientCertificate()
    }

    /// What a request asks for, and who does.
    private struct Routed {
        let route: AdminRoute
        let method: String
        let id: String
        let person: Operator?
        let approver: String?
        var operation: OperatorComparisons.Operation? { route.comparison(method) }
        var repair: OperatorRepairs.Operation? { route.repair(method) }
        var takesBody: Bool {
            operation?.takesBody ?? repair?.takesBody ?? route.webhookOperation?.takesBody
                ?? route.siteOperation?.takesBody ?? false
        }
    }

    /// Whoever has no token learns nothing of what is there for operators.
    private func routed(_ path: Substring, _ request: Request) throws(Problem) -> Routed {
        let found = AdminRoute.find(path)
        var person: Operator?
        if found?.route.isForOperators ?? (path == "/v1" || path.hasPrefix("/v1/")) {
            person = operators.person(authorization: HeaderValues(request.headers).all("authorization"))
            guard person != nil else {
                strangers.refused(.request)
                throw .unauthorized
            }
        }
        guard let found else { throw .notFound }
        let method = request.method.rawValue
        guard found.route.methods.contains(method) else { throw .methodNotAllowed(found.route.methods) }
        if let person { try OperatorDesk.permit(method, to: person) }
        let routed = Routed(
            route: found.route, method: method, id: found.id, person: person,
            approver: try approver(request, of: method))
        guard desk.has(found.route) else { throw .notFound }
        return routed
    }

    /// Whose second token it is. One that belongs to nobody is refused, so that nobody believes to have approved. Who
    /// may not ask for a change may not approve it either.
    private func approver(_ request: Request, of method: String) throws(Problem) -> String? {
        let values = HeaderValues(request.headers).all("approval")
        guard !values.isEmpty else { return nil }
        guard let person = operators.person(authorization: values) else {
            strangers.refused(.approval)
            throw .approverUnknown
        }
        guard OperatorDesk.permits(method, to: person) else { throw .approverMayNot }
        return person.name
    }

    /// The body, where the operation takes one; `nil` where it does not, and none is there.
    private func body(_ routed: Routed, _ request: Request) async throws(Problem) -> [UInt8]? {
        guard routed.takesBody else {
            guard routed.method != "POST" || !BodyReading.isAnnounced(request) else { throw .unexpectedBody }
            return nil
        }
        guard HeaderValues(request.headers).announceJSON else { throw .unsupportedMediaType }
        return try await BodyReading(maximumBytes: limits.maximumBodyBytes, deadline: limits.bodyDeadline)
            .read(request)
    }

    private func answer(_ routed: Routed, _ query: String?, _ body: [UInt8]) async throws -> Answer {
        switch routed.route {
        case .livez, .readyz, .startupz, .activez:
            let results = await probes.results(String(routed.route.rawValue.dropFirst()))
            let document = ProbeDocument(results, isVerbose: Probes.isVerbose(query))
            return Answer(
                document.httpStatus, contentType: Answer.jsonType, body: try AdminJSON.bytes(document))
        case .metrics:
            return Answer(
                200, contentType: OpenMetricsText.contentType, body: Array(metrics.openMetrics().utf8))
        case .description: return Answer(200, contentType: "application/yaml", body: descriptions.operations)
        case .paymentsDescription:
            return Answer(200, contentType: "application/yaml", body: descriptions.payments)
        case .payments, .payment, .events, .explanation, .runs, .run, .findings, .abandonment, .discrepancies,
            .discrepancy, .assignment, .comments, .close, .repairs, .repair, .approval, .rejection, .webhooks,
            .redeliveries, .webhook, .redelivery, .site, .obstacles, .promotion, .drain, .demotion, .mode:
            guard let person = routed.person else { throw Problem.unauthorized }
            let request = OperatorRequest(
                person: person.name, role: person.role, approver: routed.approver, id: routed.id, query: query,
                body: body)
            let answer = await desk.answer(routed.route, routed.method, request)
            logger.info(
                "operator request answered",
                metadata: [
                    "operator": .string(person.name), "method": .string(routed.method),
                    "route": .string(routed.route.rawValue), "status": .stringConvertible(answer.status),
                ])
            return Answer(telling: answer)
        }
    }
}

extension Problem {
    /// The listener asks for a certificate of its clients, and this one has shown none.
    fileprivate static let certificateMissing = Problem(
        .forbidden, 403, "Forbidden", detail: "A client certificate is needed here.")

    /// The second token is nobody's.
    fileprivate static let approverUnknown = Problem(
        .unauthorized, 401, "Unauthorized", detail: "Nobody has the token in the header.", field: "Approval")

    /// The second person may not approve.
    fileprivate static let approverMayNot = Problem(
        .forbidden, 403, "Forbidden",
        detail: "Whoever approves needs the role operator as well, which admin.operators gives.", field: "Approval")

    /// A body came where the operation takes none.
    fileprivate static let unexpectedBody = Problem(
        .invalidRequest, 400, "Invalid request", detail: "No body is taken here.")
}

extension Answer {
    /// What an operator is told.
    fileprivate init(telling answer: OperatorAnswer) {
        self.init(answer.status, contentType: answer.contentType, body: answer.body)
        location = answer.location
        retryAfter = answer.retryAfter
    }
}
