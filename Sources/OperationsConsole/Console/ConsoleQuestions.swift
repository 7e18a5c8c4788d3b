internal import HTTPEdge
internal import StrictJSON

/// What pages ask of the operations API, in the name of whoever looks at them.
struct ConsoleQuestions: Sendable {
    let desk: OperatorDesk

    /// Whether this process serves a route.
    func has(_ route: AdminRoute) -> Bool { desk.has(route) }

    /// A document of the API.
    /// - Throws: The problem that the API answers with.
    func ask(
        _ route: AdminRoute, id: String = "", query: String? = nil, _ guest: ConsoleGuest
    ) async throws(Problem) -> [String: Any] {
        let answer = await answer(route, id: id, query: query, guest)
        guard answer.status < 400 else { throw Problem(told: answer) }
        return ViewModel.members(answer.body)
    }

    /// A part of a page: its document, or nothing where it cannot be read now. The rest of the page is still worth it.
    func part(
        _ route: AdminRoute, id: String = "", query: String? = nil, _ guest: ConsoleGuest
    ) async -> [String: Any]? {
        guard has(route) else { return nil }
        let answer = await answer(route, id: id, query: query, guest)
        return answer.status < 400 ? ViewModel.members(answer.body) : nil
    }

    /// The entries of a listing, page after page, until there are at least so many; and whether there are more.
    ///
    /// - Parameters:
    ///   - query: Of each page, without the cursor.
    ///   - make: What is kept of an entry.
    func entries<Entry>(
        _ route: AdminRoute, id: String = "", query: String, atLeast wanted: Int, _ guest: ConsoleGuest,
        _ make: ([String: Any]) -> Entry
    ) async throws(Problem) -> (entries: [Entry], isCut: Bool) {
        var entries: [Entry] = []
        var cursor: String?
        repeat {
            let next = cursor.map { "&cursor=\($0.percentEncoded)" } ?? ""
            let page = try await ask(route, id: id, query: query + next, guest)
            entries += (page["data"] as? [[String: Any]] ?? []).map(make)
            cursor = page["next_cursor"] as? String
        } while cursor != nil && entries.count < wanted
        return (entries, cursor != nil)
    }

    /// The answer of the API to a read.
    func answer(
        _ route: AdminRoute, id: String = "", query: String? = nil, _ guest: ConsoleGuest
    ) async -> OperatorAnswer {
        await desk.answer(
            route, "GET",
            OperatorRequest(person: guest.person.name, role: guest.person.role, id: id, query: query))
    }

    /// The answer of the API to a change.
    func change(_ route: AdminRoute, id: String = "", _ body: JSONValue, _ guest: ConsoleGuest) async -> OperatorAnswer
    {
        guard has(route) else { return Answer(Problem.notFound).told }
        return await desk.answer(
            route, "POST",
            OperatorRequest(person: guest.person.name, role: guest.person.role, id: id, body: body.bytes))
    }
}

extension Problem {
    /// A problem that the operations API answered with.
    init(told answer: OperatorAnswer) {
        let members = ViewModel.members(answer.body)
        let kind = (members["type"] as? String).flatMap { Kind(rawValue: $0) } ?? .internalError
        self.init(
            kind, answer.status, members["title"] as? String ?? "Problem", detail: members["detail"] as? String,
            field: members["field"] as? String)
        retryAfter = answer.retryAfter
    }
}
