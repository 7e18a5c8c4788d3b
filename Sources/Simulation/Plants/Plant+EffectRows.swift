internal import PaymentCore

/// The effect table with a row changed.
extension Plant {
    static let ofEffectRows: [PlantedBug] = [
        bug(
            "notFoundIsNever", "not found is taken for never", within: 40, breaks: [1, 7],
            effectTable: .withRow { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    ? .gone(.neverHappened) : nil
            }),
        bug(
            "proofNotAwaited", "what is not found is called gone before not_after is past", within: 40,
            breaks: [1, 7],
            effectTable: .withRow { $0.proof == .notYet && $0.status == .notFound ? .gone(.neverHappened) : nil },
            in: .doubtful),
        bug(
            "unboundDeclineIsGone", "a decline that is not bound to its key is taken for gone", within: 12,
            breaks: [1, 7], effectTable: .withRow { $0.status == .declinedUnbound ? .gone(.status) : nil }, in: .unbound
        ),
        bug(
            "pendingIsGone", "what is still pending is not undone", within: 40, breaks: [1, 7],
            effectTable: .withRow {
                $0.goal == .undo && $0.status == .pending ? .gone(.status) : nil
            }, in: .uncompared),
        bug(
            "unreachableIsNotFound", "a status that cannot be read is taken for not found", within: 10,
            breaks: [1, 7],
            effectTable: .withRow { facts in
                facts.goal == .undo && facts.status == .unavailable ? .gone(.neverHappened) : nil
            }),
        bug(
            "notFoundNeedsNoTombstone", "what is to be undone and not found needs no tombstone", within: 60,
            breaks: [1, 7],
            effectTable: .withRow { facts in
                facts.goal == .undo && facts.status == .notFound && facts.tombstoneOffered
                    ? .gone(.neverHappened) : nil
            }, in: .doubtful),
        bug(
            "holdLeft", "a hold that is not wanted any more is left to itself", within: 6, breaks: [7],
            effectTable: .withRow { $0.goal == .undo && $0.status == .held ? .gone(.neverHappened) : nil }),
        bug(
            "chargeNotRefunded", "what was taken and is not wanted is called gone", within: 12, breaks: [1, 7],
            effectTable: .withRow { $0.goal == .undo && $0.status == .taken ? .gone(.status) : nil }),
        bug(
            "contradictionIgnored", "another amount than was asked for is taken for gone", within: 12,
            breaks: [1, 7, 8],
            effectTable: .withRow { $0.status == .contradiction ? .gone(.status) : nil }, in: .contradicting),
        bug(
            "ageIgnored", "a key is sent again however old it is", within: 150, breaks: [2, 15],
            effectTable: .seeing { $0.age = .safe }, in: .forgetful),
        bug(
            "begunUnasked", "what had no effect is begun after lost rows without being asked for again", within: 60,
            breaks: [15], effectTable: .seeing { $0.awaitsCaller = false }, in: .lossy),
        bug(
            "disputesIgnored", "what is disputed is given back all the same", within: 60, breaks: [26],
            effectTable: .seeing { $0.isDisputed = false }, in: .disputed),
        bug(
            "doubtGivenToPeople", "what may safely be sent again is left to people", within: 5, breaks: [15],
            effectTable: .withRow { facts in
                facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
                    && facts.age == .safe && !facts.lastRefused ? .quarantine(.keyTooOld) : nil
            }),
    ]
}
