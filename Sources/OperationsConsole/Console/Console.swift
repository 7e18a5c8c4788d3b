internal import HTTPEdge
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// What the console shows beside answers of the operations API.
public struct ConsoleContent: Sendable {
    /// The last hour.
    public let history: ConsoleHistory
    /// The reports of drills.
    public let drills: DrillReports

    /// What the console shows.
    public init(history: ConsoleHistory, drills: DrillReports) {
        self.history = history
        self.drills = drills
    }
}

/// The console: pages for people, made of the answers of the operations API.
///
/// A person signs in with the operator's token once; a cookie names the session after that. Nothing is decided here:
/// what a form sends becomes a request of the API, with the same checks of roles, bodies and versions.
struct Console: Sendable {
    let sessions: ConsoleSessions
    let pages: ConsolePages
    let forms: ConsoleForms
    let limits: AdminLimits
    /// Whether this listener encrypts its connections itself.
    let isEncrypted: Bool
    let strangers: StrangersLog
    let logger: Logger

    init(
        desk: OperatorDesk, operators: OperatorDirectory, content: ConsoleContent, limits: AdminLimits,
        isEncrypted: Bool, strangers: StrangersLog, logger: Logger
    ) {
        sessions = ConsoleSessions(operators)
        let questions = ConsoleQuestions(desk: desk)
        pages = ConsolePages(questions: questions, content: content)
        forms = ConsoleForms(questions: questions)
        self.limits = limits
        self.isEncrypted = isEncrypted
        self.strangers = strangers
        self.logger = logger
    }

    /// Whether a path is one of the console's.
    static func serves(_ path: Substring) -> Bool { path == "/console" || path.hasPrefix("/console/") }

    /// Answers one request.
    func respond(to request: Request, _ target: PathAndQuery) async -> Response {
        let visit = Visit(request, target, isEncrypted: isEncrypted)
        do throws(Problem) {
            let session = visit.sessionToken.flatMap { sessions.session($0, isUse: !visit.isRefresh) }
            let body = try await body(visit, session, request)
            return try await answer(visit, session, body).response(visit)
        } catch {
            var answer = ConsoleAnswer(page: pages.failure(error, visit), status: error.status)
            answer.allow = error.allow
            answer.closesConnection = error.closesConnection || BodyReading.isAnnounced(request)
            return answer.response(visit)
        }
    }

    private func body(
        _ visit: Visit, _ session: ConsoleSessions.Session?, _ request: Request
    ) async throws(Problem) -> [UInt8] {
        guard let found = visit.found else { throw .notFound }
        guard found.route.methods.contains(visit.method) else { throw .methodNotAllowed(found.route.methods) }
        guard visit.method == "POST" else { return [] }
        guard visit.isOfOurPages else {
            throw Problem(.forbidden, 403, "Forbidden", detail: "Another site's page sent this; nothing was done.")
        }
        guard found.route == .signIn || session != nil else { throw .sessionOver }
        guard visit.announcesForm else {
            throw Problem(
                .unsupportedMediaType, 415, "Unsupported media type",
                detail: "Must be application/x-www-form-urlencoded.")
        }
        // A character of a form may take nine bytes where the same takes three in JSON.
        return try await BodyReading(maximumBytes: 4 * limits.maximumBodyBytes, deadline: limits.bodyDeadline)
            .read(request)
    }

    private func answer(
        _ visit: Visit, _ session: ConsoleSessions.Session?, _ body: [UInt8]
    ) async throws(Problem) -> ConsoleAnswer {
        guard let found = visit.found else { throw .notFound }
        if let asset = found.route.asset { return ConsoleAnswer(asset) }
        if found.route == .signIn { return try signIn(visit, session, body) }
        guard let session else {
            // A link in somebody else's page brings no cookie. The page that it gets asks again, and that does.
            if visit.isOfOthers { return ConsoleAnswer(page: pages.entry(visit), status: 200) }
            return .see("/console/sign-in?next=\(visit.next.percentEncoded)")
        }
        let guest = ConsoleGuest(person: session.person, formToken: session.formToken, visit: visit)
        guard visit.method == "POST" else { return try await pages.answer(found.route, found.id, guest) }
        let fields = try FormFields(body)
        guard session.made(fields["form_token"]) else {
            throw Problem(
                .forbidden, 403, "Forbidden",
                detail: "The form is not of this session; nothing was done. Load its page again.")
        }
        if found.route == .signOut {
            sessions.end(session)
            logger.info("operator signed out", metadata: ["operator": .string(session.person.name)])
            return .see("/console/sign-in", cookie: visit.cookie(nil))
        }
        return try await change(found.route, found.id, fields, guest)
    }

    /// What a form asks for: done, or its page once more with what was written and what is wrong.
    private func change(
        _ route: ConsoleRoute, _ id: String, _ fields: FormFields, _ guest: ConsoleGuest
    ) async throws(Problem) -> ConsoleAnswer {
        try OperatorDesk.permit("POST", to: guest.person)
        let outcome = await forms.send(route, id, fields, guest)
        logger.info(
            "operator form answered",
            metadata: [
                "operator": .string(guest.person.name), "route": .string(route.rawValue),
                "status": .stringConvertible(outcome.answer.status),
            ])
        guard outcome.answer.status >= 400 else { return .see(outcome.next) }
        return try await pages.again(route, id, fields, outcome.answer, guest)
    }

    private func signIn(
        _ visit: Visit, _ former: ConsoleSessions.Session?, _ body: [UInt8]
    ) throws(Problem) -> ConsoleAnswer {
        guard visit.method == "POST" else {
            return ConsoleAnswer(page: pages.signIn(visit, next: visit.asked), status: 200)
        }
        let fields = try FormFields(body)
        let next = Visit.safe(fields["next"])
        guard let token = fields["token"], let session = sessions.begin(token: token) else {
            strangers.refused(.signIn)
            var answer = ConsoleAnswer(page: pages.signIn(visit, next: next, isRefused: true), status: 401)
            answer.closesConnection = true
            return answer
        }
        // Who signs in again is not signed in twice.
        if let former { sessions.end(former) }
        if let person = sessions.session(session)?.person {
            logger.info("operator signed in", metadata: ["operator": .string(person.name)])
        }
        return .see(next, cookie: visit.cookie(session))
    }
}

extension Problem {
    /// What a form was sent for is not done: nobody is signed in.
    fileprivate static let sessionOver = Problem(
        .unauthorized, 401, "Signed out", detail: "The session is over; nothing was done. Sign in, and send it again.")
}
