internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

/// A place in a listing of runs, findings or discrepancies as operators hold it.
enum ComparisonCursor {
    private static func cursor(_ scope: [String?]) -> OpaqueCursor { OpaqueCursor(of: "comparisons", filters: scope) }

    static func encode(_ position: RunCursor, query: RunQuery) -> String {
        cursor(scope(query)).text([String(position.createdAt.milliseconds), position.id.text])
    }

    static func runs(_ text: String, query: RunQuery) -> RunCursor? {
        guard let fields = cursor(scope(query)).fields(text, count: 2), let moment = Int64(fields[0]),
            let id = ComparisonRunID(text: fields[1])
        else { return nil }
        return RunCursor(createdAt: Timestamp(milliseconds: moment), id: id)
    }

    static func encode(_ position: DiscrepancyID, run: ComparisonRunID) -> String {
        cursor([run.text]).text([position.text])
    }

    static func findings(_ text: String, run: ComparisonRunID) -> DiscrepancyID? {
        cursor([run.text]).fields(text, count: 1).flatMap { DiscrepancyID(text: $0[0]) }
    }

    static func encode(_ position: DiscrepancyCursor, query: DiscrepancyQuery) -> String {
        cursor(scope(query)).text([String(position.openedAt.milliseconds), position.id.text])
    }

    static func discrepancies(_ text: String, query: DiscrepancyQuery) -> DiscrepancyCursor? {
        guard let fields = cursor(scope(query)).fields(text, count: 2), let moment = Int64(fields[0]),
            let id = DiscrepancyID(text: fields[1])
        else { return nil }
        return DiscrepancyCursor(openedAt: Timestamp(milliseconds: moment), id: id)
    }

    private static func scope(_ query: RunQuery) -> [String?] {
        ["runs", query.provider?.name, query.state?.rawValue, query.kind?.rawValue]
    }

    private static func scope(_ query: DiscrepancyQuery) -> [String?] {
        let assignment: String? =
            switch query.assignment {
            case nil: nil
            case .nobody: ""
            case .person(let name): "=" + name
            }
        let states = query.states.map(\.rawValue).sorted().joined(separator: ",")
        return [
            "discrepancies", query.provider?.name, query.finding?.rawValue, states, query.payment?.text, assignment,
            query.openedBefore.map { String($0.milliseconds) }, query.atRiskFrom?.description,
        ]
    }
}
