internal import PaymentCore

/// The payment table with a row changed.
extension Plant {
    static let ofPaymentRows: [PlantedBug] = [
        bug(
            "cancelBeforeProof", "a cancel outranks the proof of a captured leg", within: 100, breaks: [4, 6, 8],
            paymentTable: .withRow { facts in
                let mayLatch = facts.latch == .none && facts.legs.allSatisfy(\.freshlyRead)
                return facts.stopAsked && mayLatch ? .latch(.back) : nil
            }, in: .lossy),
        bug(
            "captureLostForgotten", "a capture that can no longer be had counts as made", within: 20, breaks: [1, 8],
            paymentTable: .seeing { facts in
                for index in facts.legs.indices where facts.legs[index].forward == .unattainable {
                    facts.legs[index].forward = .done
                }
            }),
        bug(
            "captureLostNotCompensated", "a capture that can no longer be had is waited for", within: 20,
            breaks: [15],
            paymentTable: .withRow { facts in
                facts.latch == .forward && facts.legs.contains { $0.forward == .unattainable } ? .wait : nil
            }),
        bug(
            "compensationForgotten", "a payment that is compensated ends before anything is given back", within: 20,
            breaks: [1, 7, 15], paymentTable: .withRow { $0.latch == .compensate ? .conclude(.compensated) : nil },
            in: .declined),
        bug(
            "goneLegForgotten", "the other legs go on when one is gone", within: 20, breaks: [8],
            paymentTable: .seeing { facts in
                for index in facts.legs.indices where facts.legs[index].standing == .gone && facts.latch == .none {
                    facts.legs[index].standing = .taken
                }
                for index in facts.legs.indices where facts.legs[index].forward == .unattainable {
                    facts.legs[index].forward = .done
                }
            }),
        bug(
            "lostLegWaitedFor", "a leg that is gone does not latch the payment back", within: 12, breaks: [15],
            paymentTable: .withRow { facts in
                let isLost = facts.legs.contains { $0.standing == .lost || $0.standing == .gone }
                return facts.latch == .none && isLost ? .wait : nil
            }),
        bug(
            "stopIgnored", "neither a cancel nor the deadline stops a payment", within: 5, breaks: [4, 15],
            paymentTable: .seeing { $0.stopAsked = false }),
        bug(
            "quarantineConcluded", "a payment ends although a leg of it is quarantined", within: 12,
            breaks: [1, 7, 15],
            paymentTable: .seeing { facts in
                guard facts.latch == .back || facts.latch == .compensate else { return }
                for index in facts.legs.indices where facts.legs[index].standing == .quarantined {
                    facts.legs[index].standing = .gone
                }
            }),
        bug(
            "holdCaptured", "what the caller wanted held only is captured at once", within: 8, breaks: [4, 8],
            paymentTable: .seeing { $0.holdOnly = false }),
        bug(
            "endToldBeforeAcknowledged", "an end is told before its latch is acknowledged", within: 100,
            breaks: [4, 6], paymentTable: .seeing { $0.latchAcknowledged = true }, in: .lossyEnds),
        bug(
            "latchesUnread", "in a recovery window the payment latches before every leg was read", within: 60,
            breaks: [1, 4, 6, 7, 8, 15],
            paymentTable: .seeing { facts in
                for index in facts.legs.indices { facts.legs[index].freshlyRead = true }
            }, in: .lossy),
    ]
}
