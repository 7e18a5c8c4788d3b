internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import PaymentCore
internal import Reconciler

/// Answers every request of the public listener.
public struct APIResponder: HTTPResponder {
    /// What comes with a request from its connection: nothing that is used.
    public struct Context: InitializableFromSource, Sendable {
        /// A context of a connection.
        public init(source: ApplicationRequestContextSource) {}
    }

    let operations: any PaymentOperations
    let callers: CallerDirectory
    let routes: OperationRoutes
    let limits: APILimits
    let description: [UInt8]
    let gate: RequestGate
    let logger: Logger

    /// Answers one request; problems are answers too, so nothing is ever thrown.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let clock = ContinuousClock()
        let begin = clock.now
        let requestID = RequestID().description
        let target = request.head.path ?? ""
        let question = target.firstIndex(of: "?") ?? target.endIndex
        let found = Route.find(target[..<question])
        let caller = callers.caller(authorization: HeaderValues(request.headers).all("authorization"))
        var answer: Answer
        do {
            answer = try await self.answer(
                request, found, caller, query: target[question...].dropFirst(), path: target[..<question])
        } catch {
            answer = Answer(error)
        }
        if request.method != .post, BodyReading.isAnnounced(request) { answer.closesConnection = true }
        let isKnown = request.method == .post || request.method == .get
        AccessRecord(
            requestID: requestID, method: isKnown ? request.method.rawValue : "other", route: found?.route,
            caller: caller?.name, status: answer.status, duration: clock.now - begin,
            bodyBytes: answer.body.count
        ).write(to: logger)
        return answer.response(requestID: requestID)
    }

    private func answer(
        _ request: Request, _ found: (route: Route, id: String)?, _ caller: CallerID?, query: Substring,
        path: Substring
    ) async throws(Problem) -> Answer {
        guard gate.enter() else {
            var problem = Problem.notAccepting("Too many requests are being answered.", retryAfter: 1)
            problem.closesConnection = BodyReading.isAnnounced(request)
            throw problem
        }
        defer { gate.leave() }
        // The body is read before anything is judged, so that the connection can go on after a refusal.
        let body = request.method == .post ? try await BodyReading(limits: limits).read(request) : []
        guard let found else { throw .notFound }
        guard found.route.methods.contains(request.method.rawValue) else {
            throw .methodNotAllowed(found.route.methods)
        }
        if found.route == .description {
            return Answer(200, contentType: "application/yaml", body: description)
        }
        guard let caller else { throw .unauthorized }
        let incoming = IncomingRequest(
            caller: caller, method: request.method.rawValue, path: String(path),
            query: query.isEmpty ? nil : String(query), id: found.id,
            headers: HeaderValues(request.headers), body: body)
        return try await answer(incoming, found.route)
    }

    private func answer(_ request: IncomingRequest, _ route: Route) async throws(Problem) -> Answer {
        let reader = PaymentReader(operations: operations, caller: request.caller)
        if request.method == "GET", route == .payments { return try await reader.page(query: request.query) }
        if route == .events { return try await reader.events(of: try request.payment(), query: request.query) }
        _ = try QueryParameters(request.query, allowed: [])
        switch route {
        case .payments: return try await routes.create(request)
        case .payment: return try await reader.one(try request.payment())
        case .capture: return try await routes.capture(request)
        case .cancel: return try await routes.cancel(request)
        case .refunds: return try await routes.refund(request)
        case .reconcile: return try await routes.reconcile(request)
        case .events, .description: throw .notFound
        }
    }
}

extension Answer {
    /// The answer as it goes over the wire.
    func response(requestID: String) -> Response {
        var headers = HTTPFields()
        func set(_ name: String, _ value: String?) {
            guard let value, let name = HTTPField.Name(name) else { return }
            headers[name] = value
        }
        set("Content-Type", contentType)
        set("Cache-Control", "no-store")
        set("X-Content-Type-Options", "nosniff")
        set("X-Request-Id", requestID)
        set("Location", location)
        set("Retry-After", retryAfter.map { String($0) })
        set("Preference-Applied", appliedWait.map { "wait=\($0)" })
        set("Idempotent-Replayed", isReplayed ? "true" : nil)
        set("Allow", allow)
        set("WWW-Authenticate", status == 401 ? "Bearer" : nil)
        set("Connection", closesConnection ? "close" : nil)
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
