internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Reconciler

/// Answers every request of the admin listener.
public struct AdminResponder: HTTPResponder {
    /// The connection of a request.
    public struct Context: InitializableFromSource, Sendable {
        fileprivate let channel: any Channel

        /// A context of a connection.
        public init(source: ApplicationRequestContextSource) {
            channel = source.channel
        }

        /// Ends the connection a moment from now, when the answer is out: what else comes on it is not read.
        fileprivate func closeSoon() {
            let channel = channel
            channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        }
    }

    let probes: Probes
    let metrics: MetricsRegistry
    let operators: OperatorDirectory
    let reads: OperatorReads
    let comparisons: OperatorComparisons?
    let site: OperatorSite?
    let descriptions: OperationsDescriptions
    let limits: AdminLimits
    let logger: Logger

    /// Answers one request.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let target = request.head.path ?? ""
        let question = target.firstIndex(of: "?") ?? target.endIndex
        let query = target[question...].dropFirst()
        // A body that is not read to its end ends the connection.
        var isUnread = AdminBody.isAnnounced(request)
        defer { if isUnread { context.closeSoon() } }
        do {
            let route = try route(of: target[..<question], request)
            let body = try await body(route, request)
            isUnread = isUnread && body == nil
            return try await answer(route, query.isEmpty ? nil : String(query), body ?? [])
        } catch let problem as AdminProblem {
            return try render(problem)
        }
    }

    /// What a request asks for, and who does.
    private struct Routed {
        let route: AdminRoute
        let method: String
        let id: String
        let person: String?
        let approver: String?
        var operation: OperatorComparisons.Operation? { route.comparison(method) }
        var takesBody: Bool { operation?.takesBody ?? route.siteOperation?.takesBody ?? false }
    }

    /// Whoever has no token learns nothing of what is there for operators.
    private func route(of path: Substring, _ request: Request) throws(AdminProblem) -> Routed {
        let found = AdminRoute.find(path)
        var person: String?
        if found?.route.isForOperators ?? (path == "/v1" || path.hasPrefix("/v1/")) {
            let values = request.headers.filter { $0.name == .authorization }.map(\.value)
            person = operators.person(authorization: values)
            guard person != nil else { throw .unauthorized }
        }
        guard let found else { throw .notFound }
        let method = request.method.rawValue
        guard found.route.methods.contains(method) else { throw .methodNotAllowed(found.route.methods) }
        let routed = Routed(
            route: found.route, method: method, id: found.id, person: person, approver: try approver(request))
        guard comparisons != nil || routed.operation == nil else { throw .notFound }
        guard site != nil || found.route.siteOperation == nil else { throw .notFound }
        return routed
    }

    /// Whose second token it is. One that belongs to nobody is refused, so that nobody believes to have approved.
    private func approver(_ request: Request) throws(AdminProblem) -> String? {
        let values = request.headers.filter { $0.name.canonicalName == "approval" }.map(\.value)
        guard !values.isEmpty else { return nil }
        guard let person = operators.person(authorization: values) else { throw .unauthorized }
        return person
    }

    /// The body, where the operation takes one; `nil` where it does not, and none is there.
    private func body(_ routed: Routed, _ request: Request) async throws(AdminProblem) -> [UInt8]? {
        guard routed.takesBody else {
            guard routed.method != "POST" || !AdminBody.isAnnounced(request) else { throw .unexpectedBody }
            return nil
        }
        return try await AdminBody(maximumBytes: limits.maximumBodyBytes, deadline: limits.bodyDeadline)
            .read(request)
    }

    private func answer(_ routed: Routed, _ query: String?, _ body: [UInt8]) async throws -> Response {
        switch routed.route {
        case .livez, .readyz, .startupz, .activez:
            let results = await probes.results(String(routed.route.rawValue.dropFirst()))
            let document = ProbeDocument(results, isVerbose: Probes.isVerbose(query))
            return render(document.httpStatus, "application/json", try AdminJSON.bytes(document))
        case .metrics: return render(200, OpenMetricsText.contentType, Array(metrics.openMetrics().utf8))
        case .description: return render(200, "application/yaml", descriptions.operations)
        case .paymentsDescription: return render(200, "application/yaml", descriptions.payments)
        case .payments, .payment, .events, .runs, .run, .findings, .abandonment, .discrepancies, .discrepancy,
            .assignment, .comments, .close, .site, .promotion, .drain, .demotion, .mode:
            guard let person = routed.person else { throw AdminProblem.unauthorized }
            let request = OperatorRequest(
                person: person, approver: routed.approver, id: routed.id, query: query, body: body)
            let answer = try await operatorAnswer(routed, request)
            logger.info(
                "operator request answered",
                metadata: [
                    "operator": .string(person), "method": .string(routed.method),
                    "route": .string(routed.route.rawValue), "status": .stringConvertible(answer.status),
                ])
            return render(answer)
        }
    }

    private func operatorAnswer(_ routed: Routed, _ request: OperatorRequest) async throws -> OperatorAnswer {
        switch routed.route {
        case .payments: return await reads.list(request.query)
        case .payment: return await reads.payment(request.id)
        case .events: return await reads.events(request.id, request.query)
        default:
            if let site, let operation = routed.route.siteOperation { return await site.answer(operation, request) }
            guard let comparisons, let operation = routed.operation else { throw AdminProblem.notFound }
            return await comparisons.answer(operation, request)
        }
    }

    private func render(_ problem: AdminProblem) throws -> Response {
        var response = render(problem.status, "application/problem+json", try AdminJSON.bytes(problem))
        if problem.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        if !problem.allow.isEmpty { response.headers[.allow] = problem.allow.joined(separator: ", ") }
        return response
    }

    private func render(_ status: Int, _ contentType: String, _ body: [UInt8]) -> Response {
        render(OperatorAnswer(status: status, contentType: contentType, body: body))
    }

    private func render(_ answer: OperatorAnswer) -> Response {
        var headers: HTTPFields = [
            .contentType: answer.contentType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        headers[.location] = answer.location
        headers[.retryAfter] = answer.retryAfter.map { String($0) }
        return Response(
            status: HTTPResponse.Status(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
