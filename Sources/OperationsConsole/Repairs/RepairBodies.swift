internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// The bodies of what operators ask of repairs.
enum RepairBodies {
    /// How long a reason or the words of evidence may be, in characters.
    static let longestText = 2_000
    /// How long a provider's reference may be.
    static let longestReference = 200
    /// How long a proposal may wait, in seconds.
    static let lifetimes: ClosedRange<Int64> = 60...604_800

    /// What one person proposes.
    struct Proposal {
        /// What it is about.
        enum Subject {
            case leg(PaymentID, leg: Int, refund: String?)
            case discrepancy(DiscrepancyID)
        }

        var subject: Subject
        var action: Repair.Action
        var evidence: Repair.Evidence
        var isAgainstProvider: Bool
        var version: Int64
        var lasts: Span

        /// The request: a refund is found by its identifier.
        func request(at desk: RepairDesk, by person: String) async throws(RepairFailure) -> RepairRequest {
            let (payment, target): (PaymentID?, Repair.Target)
            switch subject {
            case .discrepancy(let id): (payment, target) = (nil, .discrepancy(id))
            case .leg(let id, let leg, let refund):
                (payment, target) = (id, try await desk.target(id, leg: leg, refund: refund))
            }
            return RepairRequest(
                payment: payment, target: target, action: action, evidence: evidence,
                isAgainstProvider: isAgainstProvider, version: version, by: person, lasts: lasts)
        }
    }

    /// The body of `POST /v1/repairs`.
    static func proposal(_ bytes: [UInt8]) throws(Problem) -> Proposal {
        let root = FieldPath.root
        let fields = try ObjectFields(
            try ComparisonBodies.document(bytes), at: root,
            allowed: [
                "payment_id", "leg", "refund", "discrepancy_id", "action", "evidence", "against_provider", "version",
                "expires_in_seconds",
            ])
        let seconds = try fields["expires_in_seconds"]?.integer(at: root.member("expires_in_seconds"), in: lifetimes)
        return Proposal(
            subject: try subject(fields, at: root),
            action: try action(try fields.required("action")),
            evidence: try evidence(try fields.required("evidence")),
            isAgainstProvider: try flag(fields["against_provider"], "against_provider"),
            version: try fields.required("version").integer(at: root.member("version"), in: 1...Int64.max),
            lasts: .seconds(seconds ?? 86_400))
    }

    /// Either the leg of a payment, or its part of a refund, or a discrepancy.
    private static func subject(_ fields: ObjectFields, at root: FieldPath) throws(Problem) -> Proposal.Subject {
        if let text = try text(fields, "discrepancy_id", at: root, 1...64) {
            for other in ["payment_id", "leg", "refund"] {
                guard fields[other] == nil || fields[other] == .null else {
                    throw .malformed(root.member(other), "Must not be there beside discrepancy_id.")
                }
            }
            guard let id = DiscrepancyID(text: text) else {
                throw .malformed(root.member("discrepancy_id"), "Must be dis_ and 40 lowercase hexadecimal digits.")
            }
            return .discrepancy(id)
        }
        let id = try fields.required("payment_id").text(at: root.member("payment_id"), length: 1...64)
        guard let payment = PaymentID(text: id) else {
            throw .malformed(root.member("payment_id"), "Must be pay_ and 40 lowercase hexadecimal digits.")
        }
        let last = Int64(CreateRequest.maximumLegs - 1)
        let leg = Int(try fields.required("leg").integer(at: root.member("leg"), in: 0...last))
        return .leg(payment, leg: leg, refund: try self.text(fields, "refund", at: root, 1...64))
    }

    /// The body of `POST …/approve` and `…/reject`.
    static func reason(_ bytes: [UInt8]) throws(Problem) -> String {
        let fields = try ObjectFields(try ComparisonBodies.document(bytes), at: .root, allowed: ["reason"])
        return try fields.required("reason").text(at: FieldPath.root.member("reason"), length: 1...longestText)
    }

    private static func action(_ value: JSONValue) throws(Problem) -> Repair.Action {
        guard case .string(let text) = value, let action = Repair.Action(rawValue: text) else {
            let allowed = Repair.Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed(FieldPath.root.member("action"), "Must be one of \(allowed).")
        }
        return action
    }

    private static func evidence(_ value: JSONValue) throws(Problem) -> Repair.Evidence {
        let path = FieldPath.root.member("evidence")
        let fields = try ObjectFields(value, at: path, allowed: ["text", "sha256", "reference", "amount"])
        var evidence = Repair.Evidence(
            text: try fields.required("text").text(at: path.member("text"), length: 8...longestText))
        if let hex = try text(fields, "sha256", at: path, 1...128) {
            evidence.file = Digest(hex: hex)
            guard evidence.file != nil else {
                throw .malformed(path.member("sha256"), "Must be 64 lowercase hexadecimal digits, as sha256sum prints.")
            }
        }
        evidence.reference = try text(fields, "reference", at: path, 1...longestReference)
        if let amount = fields["amount"], amount != .null {
            evidence.amount = try amount.positiveMoney(at: path.member("amount"))
        }
        return evidence
    }

    private static func text(
        _ fields: ObjectFields, _ name: String, at path: FieldPath, _ length: ClosedRange<Int>
    ) throws(Problem) -> String? {
        guard let value = fields[name], value != .null else { return nil }
        return try value.text(at: path.member(name), length: length)
    }

    private static func flag(_ value: JSONValue?, _ name: String) throws(Problem) -> Bool {
        switch value {
        case nil: return false
        case .bool(let flag): return flag
        default: throw .malformed(FieldPath.root.member(name), "Must be true or false.")
        }
    }
}

/// The queries of the listing of repairs.
enum RepairQueries {
    /// By default what waits for somebody.
    static func list(_ text: String?) throws(Problem) -> RepairQuery {
        let parameters = try QueryParameters(text, allowed: ["state", "payment", "discrepancy", "cursor", "limit"])
        var query = RepairQuery(limit: try parameters.limit())
        switch parameters["state"] {
        case nil, "proposed": query.isDecided = false
        case "decided": query.isDecided = true
        case "all": query.isDecided = nil
        default: throw .malformed(field: "state", "Must be one of proposed, decided, all.")
        }
        if let payment = parameters["payment"] {
            query.payment = PaymentID(text: payment)
            guard query.payment != nil else {
                throw .malformed(field: "payment", "Must be pay_ and 40 lowercase hexadecimal digits.")
            }
        }
        if let discrepancy = parameters["discrepancy"] {
            guard query.subject == nil else {
                throw .malformed(field: "discrepancy", "Must not be there beside payment.")
            }
            query.discrepancy = DiscrepancyID(text: discrepancy)
            guard query.subject != nil else {
                throw .malformed(field: "discrepancy", "Must be dis_ and 40 lowercase hexadecimal digits.")
            }
        }
        if let cursor = parameters["cursor"] {
            query.after = place(cursor, query)
            guard query.after != nil else { throw .badCursor }
        }
        return query
    }

    static func text(of place: RepairCursor, _ query: RepairQuery) -> String {
        cursor(query).text([String(place.proposedAt.milliseconds), place.id])
    }

    private static func place(_ text: String, _ query: RepairQuery) -> RepairCursor? {
        guard let fields = cursor(query).fields(text, count: 2), let moment = Int64(fields[0]),
            Repair.isID(fields[1])
        else { return nil }
        return RepairCursor(proposedAt: Timestamp(milliseconds: moment), id: fields[1])
    }

    private static func cursor(_ query: RepairQuery) -> OpaqueCursor {
        OpaqueCursor(of: "repairs", filters: [query.isDecided.map { String($0) }, query.subject])
    }
}
