internal import PaymentCore

/// Table B with a row changed.
extension Plant {
    static let ofPaymentRows: [PlantedBug] = [
        payment(
            "cancelBeforeProof", "a cancel outranks the proof of a captured leg", within: 100, breaks: [4, 6, 8],
            verdict { facts in
                let mayLatch = facts.latch == .none && facts.legs.allSatisfy(\.freshlyRead)
                return facts.stopAsked && mayLatch ? .latch(.back) : nil
            }, in: .lossy),
        payment(
            "captureLostForgotten", "a capture that can no longer be had counts as made", within: 20, breaks: [1, 8],
            changed { facts in
                for place in facts.legs.indices where facts.legs[place].forward == .unattainable {
                    facts.legs[place].forward = .done
                }
            }),
        payment(
            "captureLostNotCompensated", "a capture that can no longer be had is waited for", within: 20,
            breaks: [15],
            verdict { facts in
                facts.latch == .forward && facts.legs.contains { $0.forward == .unattainable } ? .wait : nil
            }),
        payment(
            "compensationForgotten", "a payment that is compensated ends before anything is given back", within: 50,
            breaks: [1, 7, 15], verdict { $0.latch == .compensate ? .conclude(.compensated) : nil },
            in: .declined),
        payment(
            "goneLegForgotten", "the other legs go on when one is gone", within: 20, breaks: [8],
            changed { facts in
                for place in facts.legs.indices where facts.legs[place].standing == .gone && facts.latch == .none {
                    facts.legs[place].standing = .taken
                }
                for place in facts.legs.indices where facts.legs[place].forward == .unattainable {
                    facts.legs[place].forward = .done
                }
            }),
        payment(
            "lostLegWaitedFor", "a leg that is gone does not latch the payment back", within: 12, breaks: [15],
            verdict { facts in
                let isLost = facts.legs.contains { $0.standing == .lost || $0.standing == .gone }
                return facts.latch == .none && isLost ? .wait : nil
            }),
        payment(
            "stopIgnored", "neither a cancel nor the deadline stops a payment", within: 5, breaks: [4, 15],
            changed { $0.stopAsked = false }),
        payment(
            "quarantineConcluded", "a payment ends although a leg of it is quarantined", within: 12,
            breaks: [1, 7, 15],
            changed { facts in
                guard facts.latch == .back || facts.latch == .compensate else { return }
                for place in facts.legs.indices where facts.legs[place].standing == .quarantined {
                    facts.legs[place].standing = .gone
                }
            }),
        payment(
            "holdCaptured", "what the caller wanted held only is captured at once", within: 8, breaks: [4, 8],
            changed { $0.holdOnly = false }),
        payment(
            "endToldBeforeAcknowledged", "an end is told before its latch is acknowledged", within: 100,
            breaks: [4, 6], changed { $0.latchAcknowledged = true }, in: .lossy),
        payment(
            "latchesUnread", "in a recovery window the payment latches before every leg was read", within: 60,
            breaks: [1, 4, 6, 7, 8, 15],
            changed { facts in
                for place in facts.legs.indices { facts.legs[place].freshlyRead = true }
            }, in: .lossy),
    ]

    private static func payment(
        _ name: String, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>, _ table: TableB,
        in surroundings: Surroundings = Surroundings()
    ) -> PlantedBug {
        PlantedBug(
            Plant(name: name, sentence: sentence, paymentTable: table, surroundings: surroundings),
            withinSeeds: seeds, invariants: invariants)
    }

    /// The shipped table under one more row.
    private static func verdict(_ decide: @escaping @Sendable (PaymentFacts) -> PaymentDecision?) -> TableB {
        TableB { facts in
            decide(facts).map { TableB.Verdict("planted", $0) } ?? TableB.shipped.decide(facts)
        }
    }

    /// The shipped table over facts that are seen wrongly.
    private static func changed(_ distort: @escaping @Sendable (inout PaymentFacts) -> Void) -> TableB {
        TableB { facts in
            var facts = facts
            distort(&facts)
            return TableB.shipped.decide(facts)
        }
    }
}
