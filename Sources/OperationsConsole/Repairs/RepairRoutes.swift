internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// Answers what operators ask of repairs.
struct RepairRoutes: Sendable {
    private let desk: RepairDesk

    /// Answers from a desk.
    init(desk: RepairDesk) { self.desk = desk }

    /// `GET /v1/repairs`
    func list(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            let query = try RepairQueries.list(query)
            let page = try await tell { () async throws(RepairFailure) in try await desk.repairs(query) }
            let now = try await tell { () async throws(RepairFailure) in try await desk.now() }
            return Answer.page(
                page.items.map { RepairRendering.repair($0, at: now) },
                next: page.next.map { RepairQueries.text(of: $0, query) })
        }
    }

    /// `POST /v1/repairs`
    func propose(query: String?, body: [UInt8], by person: String) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let proposal = try RepairBodies.proposal(body)
            let repair = try await tell { () async throws(RepairFailure) in
                try await desk.propose(try await proposal.request(at: desk, by: person))
            }
            return try await document(repair, status: 201)
        }
    }

    /// `GET /v1/repairs/{id}`
    func read(_ id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            return try await document(try await repair(id))
        }
    }

    /// `POST /v1/repairs/{id}/approve` and `…/reject`
    func decide(_ request: OperatorRequest, approves: Bool) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(request.query, allowed: [])
            let reason = try RepairBodies.reason(request.body)
            let repair = try await repair(request.id)
            // Who proposed it may take it back.
            let takesBack = !approves && repair.proposedBy == request.person
            guard request.role >= .approver || takesBack else { throw .forbidden(needs: .approver) }
            let decided = try await tell { () async throws(RepairFailure) in
                try await desk.decide(repair.id, approves: approves, by: request.person, reason: reason)
            }
            return try await document(decided)
        }
    }

    private func repair(_ id: String) async throws(Problem) -> Repair {
        guard Repair.isID(id) else {
            throw .malformed(field: "id", "Must be rep_ and 40 lowercase hexadecimal digits.")
        }
        return try await tell { () async throws(RepairFailure) in try await desk.repair(id) }
    }

    private func document(_ repair: Repair, status: Int = 200) async throws(Problem) -> Answer {
        let now = try await tell { () async throws(RepairFailure) in try await desk.now() }
        return Answer(
            status, RepairRendering.repair(repair, at: now),
            location: status == 201 ? "/v1/repairs/\(repair.id)" : nil)
    }

    private func tell<Value: Sendable>(
        _ body: () async throws(RepairFailure) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw Problem(error)
        }
    }
}

/// Repairs as the published schema has them.
enum RepairRendering {
    static func repair(_ repair: Repair, at now: Timestamp) -> JSONValue {
        var (refund, discrepancy): (Int?, String?)
        switch repair.target {
        case .leg: break
        case .refund(let index, _): refund = index
        case .discrepancy(let id): discrepancy = id.text
        }
        return .members([
            "id": .string(repair.id),
            "payment_id": .optional(repair.payment?.text),
            "discrepancy_id": .optional(discrepancy),
            "leg": repair.target.leg.map { .integer($0) } ?? .null,
            "refund": refund.map { .integer($0) } ?? .null,
            "action": .string(repair.action.rawValue),
            "state": .string(repair.state(at: now).rawValue),
            "evidence": .members([
                "text": .string(repair.evidence.text),
                "sha256": .optional(repair.evidence.file?.hex),
                "reference": .optional(repair.evidence.reference),
                "amount": ComparisonRendering.money(repair.evidence.amount),
            ]),
            "against_provider": .bool(repair.isAgainstProvider),
            "version": .integer(repair.version),
            "proposed_by": .string(repair.proposedBy),
            "proposed_at": .string(repair.proposedAt.rfc3339),
            "expires_at": .string(repair.expiresAt.rfc3339),
            "decision": repair.decision.map(decision) ?? .null,
        ])
    }

    private static func decision(_ decision: Repair.Decision) -> JSONValue {
        .members([
            "approved": .bool(decision.isApproved),
            "by": .string(decision.by),
            "at": .string(decision.at.rfc3339),
            "reason": .string(decision.reason),
        ])
    }
}

extension Problem {
    /// The token's owner may not do this.
    static func forbidden(needs role: OperatorRole) -> Problem {
        Problem(
            .forbidden, 403, "Forbidden",
            detail: "Needs the role \(role.rawValue), which admin.operators gives.")
    }

    /// The problem of a repair that was not taken.
    init(_ failure: RepairFailure) {
        switch failure {
        case .noSuchPayment: self.init(.notFound, 404, "Not found", detail: "There is no such payment.")
        case .noSuchRefund: self.init(.notFound, 404, "Not found", detail: "The payment has no such refund.")
        case .noSuchDiscrepancy: self.init(.notFound, 404, "Not found", detail: "There is no such discrepancy.")
        case .noSuchRepair: self.init(.notFound, 404, "Not found", detail: "There is no such repair.")
        case .refused(.ownProposal):
            self.init(.forbidden, 403, "Forbidden", detail: RepairRefusal.ownProposal.sentence)
        case .refused(let refusal):
            self.init(.stateConflict, 409, "The repair is not carried out", detail: refusal.sentence)
            field = refusal.field
        case .store(let failure) where failure.code == .inactive:
            self.init(
                .stateConflict, 409, "The state does not permit this",
                detail: "This site is not active. Propose and decide at the active one; /v1/site names it.")
        case .store(let failure): self = .unavailable(failure)
        }
    }
}

extension RepairRefusal {
    /// The member of a proposal that is at fault.
    fileprivate var field: String? {
        switch self {
        case .changed: "version"
        case .evidenceMissing: "evidence"
        case .otherAmount: "evidence.amount"
        case .againstProvider: "against_provider"
        case .keyForgotten, .isThere, .notOurs, .notAsAsked, .unasked, .notForRefunds, .notForDiscrepancies,
            .notUndoable, .notCompared, .providerMissing:
            "action"
        case .ownProposal, .decided, .expired, .notWaiting, .historyFull, .underWay: nil
        }
    }

    /// What is wrong, and what is allowed.
    fileprivate var sentence: String {
        switch self {
        case .ownProposal: "Nobody approves what they proposed; another person does."
        case .decided: "Somebody decided about it before; reading it says who and why."
        case .expired: "Its time is over; propose it again."
        case .notWaiting:
            "It waits neither for people nor for a provider that is missing. The payment's explanation says what does, "
                + "by leg and refund; a discrepancy does until it is closed."
        case .changed: "What is known has changed since it was read; read it again, and propose anew."
        case .evidenceMissing: "The provider's reference is missing: charged and undone_outside need it."
        case .otherAmount: "The amount must be the one that was asked for; for another, undo it, or write it off."
        case .againstProvider:
            "The provider's own newest answer says something else. If you know that, say against_provider: true; it "
                + "stays marked for ever."
        case .keyForgotten: "The provider may have forgotten the key: sent again, it could be executed a second time."
        case .isThere:
            "The provider shows it: it is not sent again. Allowed: charged or resume, and for a leg undo."
        case .notOurs:
            "No request of ours made it, so that there is nothing to send again. Allowed: charged, never_charged, "
                + "undone_outside, undo, resume, write_off."
        case .notAsAsked:
            "The provider shows something else than was asked. Undo it there, and propose undone_outside."
        case .unasked:
            "Its caller's capture is not known, and other legs are not taken. Have it repeated, or undo the leg."
        case .notForRefunds: "A refund is not undone. Allowed: charged, never_charged, send_again, resume, write_off."
        case .notForDiscrepancies:
            "Of a discrepancy undo and write_off are allowed. What a leg waits for is proposed for its payment."
        case .notUndoable:
            "Only an orphan or a duplicate is undone that names its payment and this store, under a key of its own. "
                + "Undo it at the provider; the next comparison closes this, or propose write_off."
        case .providerMissing:
            "Nothing can be sent or asked there: its provider is not configured, or is configured with another key "
                + "space. Allowed: charged, never_charged, write_off, and for a leg undone_outside."
        case .underWay:
            "A request may still arrive at the provider. Wait for contract.max_request_life, find out again what the "
                + "provider did, and propose then."
        case .notCompared:
            "Its provider is not compared here, so that nobody would begin it. Allowed: write_off, or undo it there."
        case .historyFull: "Its history is full: \(Discrepancy.mostEntries) entries. Close it with a reason."
        }
    }
}
