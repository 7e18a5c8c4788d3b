internal import PaymentCore
internal import StrictJSON

/// Discrepancies as the published schemas have them.
enum DiscrepancyRendering {
    /// What a listing shows of one.
    static func summary(_ discrepancy: Discrepancy) -> JSONValue { .object(members(discrepancy)) }

    /// All of one: with both sides, and what happened to it.
    static func document(_ discrepancy: Discrepancy) -> JSONValue {
        .object(
            members(discrepancy) + [
                JSONMember("evidence", ComparisonRendering.evidence(discrepancy.evidence)),
                JSONMember("history", .array(discrepancy.history.map(entry))),
            ])
    }

    private static func members(_ discrepancy: Discrepancy) -> [JSONMember] {
        let document = JSONValue.members([
            "id": .string(discrepancy.id.text),
            "version": .integer(discrepancy.version),
            "provider": .string(discrepancy.provider.name),
            "subject": subject(discrepancy.subject),
            "class": .string(discrepancy.finding.rawValue),
            "state": .string(discrepancy.state.rawValue),
            "payment": .optional(discrepancy.payment?.text),
            "leg": discrepancy.leg.map { .integer($0) } ?? .null,
            "at_risk": ComparisonRendering.money(discrepancy.atRisk),
            "ours_net": ComparisonRendering.net(discrepancy.oursNet),
            "theirs_net": ComparisonRendering.net(discrepancy.theirsNet),
            "suggested_action": .string(discrepancy.suggestion.rawValue),
            "acts_at": .optional(discrepancy.actsAt?.rfc3339),
            "assignee": .optional(discrepancy.assignee),
            "opened_at": .string(discrepancy.openedAt.rfc3339),
            "last_seen_at": .string(discrepancy.lastSeenAt.rfc3339),
            "last_run": .string(discrepancy.lastRun.text),
            "closed_at": .optional(discrepancy.closedAt?.rfc3339),
            "close_reason": .optional(discrepancy.closeReason?.rawValue),
        ])
        guard case .object(let members) = document else { return [] }
        return members
    }

    private static func subject(_ subject: DiscrepancySubject) -> JSONValue {
        switch subject {
        case .transaction(let key): .members(["kind": .string("transaction"), "key": .string(key.text)])
        case .balance(let currency): .members(["kind": .string("balance"), "currency": .string(currency.code)])
        }
    }

    private static func entry(_ entry: Discrepancy.Entry) -> JSONValue {
        .members([
            "at": .string(entry.at.rfc3339),
            "kind": .string(entry.kind.rawValue),
            "run": .optional(entry.run?.text),
            "by": .optional(entry.by),
            "text": .string(entry.text),
        ])
    }
}
