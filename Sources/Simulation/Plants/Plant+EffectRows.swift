internal import PaymentCore

/// Table A with a row changed.
extension Plant {
    static let ofEffectRows: [PlantedBug] = [
        effect(
            "notFoundIsNever", "not found is taken for never", within: 10, breaks: [1, 7],
            row { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    ? .gone(.neverHappened) : nil
            }),
        effect(
            "proofNotAwaited", "what is not found is called gone before not_after is past", within: 40,
            breaks: [1, 7], row { $0.proof == .notYet && $0.status == .notFound ? .gone(.neverHappened) : nil },
            in: .doubtful),
        effect(
            "unboundDeclineIsGone", "a decline that is not bound to its key is taken for gone", within: 12,
            breaks: [1, 7], row { $0.status == .declinedUnbound ? .gone(.status) : nil }, in: .unbound),
        effect(
            "pendingIsGone", "what is still pending is not undone", within: 40, breaks: [1, 7],
            row { $0.goal == .undo && $0.status == .pending ? .gone(.status) : nil }),
        effect(
            "unreachableIsNotFound", "a status that cannot be read is taken for not found", within: 10,
            breaks: [1, 7],
            row { facts in
                facts.goal == .undo && facts.status == .unavailable ? .gone(.neverHappened) : nil
            }),
        effect(
            "notFoundNeedsNoTombstone", "what is to be undone and not found needs no tombstone", within: 60,
            breaks: [1, 7],
            row { facts in
                facts.goal == .undo && facts.status == .notFound && facts.tombstoneOffered
                    ? .gone(.neverHappened) : nil
            }, in: .doubtful),
        effect(
            "holdLeft", "a hold that is not wanted any more is left to itself", within: 6, breaks: [7],
            row { $0.goal == .undo && $0.status == .held ? .gone(.neverHappened) : nil }),
        effect(
            "chargeNotRefunded", "what was taken and is not wanted is called gone", within: 12, breaks: [1, 7],
            row { $0.goal == .undo && $0.status == .taken ? .gone(.status) : nil }),
        effect(
            "contradictionIgnored", "another amount than was asked for is taken for gone", within: 12,
            breaks: [1, 7, 8],
            row { $0.status == .contradiction ? .gone(.status) : nil }, in: .contradicting),
        effect(
            "ageIgnored", "a key is sent again however old it is", within: 150, breaks: [2, 15],
            TableA(rows: [anyAge]), in: .forgetful),
        effect(
            "doubtGivenToPeople", "what may safely be sent again is left to people", within: 5, breaks: [15],
            row { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    && facts.age == .safe && !facts.lastRefused ? .quarantine(.keyTooOld) : nil
            }),
    ]

    private static func effect(
        _ name: String, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>, _ table: TableA,
        in surroundings: Surroundings = Surroundings()
    ) -> PlantedBug {
        PlantedBug(
            Plant(name: name, sentence: sentence, table: table, surroundings: surroundings),
            withinSeeds: seeds, invariants: invariants)
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
