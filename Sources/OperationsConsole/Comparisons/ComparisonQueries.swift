internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

/// The queries of the listings of runs and discrepancies, read from the parameters of a request.
enum ComparisonQueries {
    static func runs(_ text: String?) throws(Problem) -> RunQuery {
        let parameters = try QueryParameters(text, allowed: ["provider", "state", "kind", "cursor", "limit"])
        var query = RunQuery(limit: try parameters.limit())
        query.provider = try provider(parameters)
        query.state = try choice(parameters, "state")
        query.kind = try choice(parameters, "kind")
        if let cursor = parameters["cursor"] {
            query.after = ComparisonCursor.runs(cursor, query: query)
            guard query.after != nil else { throw .badCursor }
        }
        return query
    }

    /// The place after which findings are wanted, and how many.
    static func findings(
        _ text: String?, of run: ComparisonRunID
    ) throws(Problem) -> (after: DiscrepancyID?, limit: Int) {
        let parameters = try QueryParameters(text, allowed: ["cursor", "limit"])
        let limit = try parameters.limit()
        guard let cursor = parameters["cursor"] else { return (nil, limit) }
        guard let last = ComparisonCursor.findings(cursor, run: run) else { throw .badCursor }
        return (last, limit)
    }

    static func discrepancies(_ text: String?) throws(Problem) -> DiscrepancyQuery {
        let parameters = try QueryParameters(
            text,
            allowed: [
                "class", "provider", "state", "payment", "assignee", "opened_before", "at_risk_from", "currency",
                "cursor", "limit",
            ])
        var query = DiscrepancyQuery(limit: try parameters.limit())
        query.provider = try provider(parameters)
        query.finding = try choice(parameters, "class", among: ComparisonClass.differences)
        query.states = try states(parameters["state"]) ?? query.states
        if let payment = parameters["payment"] {
            query.payment = PaymentID(text: payment)
            guard query.payment != nil else {
                throw .malformed(field: "payment", "Must be pay_ and 40 lowercase hexadecimal digits.")
            }
        }
        if let assignee = parameters["assignee"] {
            guard assignee.unicodeScalars.count <= Discrepancy.longestName else {
                throw .malformed(field: "assignee", "Must be at most \(Discrepancy.longestName) characters.")
            }
            query.assignment = assignee.isEmpty ? .nobody : .person(assignee)
        }
        if let moment = parameters["opened_before"] {
            query.openedBefore = Timestamp(utc: moment)
            guard query.openedBefore != nil else {
                throw .malformed(field: "opened_before", Timestamp.utcForm)
            }
        }
        query.atRiskFrom = try atRisk(parameters)
        if let cursor = parameters["cursor"] {
            query.after = ComparisonCursor.discrepancies(cursor, query: query)
            guard query.after != nil else { throw .badCursor }
        }
        return query
    }

    private static func provider(_ parameters: QueryParameters) throws(Problem) -> ProviderName? {
        guard let name = parameters["provider"] else { return nil }
        do {
            return try ProviderName(name)
        } catch {
            throw .malformed(field: "provider", "Must be \(error.allowed).")
        }
    }

    private static func choice<Value: RawRepresentable & CaseIterable>(
        _ parameters: QueryParameters, _ name: String, among allowed: [Value] = Array(Value.allCases)
    ) throws(Problem) -> Value? where Value.RawValue == String {
        guard let text = parameters[name] else { return nil }
        guard let value = allowed.first(where: { $0.rawValue == text }) else {
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            throw .malformed(field: name, "Must be one of \(names).")
        }
        return value
    }

    /// `all`, or one state; without it what is not closed.
    private static func states(_ text: String?) throws(Problem) -> Set<Discrepancy.State>? {
        guard let text else { return nil }
        if text == "all" { return [] }
        guard let state = Discrepancy.State(rawValue: text) else {
            let names = Discrepancy.State.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed(field: "state", "Must be one of \(names), all.")
        }
        return [state]
    }

    private static func atRisk(_ parameters: QueryParameters) throws(Problem) -> Money? {
        guard parameters["at_risk_from"] != nil || parameters["currency"] != nil else { return nil }
        let text = parameters["at_risk_from"] ?? ""
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text) else {
            throw .malformed(field: "at_risk_from", "Must be a whole number of minor units; currency says of what.")
        }
        guard let code = parameters["currency"], let currency = Currency(code: code) else {
            throw .malformed(field: "currency", "Must be a code of ISO 4217 such as JPY; at_risk_from needs it.")
        }
        do {
            return try Money(value, currency)
        } catch {
            throw .malformed(field: "at_risk_from", "Must be 0 or more.")
        }
    }
}
