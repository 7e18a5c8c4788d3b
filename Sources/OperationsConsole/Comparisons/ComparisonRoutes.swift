internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

/// Answers what operators ask of comparisons: the one place where runs and discrepancies become answers.
struct ComparisonRoutes: Sendable {
    private let desk: ComparisonDesk

    /// Answers from a desk.
    init(desk: ComparisonDesk) { self.desk = desk }

    /// `GET /v1/reconciliations`
    func runs(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            let query = try ComparisonQueries.runs(query)
            let page = try await ask { () async throws(StoreFailure) in try await desk.store.runs(query) }
            return Answer.page(
                page.items.map(ComparisonRendering.run),
                next: page.next.map { ComparisonCursor.encode($0, query: query) })
        }
    }

    /// `POST /v1/reconciliations`
    func plan(query: String?, body: [UInt8]) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let ask = try ComparisonBodies.ask(body)
            let run = try await tell { () async throws(ComparisonDeskFailure) in try await desk.plan(ask) }
            return Answer(202, ComparisonRendering.run(run), location: "/v1/reconciliations/\(run.id.text)")
        }
    }

    /// `GET /v1/reconciliations/{id}`
    func run(_ id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            return Answer(200, ComparisonRendering.run(try await run(ComparisonRoutes.run(id))))
        }
    }

    /// `GET /v1/reconciliations/{id}/findings`
    func findings(of id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            let id = try ComparisonRoutes.run(id)
            let (after, limit) = try ComparisonQueries.findings(query, of: id)
            _ = try await run(id)
            let items = try await ask { () async throws(StoreFailure) in
                try await desk.store.findings(of: id, after: after, limit: limit)
            }
            var next: String?
            if let last = items.last?.discrepancy, items.count >= limit {
                let more = try await ask { () async throws(StoreFailure) in
                    try await desk.store.findings(of: id, after: last, limit: 1)
                }
                if !more.isEmpty { next = ComparisonCursor.encode(last, run: id) }
            }
            return Answer.page(items.map(ComparisonRendering.finding), next: next)
        }
    }

    /// `POST /v1/reconciliations/{id}/abandon`
    func abandon(_ id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let id = try ComparisonRoutes.run(id)
            let run = try await tell { () async throws(ComparisonDeskFailure) in try await desk.abandon(id) }
            guard run.state == .abandoned else {
                throw Problem(
                    .stateConflict, 409, "The state does not permit this",
                    detail: "The run is \(run.state.rawValue); only one that is planned or running can be given up.")
            }
            return Answer(200, ComparisonRendering.run(run))
        }
    }

    private static func run(_ text: String) throws(Problem) -> ComparisonRunID {
        guard let id = ComparisonRunID(text: text) else {
            throw .malformed(field: "id", "Must be cmp_ and 40 lowercase hexadecimal digits.")
        }
        return id
    }

    private func run(_ id: ComparisonRunID) async throws(Problem) -> ComparisonRun {
        guard let run = try await ask({ () async throws(StoreFailure) in try await desk.store.run(id) }) else {
            throw .notFound
        }
        return run
    }
}

extension ComparisonRoutes {
    /// `GET /v1/discrepancies`
    func discrepancies(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            let query = try ComparisonQueries.discrepancies(query)
            let page = try await ask { () async throws(StoreFailure) in try await desk.store.discrepancies(query) }
            return Answer.page(
                page.items.map(DiscrepancyRendering.summary),
                next: page.next.map { ComparisonCursor.encode($0, query: query) })
        }
    }

    /// `GET /v1/discrepancies/{id}`
    func discrepancy(_ id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let id = try ComparisonRoutes.discrepancy(id)
            let found = try await tell { () async throws(ComparisonDeskFailure) in try await desk.discrepancy(id) }
            return Answer(200, DiscrepancyRendering.document(found))
        }
    }

    /// `POST /v1/discrepancies/{id}/assignment`
    func assign(_ id: String, query: String?, body: [UInt8], by person: String) async -> OperatorAnswer {
        await change(id, query, by: person) { () throws(Problem) in try ComparisonBodies.assignment(body) }
    }

    /// `POST /v1/discrepancies/{id}/comments`
    func comment(_ id: String, query: String?, body: [UInt8], by person: String) async -> OperatorAnswer {
        await change(id, query, by: person) { () throws(Problem) in try ComparisonBodies.comment(body) }
    }

    /// `POST /v1/discrepancies/{id}/close`
    func close(_ id: String, query: String?, body: [UInt8], by person: String) async -> OperatorAnswer {
        await change(id, query, by: person) { () throws(Problem) in try ComparisonBodies.close(body) }
    }

    private func change(
        _ id: String, _ query: String?, by person: String,
        _ read: () throws(Problem) -> ComparisonBodies.Change
    ) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let id = try ComparisonRoutes.discrepancy(id)
            let wanted = try read()
            let changed = try await tell { () async throws(ComparisonDeskFailure) in
                try await desk.change(id, wanted.change, by: person, version: wanted.version)
            }
            return Answer(200, DiscrepancyRendering.document(changed))
        }
    }

    private static func discrepancy(_ text: String) throws(Problem) -> DiscrepancyID {
        guard let id = DiscrepancyID(text: text) else {
            throw .malformed(field: "id", "Must be dis_ and 40 lowercase hexadecimal digits.")
        }
        return id
    }
}

extension ComparisonRoutes {
    private func ask<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw Problem(ComparisonDeskFailure.store(error))
        }
    }

    private func tell<Value: Sendable>(
        _ body: () async throws(ComparisonDeskFailure) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw Problem(error)
        }
    }
}
