internal import PaymentCore

/// Table A with a row changed.
extension Plant {
    static let ofEffectRows: [PlantedBug] = [
        effect(
            "notFoundIsNever", "not found is taken for never", within: 200, breaks: [1, 7],
            row { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    ? .gone(.neverHappened) : nil
            }),
        effect(
            "proofNotAwaited", "what is not found is called gone before not_after is past", within: 200,
            breaks: [1, 7], row { $0.proof == .notYet && $0.status == .notFound ? .gone(.neverHappened) : nil }),
        effect(
            "unboundDeclineIsGone", "a decline that is not bound to its key is taken for gone", within: 200,
            breaks: [1, 7], row { $0.status == .declinedUnbound ? .gone(.status) : nil }),
        effect(
            "pendingIsGone", "what is still pending is not undone", within: 200, breaks: [1, 7],
            row { $0.goal == .undo && $0.status == .pending ? .gone(.status) : nil }),
        effect(
            "unreachableIsNotFound", "a status that cannot be read is taken for not found", within: 200,
            breaks: [1, 7],
            row { facts in
                facts.goal == .undo && facts.status == .unavailable ? .gone(.neverHappened) : nil
            }),
        effect(
            "doubtEndedByRefusal", "a refusal of a later attempt ends the doubt about an earlier one", within: 200,
            breaks: [1, 7],
            row { facts in
                facts.worst == .indeterminate && facts.lastRefused && facts.status == .notFound
                    ? .gone(.refused) : nil
            }),
        effect(
            "notFoundNeedsNoTombstone", "what is to be undone and not found needs no tombstone", within: 200,
            breaks: [1, 7],
            row { facts in
                facts.goal == .undo && facts.status == .notFound && facts.tombstoneOffered
                    ? .gone(.neverHappened) : nil
            }),
        effect(
            "holdLeft", "a hold that is not wanted any more is left to itself", within: 200, breaks: [7],
            row { $0.goal == .undo && $0.status == .held ? .gone(.neverHappened) : nil }),
        effect(
            "chargeNotRefunded", "what was taken and is not wanted is called gone", within: 200, breaks: [1, 7],
            row { $0.goal == .undo && $0.status == .taken ? .gone(.status) : nil }),
        effect(
            "contradictionIgnored", "another amount than was asked for is taken for done", within: 200,
            breaks: [1, 8],
            row { $0.goal == .do && $0.status == .contradiction ? .done : nil }),
        effect(
            "ageIgnored", "a key is sent again however old it is", within: 200, breaks: [2, 15],
            TableA(rows: [anyAge])),
        effect(
            "missingWaitedFor", "what was accepted and is missing is waited for without end", within: 200,
            breaks: [15],
            row { facts in
                facts.goal == .do && facts.worst == .accepted && facts.visibility == .missedTwice
                    && facts.status == .notFound ? .awaitVisibility : nil
            }),
        effect(
            "doubtGivenToPeople", "what may safely be sent again is left to people", within: 200, breaks: [15],
            row { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    && facts.age == .safe && !facts.lastRefused ? .quarantine(.keyTooOld) : nil
            }),
        effect(
            "refundBeforeAcknowledged", "a charge is given back before its latch is acknowledged", within: 200,
            breaks: [1, 4, 6, 8, 12], row { $0.goal == .undo && $0.status == .taken ? .refund : nil }),
        effect(
            "neverSentOnUntrustedRows", "rows that were lost say that nothing was sent, and are believed", within: 200,
            breaks: [1, 4, 6, 7],
            row { facts in
                facts.goal == .undo && facts.worst <= .unsent && facts.status != .held && facts.status != .taken
                    ? .gone(.neverSent) : nil
            }),
    ]

    private static func effect(
        _ name: String, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>, _ table: TableA
    ) -> PlantedBug {
        PlantedBug(
            Plant(name: name, sentence: sentence, table: table), withinSeeds: seeds, invariants: invariants)
    }

    /// The shipped table under one more row.
    private static func row(_ decide: @escaping @Sendable (EffectFacts) -> EffectDecision?) -> TableA {
        let planted = TableA.Row("planted", when: { decide($0) != nil }, then: { decide($0) ?? .keep })
        return TableA(rows: [planted] + TableA.shipped.rows)
    }

    private static let anyAge = TableA.Row(
        "planted", when: { _ in true },
        then: { facts in
            var facts = facts
            facts.age = .safe
            return TableA.shipped.decide(facts).decision
        })
}
