internal import PaymentCore
internal import Reconciler

/// A place in a listing of runs, findings or discrepancies as operators hold it: opaque, and good only for the filters
/// that it was made with.
enum ComparisonCursor {
    /// The cursor of a place after the check of what it belongs to.
    private static func encode(_ fields: [String], _ scope: [String?]) -> String {
        Base64URL.encode(Array((fields + [check(fields, scope)]).joined(separator: "|").utf8))
    }

    /// The fields of the place; `nil` unless this cursor was made for this scope.
    private static func decode(_ text: String, _ scope: [String?]) -> [String]? {
        guard (1...512).contains(text.utf8.count), let bytes = Base64URL.decode(text),
            let plain = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = plain.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard let last = parts.last, last == check(Array(parts.dropLast()), scope) else { return nil }
        return Array(parts.dropLast())
    }

    private static func check(_ fields: [String], _ scope: [String?]) -> String {
        let digest = Digest(of: ["comparisons"] + fields + scope.flatMap { $0.map { ["+", $0] } ?? ["-"] })
        return String(digest.hex.prefix(16))
    }
}

extension ComparisonCursor {
    static func encode(_ place: RunCursor, query: RunQuery) -> String {
        encode([String(place.createdAt.milliseconds), place.id.text], scope(query))
    }

    static func runs(_ text: String, query: RunQuery) -> RunCursor? {
        guard let fields = decode(text, scope(query)), fields.count == 2,
            let moment = fields.first.flatMap({ Int64($0) }),
            let id = fields.last.flatMap({ ComparisonRunID(text: $0) })
        else { return nil }
        return RunCursor(createdAt: Timestamp(milliseconds: moment), id: id)
    }

    static func encode(_ place: DiscrepancyID, run: ComparisonRunID) -> String { encode([place.text], [run.text]) }

    static func findings(_ text: String, run: ComparisonRunID) -> DiscrepancyID? {
        guard let fields = decode(text, [run.text]), fields.count == 1 else { return nil }
        return fields.first.flatMap { DiscrepancyID(text: $0) }
    }

    static func encode(_ place: DiscrepancyCursor, query: DiscrepancyQuery) -> String {
        encode([String(place.openedAt.milliseconds), place.id.text], scope(query))
    }

    static func discrepancies(_ text: String, query: DiscrepancyQuery) -> DiscrepancyCursor? {
        guard let fields = decode(text, scope(query)), fields.count == 2,
            let moment = fields.first.flatMap({ Int64($0) }),
            let id = fields.last.flatMap({ DiscrepancyID(text: $0) })
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
