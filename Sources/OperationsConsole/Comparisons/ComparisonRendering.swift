internal import PaymentCore
internal import StrictJSON

/// Runs of the comparison and what they found, as the published schemas have them.
enum ComparisonRendering {
    static func run(_ run: ComparisonRun) -> JSONValue {
        .members([
            "id": .string(run.id.text),
            "provider": .string(run.provider.name),
            "window": window(run.window),
            "kind": .string(run.kind.rawValue),
            "attempt": .integer(run.attempt),
            "dry_run": .bool(run.isDry),
            "state": .string(run.state.rawValue),
            "phase": .string(run.checkpoint.phase.rawValue),
            "steps": .integer(max(0, run.version - 1)),
            "created_at": .string(run.createdAt.rfc3339),
            "started_at": .optional(run.startedAt?.rfc3339),
            "finished_at": .optional(run.finishedAt?.rfc3339),
            "horizon": .string(run.horizon.rfc3339),
            "counts": counts(run.counts),
            "balances": .array(balances(run)),
            "proven": run.isProven.map { .bool($0) } ?? .null,
            "trouble": run.trouble.map(trouble) ?? .null,
        ])
    }

    private static func trouble(_ trouble: ComparisonRun.Trouble) -> JSONValue {
        .members([
            "code": .string(trouble.code), "needs_person": .bool(trouble.needsPerson),
            "since": .string(trouble.since.rfc3339), "at": .string(trouble.at.rfc3339),
            "times": .integer(trouble.times),
        ])
    }

    static func finding(_ finding: RunFinding) -> JSONValue {
        .members([
            "discrepancy": .string(finding.discrepancy.text),
            "at": .string(finding.at.rfc3339),
            "class": .string(finding.evidence.finding.rawValue),
            "outcome": .string(finding.outcome.rawValue),
            "action": .string(finding.action.rawValue),
            "close_reason": .optional(finding.closeReason?.rawValue),
            "at_risk": money(finding.atRisk),
            "evidence": evidence(finding.evidence),
        ])
    }

    /// Both sides of a finding.
    static func evidence(_ evidence: ComparisonFinding) -> JSONValue {
        .members([
            "row": .string(evidence.row),
            "ours": evidence.ours.map(booked) ?? .null,
            "named": evidence.named.map(booked) ?? .null,
            "theirs": evidence.theirs.map(listed) ?? .null,
            "balance": evidence.balance.map(proof) ?? .null,
        ])
    }

    static func money(_ amount: Money?) -> JSONValue {
        guard let amount else { return .null }
        return .members(["value": .integer(amount.value), "currency": .string(amount.currency.code)])
    }

    static func net(_ amount: NetAmount?) -> JSONValue {
        guard let amount else { return .null }
        return .members(["value": .integer(amount.value), "currency": .string(amount.currency.code)])
    }

    private static func window(_ window: ComparedWindow) -> JSONValue {
        .members(["from": .string(window.from.rfc3339), "to": .string(window.to.rfc3339)])
    }

    private static func counts(_ counts: ComparisonRun.Counts) -> JSONValue {
        let classes = ComparisonClass.allCases.filter { counts[$0] != 0 }
        return .members([
            "listed": .integer(counts.listed),
            "booked": .integer(counts.booked),
            "revisited": .integer(counts.revisited),
            "asked": .integer(counts.asked),
            "unanswered": .integer(counts.unanswered),
            "opened": .integer(counts.opened),
            "closed": .integer(counts.closed),
            "by_class": .object(classes.map { JSONMember($0.rawValue, .integer(counts[$0])) }),
        ])
    }

    /// The proofs once there are any; before that, what stood before the run and what it moved so far.
    private static func balances(_ run: ComparisonRun) -> [JSONValue] {
        guard run.proofs.isEmpty else { return run.proofs.map(proof) }
        let currencies = Set(run.opening.byCurrency.keys).union(run.moved.byCurrency.keys)
        return currencies.sorted { $0.code < $1.code }.map { currency in
            .members([
                "currency": .string(currency.code),
                "opening": sides(run.opening[currency]),
                "moved": sides(run.moved[currency]),
                "closing": .null, "explained": .null, "unexplained": .null, "drift": .null, "proven": .null,
            ])
        }
    }

    private static func proof(_ proof: BalanceProof) -> JSONValue {
        .members([
            "currency": .string(proof.currency.code),
            "opening": sides(proof.opening),
            "moved": sides(proof.moved),
            "closing": sides(proof.closing),
            "explained": .members([
                "discrepancies": .integer(proof.explained.discrepancies),
                "in_flight": .integer(proof.explained.inFlight),
            ]),
            "unexplained": .integer(proof.unexplained),
            "drift": sides(proof.drift),
            "proven": .bool(proof.isProven),
        ])
    }

    private static func sides(_ sides: NetSums.Sides) -> JSONValue {
        .members(["ours": .integer(sides.ours), "theirs": .integer(sides.theirs)])
    }

    private static func booked(_ position: BookedPosition) -> JSONValue {
        .members([
            "payment": .string(position.payment.text),
            "leg": .integer(position.leg),
            "key": .string(position.key.text),
            "standing": .string(position.standing.rawValue),
            "work": .string(position.work.rawValue),
            "payment_state": .string(position.state.rawValue),
            "amount": money(position.amount),
            "captured": money(position.captured),
            "refunds": .array(position.refunds.map(refund)),
            "net": net(position.net),
            "updated_at": .string(position.updatedAt.rfc3339),
        ])
    }

    private static func listed(_ position: ListedPosition) -> JSONValue {
        .members([
            "key": .string(position.key.text),
            "payment": .optional(position.payment?.text),
            "leg": position.leg.map { .integer($0) } ?? .null,
            "status": .string(position.status.rawValue),
            "amount": money(position.amount),
            "captured": money(position.captured),
            "refunds": .array(position.refunds.map(refund)),
            "net": net(position.net),
            "created_at": .optional(position.createdAt?.rfc3339),
            "updated_at": .optional(position.updatedAt?.rfc3339),
            "store": .optional(position.store?.text),
            "others": .array(position.others.map(line)),
            "contradiction": .optional(position.contradiction),
        ])
    }

    /// A further transaction under the same key.
    private static func line(_ line: ListedLine) -> JSONValue {
        .members([
            "status": .string(line.status.rawValue),
            "amount": money(line.amount),
            "captured": money(line.captured),
            "refunds": .array(line.refunds.map(refund)),
            "created_at": .optional(line.createdAt?.rfc3339),
            "updated_at": .optional(line.updatedAt?.rfc3339),
            "contradiction": .optional(line.contradiction),
        ])
    }

    private static func refund(_ refund: RefundPosition) -> JSONValue {
        .members(["key": .string(refund.key.text), "amount": money(refund.amount)])
    }
}
