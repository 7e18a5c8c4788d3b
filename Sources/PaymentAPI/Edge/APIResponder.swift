internal import HTTPEdge
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
    let webhook: WebhookReading
    let identity: CallerIdentity
    let routes: OperationRoutes
    let notifications: NotificationRoute
    let limits: APILimits
    let description: [UInt8]
    let site: @Sendable () -> SiteWord
    let gate: RequestGate<CallerID>
    let rates = RequestRates()
    let elapsed: @Sendable () -> ContinuousClock.Instant
    let strangers: StrangersLog
    let logger: Logger

    /// Answers one request; problems are answers too, so nothing is ever thrown.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let clock = ContinuousClock()
        let begin = clock.now
        let headers = HeaderValues(request.headers)
        let name = RequestName(headers)
        let target = PathAndQuery(request.head.path ?? "")
        let found = Route.find(target.path)
        let bearer = await identity.bearer(authorization: headers.all("authorization"))
        let access = bearer.access
        let caller = access?.caller
        var answer: Answer
        do {
            if let early = judgeHead(request, found?.route, bearer) {
                answer = early
            } else if let found, found.route == .notifications {
                answer = try await notifications.answer(request, provider: found.id)
            } else {
                answer = try await self.answer(request, found, caller, target)
            }
        } catch {
            answer = Answer(error)
        }
        if request.method == .head { answer.body = [] }
        let isKnown = request.method == .post || request.method == .get
        let record = AccessRecord(
            name: name, method: isKnown ? request.method.rawValue : "other", route: found?.route,
            caller: caller?.name, token: access?.token, status: answer.status, duration: clock.now - begin,
            bodyBytes: answer.body.count)
        record.count()
        switch (found?.route, answer.status) {
        // The other site asks every few seconds.
        case (.site, 200): break
        case (_, 401): strangers.refused(bearer.refusal)
        default: record.write(to: logger)
        }
        return answer.response(requestID: name.own)
    }

    /// What can be said before anything is read of the body: whoever has no token cannot make the server wait
    /// for one. The connection ends then, because the body may never do.
    private func judgeHead(_ request: Request, _ route: Route?, _ bearer: CallerIdentity.Bearer) -> Answer? {
        var answer: Answer?
        if let route, !route.methods.contains(request.method.rawValue) {
            answer = Answer(.methodNotAllowed(route.methods))
        } else if route == .description {
            answer = Answer(200, contentType: "application/yaml", body: description)
        } else if route == .site {
            answer = Answer(200, site().document)
        } else if route == nil {
            answer = Answer(.notFound)
        } else if let needed = route?.scopes(request.method.rawValue) {
            answer = refusal(of: bearer, needed: needed).map { Answer($0) }
        }
        // Whoever has no token has one answer for each connection: what was sent ahead of it costs nothing.
        answer?.closesConnection = bearer.access == nil || BodyReading.isAnnounced(request)
        return answer
    }

    /// Why a caller is refused: no valid token, more requests than are answered, or a token that does not permit this.
    private func refusal(of bearer: CallerIdentity.Bearer, needed: Set<CallerScope>) -> Problem? {
        if case .keysUnknown = bearer {
            return .notAccepting("The keys of who issued the token are not known at present.", retryAfter: 5)
        }
        guard let access = bearer.access else { return .unauthorized }
        if let rate = identity.callers.rate(of: access.caller),
            let wait = rates.admit(access.caller, at: rate, now: elapsed())
        {
            return .rateLimited(
                "At most \(rate.requestsPerSecond) requests per second, and \(rate.burst) at once.", retryAfter: wait)
        }
        guard access.scopes.isDisjoint(with: needed) else { return nil }
        let words = { (scopes: Set<CallerScope>) in scopes.map(\.rawValue).sorted().joined(separator: ", ") }
        return Problem(
            .forbidden, 403, "Forbidden",
            detail: "The token needs one of these scopes: \(words(needed)). It has: \(words(access.scopes)).")
    }

    private func answer(
        _ request: Request, _ found: (route: Route, id: String)?, _ caller: CallerID?, _ target: PathAndQuery
    ) async throws(Problem) -> Answer {
        guard let found, let caller else { throw .notFound }
        let body = try await BodyReading(maximumBytes: limits.maximumBodyBytes, deadline: limits.bodyDeadline)
            .read(request)
        switch gate.enter(caller) {
        case nil: break
        case .full: throw .notAccepting("Too many requests are being answered.", retryAfter: 1)
        case .shareTaken:
            throw .notAccepting(
                "Too many requests of this caller are being answered; the others' places are kept for them.",
                retryAfter: 1)
        }
        defer { gate.leave(caller) }
        let incoming = IncomingRequest(
            caller: caller, method: request.method.rawValue, path: String(target.path),
            query: target.query, id: found.id, headers: HeaderValues(request.headers), body: body)
        return try await answer(incoming, found.route)
    }

    private func completeUntil() async throws(Problem) -> Timestamp? {
        do {
            return try await operations.completeUntil()
        } catch {
            throw Problem(reading: error)
        }
    }

    private func answer(_ request: IncomingRequest, _ route: Route) async throws(Problem) -> Answer {
        let reader = PaymentReader(
            operations: operations, caller: request.caller,
            completeUntil: request.method == "GET" ? try await completeUntil() : nil, cardNumbers: limits.cardNumbers)
        if request.method == "GET", route == .payments { return try await reader.page(query: request.query) }
        if route == .events {
            return try await reader.events(of: try request.payment(), query: request.query)
        }
        _ = try QueryParameters(request.query, allowed: [])
        switch route {
        case .payments: return try await routes.create(request)
        case .payment: return try await reader.one(try request.payment())
        case .webhook: return try await reader.webhook(of: try request.payment(), from: webhook)
        case .capture: return try await routes.capture(request)
        case .cancel: return try await routes.cancel(request)
        case .refunds: return try await routes.refund(request)
        case .reconcile: return try await routes.reconcile(request)
        case .events, .site, .notifications, .description: throw .notFound
        }
    }
}
