internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

/// Makes requests of the operations API out of forms. The API judges what was written; nothing is judged here.
struct ConsoleForms: Sendable {
    let questions: ConsoleQuestions

    /// What came of a form, and the page that shows it.
    struct Outcome: Sendable {
        let answer: OperatorAnswer
        let next: String
    }

    /// Sends what a form asks for.
    func send(_ route: ConsoleRoute, _ id: String, _ fields: FormFields, _ guest: ConsoleGuest) async -> Outcome {
        switch route {
        case .proposal, .differenceProposal:
            let body =
                route == .proposal
                ? ConsoleForms.proposal(of: id, fields) : ConsoleForms.proposal(aboutDifference: id, fields)
            let answer = await questions.change(.repairs, body, guest)
            return Outcome(answer: answer, next: "/console/repairs/" + (ConsoleForms.id(answer) ?? ""))
        case .approval, .rejection:
            let answer = await questions.change(
                route == .approval ? .approval : .rejection, id: id, .members(["reason": fields.text("reason")]), guest)
            return Outcome(answer: answer, next: "/console/repairs/\(id)")
        case .assignment:
            return await discrepancy(.assignment, id, ("assignee", fields.text("assignee")), fields, guest)
        case .comments: return await discrepancy(.comments, id, ("text", fields.text("text")), fields, guest)
        case .close: return await discrepancy(.close, id, ("reason", fields.text("reason")), fields, guest)
        default: return Outcome(answer: Answer(Problem.notFound).told, next: "/console/")
        }
    }

    private func discrepancy(
        _ route: AdminRoute, _ id: String, _ member: (name: String, value: JSONValue), _ fields: FormFields,
        _ guest: ConsoleGuest
    ) async -> Outcome {
        let body = JSONValue.object([
            JSONMember(member.name, member.value), JSONMember("version", fields.number("version")),
        ])
        return Outcome(
            answer: await questions.change(route, id: id, body, guest), next: "/console/discrepancies/\(id)")
    }

    /// On a page that has a form for comments as well, the evidence has a field of its own.
    private static func proposal(aboutDifference id: String, _ fields: FormFields) -> JSONValue {
        .members([
            "discrepancy_id": .string(id), "action": fields.text("action"), "version": fields.number("version"),
            "evidence": .members([
                "text": fields.text("evidence"), "sha256": fields.text("sha256"),
                "reference": fields.text("reference"),
            ]),
        ])
    }

    private static func proposal(of payment: String, _ fields: FormFields) -> JSONValue {
        let amount: JSONValue =
            fields["amount"] == nil
            ? .null : .members(["value": fields.number("amount"), "currency": fields.text("currency")])
        var members = [
            JSONMember("payment_id", .string(payment)), JSONMember("leg", fields.number("leg")),
            JSONMember("refund", fields.text("refund")), JSONMember("action", fields.text("action")),
            JSONMember(
                "evidence",
                .members([
                    "text": fields.text("text"), "sha256": fields.text("sha256"),
                    "reference": fields.text("reference"), "amount": amount,
                ])),
            JSONMember("against_provider", .bool(fields["against_provider"] != nil)),
            JSONMember("version", fields.number("version")),
        ]
        if let hours = fields["hours"] {
            let seconds = Int64(hours).flatMap { hours -> Int64? in
                let (seconds, overflow) = hours.multipliedReportingOverflow(by: 3_600)
                return overflow ? nil : seconds
            }
            members.append(JSONMember("expires_in_seconds", seconds.map { .integer($0) } ?? .string(hours)))
        }
        return .object(members)
    }

    private static func id(_ answer: OperatorAnswer) -> String? { ViewModel.members(answer.body)["id"] as? String }
}
