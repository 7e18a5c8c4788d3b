public import PaymentCore
internal import StrictJSON

/// Why a payment is in its state, as the published schema has it.
enum ExplanationRendering {
    static func explanation(_ explanation: PaymentExplanation) -> JSONValue {
        .members([
            "payment_id": .string(explanation.payment.id.text),
            "version": .integer(explanation.payment.version),
            "state": .string(explanation.payment.state.rawValue),
            "at": .string(explanation.at.rfc3339),
            "sentences": sentences(explanation.sentences),
            "decision": explanation.decision.map(decision) ?? .null,
            "next_look": .optional(explanation.nextLook?.rfc3339),
            "legs": .array(explanation.legs.map(leg)),
            "refunds": .array(
                explanation.refunds.map { part in
                    .members([
                        "id": .optional(
                            part.refund.map { explanation.payment.refunds[$0].id(of: explanation.payment) }),
                        "part": leg(part),
                    ])
                }),
            "remedies": .array(
                explanation.remedies.map {
                    .members(["name": .string($0.rawValue), "sentence": .string($0.sentence)])
                }),
        ])
    }

    private static func leg(_ leg: LegExplanation) -> JSONValue {
        .members([
            "index": .integer(leg.leg.index),
            "provider": .string(leg.leg.provider.name),
            "standing": .string(leg.standing.rawValue),
            "known": leg.leg.knowledge.map(known) ?? .null,
            "decision": leg.decision.map(decision) ?? .null,
            "waits_for": wait(leg.wait),
            "sentences": sentences(leg.sentences),
        ])
    }

    private static func known(_ known: Observation) -> JSONValue {
        .members([
            "status": .string(known.status.rawValue), "read_at": .string(known.began.rfc3339),
            "source": .string(known.source.rawValue), "reason": .optional(known.reason),
        ])
    }

    private static func decision(_ considered: PaymentConsideration) -> JSONValue {
        .members([
            "row": .string(considered.verdict.row), "decision": .string(considered.verdict.decision.name),
            "facts": .string(considered.facts.text),
        ])
    }

    private static func decision(_ considered: EffectConsideration) -> JSONValue {
        .members([
            "effect": .string(considered.effect.description), "row": .string(considered.verdict.row),
            "decision": .string(considered.verdict.decision.name), "facts": .string(considered.facts.text),
        ])
    }

    private static func wait(_ wait: LegExplanation.Wait) -> JSONValue {
        switch wait {
        case .nothing: return .members(["what": .string("nothing")])
        case .answer(let effect, let attempt, let since):
            return .members([
                "what": .string("answer"), "effect": .string(effect.description), "attempt": .integer(attempt),
                "since": .string(since.rfc3339),
            ])
        case .payment: return .members(["what": .string("other_legs")])
        case .step: return .members(["what": .string("step")])
        case .moment(_, let moment): return .members(["what": .string("moment"), "until": .string(moment.rfc3339)])
        case .event(let decision):
            return .members(["what": .string("event"), "event": .string(decision.name)])
        case .people(let cause, let row, let since):
            return .members([
                "what": .string("people"), "cause": .string(cause.rawValue), "row": .string(row),
                "since": .string(since.rfc3339),
            ])
        case .configuration(.notConfigured): return .members(["what": .string("configuration")])
        case .configuration(.otherKeySpace(_, let its, let configured)):
            return .members([
                "what": .string("key_space"), "key_space": .string(its.name), "configured": .string(configured.name),
            ])
        }
    }

    private static func sentences(_ sentences: [String]) -> JSONValue { .array(sentences.map { .string($0) }) }
}

/// The same document for commands, which are told what operators are.
public enum ExplanationDocument {
    /// One line of JSON.
    public static func json(_ explanation: PaymentExplanation) -> String {
        String(decoding: ExplanationRendering.explanation(explanation).bytes, as: UTF8.self)
    }
}
