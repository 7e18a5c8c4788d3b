internal import PaymentCore

extension SearchPlant {
    /// A planted decision, where it is looked for, and what must be found.
    public struct Expectation: Sendable {
        /// The change.
        public let plant: SearchPlant
        /// The world in which it does harm.
        public let scenario: Scenario
        /// The invariant that it breaks; 15 stands for a payment that never ends as well.
        public let invariants: Set<Int>

        /// Whether a report is what must be found.
        public func isMet(by report: SearchReport) -> Bool {
            switch report.verdict {
            case .violated(let finding, _): invariants.contains(finding.invariant)
            case .stuck: invariants.contains(15)
            case .safe, .unfinished, .unsound: false
            }
        }
    }

    /// Every unsafe decision of the models, and those that this search found in the shipped decision before they were
    /// mended. The search must find each of them.
    public static let planted: [Expectation] =
        ofMemoryAndAnswers + ofOneLeg + ofLateWriters + ofLostRows + ofPeople + ofResends

    private static let ofOneLeg: [Expectation] = [
        expect(
            SearchPlant(
                "1", "not found is taken for never",
                effectTable: .withRow(
                    EffectTable.Row("do.not-found-is-never", when: isNotFound, then: { _ in .gone(.neverHappened) }))),
            .make("one leg", [Scenario.tombstone]), [7]),
        expect(
            SearchPlant("2", "a new key for each attempt", behaviorChanges: [.keysNotHonoured]),
            .make("one leg", [Scenario.tombstone]), [2]),
        expect(
            SearchPlant(
                "5", "the life of requests is waited for, and a paused sender outlives it",
                behaviorChanges: [.notAfterNotEnforced]),
            .make("one leg, not_after", [Scenario.notAfter]), [7]),
        expect(
            SearchPlant("6, A10", "D is judged by the end of a read", behaviorChanges: [.readsDatedByTheirEnd]),
            .make("one leg, not_after, reads take time", [Scenario.notAfter]) { $0.readsTakeTime = true }, [7]),
        expect(
            SearchPlant(
                "11", "a decline that is not bound is taken for gone",
                effectTable: .withRow(
                    EffectTable.Row(
                        "declined-is-gone", when: { $0.status == .declinedUnbound }, then: { _ in .gone(.status) }))),
            .make("one leg, declines not bound", [Scenario.unbound]), [7]),
        expect(
            SearchPlant("12", "the cancel leaves before the latch is durable", behaviorChanges: [.sendsBeforeCommit]),
            .make("one sale that cancel reverses, declines not bound", [Scenario.reversingUnboundSale]), [8, 4]),
        expect(
            SearchPlant("15", "the age of a key is not asked", effectTable: withoutAge),
            .make("one leg, keys and statuses are forgotten", [Scenario.forgettingAll]) {
                $0.answers = .transaction
                $0.requestLife = .bounded
                $0.quarantineExpected = true
            }, [2]),
        expect(
            SearchPlant(
                "16", "the age is judged when the intent is written, and the sender is paused",
                behaviorChanges: [.requestsOutliveTheirLife]),
            .make("one leg, keys are forgotten", [Scenario.forgetful]) {
                $0.requestLife = .bounded
                $0.quarantineExpected = true
            }, [2]),
    ]

    private static let ofPeople: [Expectation] = [
        expect(
            SearchPlant(
                "people, a sale", "two people call a sale never made while its request is still on its way",
                behaviorChanges: [.peopleDoNotWait]),
            .make("one sale, statuses are forgotten, not_after, careful people", [Scenario.forgettingStatus]) {
                $0.answers = [.transaction, .unsent]
                $0.readsTakeTime = true
                $0.people = .careful
                $0.quarantineExpected = true
            }, [7]),
        expect(
            SearchPlant(
                "people, a refund", "two people call a refund never made while its request is still on its way",
                behaviorChanges: [.peopleDoNotWait]),
            .make("one leg, another amount is shown, a refund, careful people", [Scenario.notAfterLagging]) {
                $0.answers = [.transaction, .unsent]
                $0.mayContradict = true
                $0.refunds = [300]
                $0.people = .careful
                $0.quarantineExpected = true
            }, [1]),
    ]

    private static let ofLateWriters: [Expectation] = [
        expect(
            SearchPlant(
                "A15", "a second task of the worker writes without comparing the version",
                behaviorChanges: [.lateWritesAccepted]),
            .make("one leg, unsent at first", [Scenario.tombstone]) { $0.answers = .unsent }, [7, 4, 6]),
        expect(
            SearchPlant(
                "A17", "a cancel handler ends the payment, and the worker writes without comparing the version",
                behaviorChanges: [.lateWritesAcceptedBesideHandler]),
            .make("one leg, unsent at first", [Scenario.tombstone]) { $0.answers = .unsent }, [7, 4, 6]),
    ]

    private static let ofMemoryAndAnswers: [Expectation] = [
        expect(
            SearchPlant(
                "forgotten key", "a tombstone on a key that the provider has forgotten is taken for the end of it",
                effectTable: .seeing { $0.memory = .whole }),
            .make("one sale, keys and statuses are forgotten", [Scenario.forgettingAllSale]) {
                $0.requestLife = .bounded
                $0.quarantineExpected = true
            }, [7]),
        expect(
            SearchPlant(
                "stray answer", "a refusal that names no key ends the payment",
                behaviorChanges: [.keylessAnswersBelieved]),
            .make("one leg, stray refusals", [Scenario.tombstone]) { $0.answers = .stray }, [7]),
        expect(
            SearchPlant(
                "unbound decline", "a decline that is not bound counts as the end before its requests are dead",
                effectTable: .seeing { $0.lifeIsOver = true }),
            .make("one leg, declines not bound, no tombstone", [Scenario.plugUnbound]) {
                $0.plugAllowed = true
                $0.requestLife = .bounded
                $0.answers = .transaction
                $0.quarantineExpected = true
            }, [7]),
        expect(
            SearchPlant(
                "refund in doubt", "a refund that was refused by a stray answer fails before its request is dead",
                effectTable: .seeing { facts in
                    guard facts.purpose == .refund, facts.lastRefused else { return }
                    facts.lifeIsOver = true
                    facts.visibility = .missedTwice
                }),
            .make("one leg, stray refusals, a refund", [Scenario.tombstone]) {
                $0.requestLife = .bounded
                $0.refunds = [300]
                $0.answers = [.transaction, .stray]
            }, [1]),
    ]

    private static let ofLostRows: [Expectation] = [
        expect(SearchPlant("C0", "no recovery window", behaviorChanges: [.recoverySkipped]), lossy(1), [4, 7, 8]),
        expect(
            SearchPlant(
                "C1b", "a cancel outranks the proof of a captured leg",
                paymentTable: .withRow("none.stop") { facts in
                    let mayLatch = facts.latch == .none && facts.legs.allSatisfy(\.freshlyRead)
                    return facts.stopAsked && mayLatch ? .latch(.back) : nil
                }), lossy(1), [4, 8]),
        expect(
            SearchPlant(
                "C2", "canceled is told before the latch is acknowledged", behaviorChanges: [.latchesCalledAcknowledged]
            ),
            .make("one leg, unsent at first, one failover", [Scenario.tombstone]) {
                $0.losses = .failovers(1)
                $0.answers = .unsent
            }, [4]),
        expect(
            SearchPlant("C5", "a refund leaves before its latch is acknowledged", effectTable: withEarlyRefund),
            lossy(2), [8]
        ),
        expect(
            SearchPlant("E1", "a sale's refund leaves before its latch is acknowledged", effectTable: withEarlyRefund),
            .make("one sale, one failover", [Scenario.sale]) { $0.losses = .failovers(1) }, [8]),
        expect(
            SearchPlant(
                "C9", "refunded does not count as gone",
                effectTable: .withRow(
                    EffectTable.Row(
                        "refunded-is-open", when: { $0.status == .refunded && $0.trust != .trusted },
                        then: { _ in .keep }))),
            .make("a leg and a sale, one failover", [Scenario.tombstone, Scenario.sale]) {
                $0.losses = .failovers(1)
                $0.refusals = [.capture]
            }, [15]),
        expect(
            SearchPlant("C12", "stale reads count in a recovery window", behaviorChanges: [.staleReadsCount]),
            .make("one leg, one failover, stale reads", [Scenario.lagging]) { $0.losses = .failovers(1) }, [4, 8]),
        expect(
            SearchPlant("C27", "D is judged by the surviving rows only", behaviorChanges: [.lostNotAfterForgotten]),
            .make("one leg, one failover, not_after", [Scenario.notAfter]) { $0.losses = .failovers(1) }, [7]),
        expect(
            SearchPlant("W1", "after a restore, what was never sent was not tombstoned"),
            .make("one leg, one restore", [Scenario.tombstone]) {
                $0.losses = .restores(1)
                $0.answers = .unsent
                $0.requestLife = .bounded
            }, [4]),
        expect(
            SearchPlant(
                "refund unasked", "after lost rows a refund is sent before it is asked about",
                behaviorChanges: [.refundsOutsideWindow]),
            .make("one leg, one failover, a refund of which the key is forgotten", [Scenario.forgetful]) {
                $0.losses = .failovers(1)
                $0.requestLife = .bounded
                $0.refunds = [300]
                $0.quarantineExpected = true
            }, [2]),
        expect(
            SearchPlant("W3", "after a restore, old requests are alive", behaviorChanges: [.requestsOutliveTheirLife]),
            .make("one leg, two restores", [Scenario.tombstone]) {
                $0.losses = .restores(2)
                $0.requestLife = .bounded
                $0.tombstonesNeverSent = true
            }, [4, 7, 8]),
        expect(
            SearchPlant("trap 10", "a partitioned old site goes on deciding", behaviorChanges: [.oldSiteGoesOn]),
            lossy(1),
            [4, 7, 8]),
        expect(
            SearchPlant(
                "E4", "a cancel that reverses a sale leaves before its latch is acknowledged",
                effectTable: EffectTable(
                    rows: EffectTable.shipped.rows.filter { $0.name != "undo.cancel-latch-unacknowledged" })),
            .make("one sale that cancel reverses, one failover", [Scenario.reversingSale]) {
                $0.losses = .failovers(1)
            }, [8]),
        expect(
            SearchPlant(
                "M1", "captures leave before the request that named them is acknowledged",
                paymentTable: .seeing { $0.hasCaptureRequest = false }),
            .make("one leg, manual capture of a part, one failover", [Scenario.tombstone]) {
                $0.losses = .failovers(1)
                $0.captureMode = .manual
                $0.capturesPart = true
            }, [10, 15, 1, 4]),
    ]

    static func expect(_ plant: SearchPlant, _ scenario: Scenario, _ invariants: Set<Int>) -> Expectation {
        Expectation(plant: plant, scenario: scenario, invariants: invariants)
    }

    private static func lossy(_ failovers: Int) -> Scenario {
        .make("one leg, \(failovers) failover\(failovers > 1 ? "s" : "")", [Scenario.tombstone]) {
            $0.losses = .failovers(failovers)
        }
    }

    private static let isNotFound: @Sendable (EffectFacts) -> Bool = { facts in
        facts.goal == .do && facts.worst == .indeterminate && facts.status == .notFound
    }

    private static let withoutAge = EffectTable(
        rows: EffectTable.shipped.rows.map { row in
            EffectTable.Row(
                row.name, when: { row.applies(to: ageless($0)) },
                then: { EffectTable(rows: [row]).decide(ageless($0)).decision }
            )
        })

    private static func ageless(_ facts: EffectFacts) -> EffectFacts {
        var facts = facts
        facts.age = .safe
        return facts
    }

    private static let withEarlyRefund = EffectTable.withRow(
        EffectTable.Row(
            "refund-at-once", when: { $0.goal == .undo && $0.status == .taken }, then: { _ in .refund }))
}
