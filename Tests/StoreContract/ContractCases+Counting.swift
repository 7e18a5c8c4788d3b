internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let counting: [ContractCase] = [
        ContractCase("an empty store counts nothing") { it in
            let expected = StoreStatistics(
                paymentsByState: [:], due: 0, oldestUnsettled: nil, waiting: [:], oldestUnsealed: nil)
            try require(try await it.store.statistics(), is: expected, "the counts")
        },
        ContractCase("payments are counted by the state that they have now") { it in
            try await it.settle(Scenario.Order("k1"))
            try await it.settle(Scenario.Order("k2"))
            var manual = Scenario.Order("k3")
            manual.capture = .manual
            try await it.settle(manual)
            it.clock.advance(by: .seconds(9))
            let unsettled = it.clock.now()
            try await it.create(Scenario.Order("k4"))
            _ = try await quarantined(it, "k5")
            let counts = try await it.store.statistics()
            let expected: [PaymentState: Int] = [.succeeded: 2, .authorized: 1, .processing: 1, .quarantined: 1]
            try require(counts.paymentsByState, is: expected, "the counts by state")
            try require(counts.oldestUnsettled, is: unsettled, "the oldest unsettled")
        },
        ContractCase("what rests in authorized or is final is not unsettled") { it in
            try await it.settle(Scenario.Order("k1"))
            var manual = Scenario.Order("k2")
            manual.capture = .manual
            try await it.settle(manual)
            try require(try await it.store.statistics().oldestUnsettled, is: nil, "the oldest unsettled")
        },
        ContractCase("the oldest entry that no seal covers is known") { it in
            let begun = it.clock.now()
            try await it.create(Scenario.Order("k1"))
            it.clock.advance(by: .seconds(9))
            try await it.create(Scenario.Order("k2"))
            try require(try await it.store.statistics().oldestUnsealed, is: begun, "the oldest before the seal")
            _ = try await it.store.seal()
            try require(try await it.store.statistics().oldestUnsealed, is: nil, "the oldest after the seal")
            it.clock.advance(by: .seconds(9))
            let later = it.clock.now()
            try await it.create(Scenario.Order("k3"))
            try require(try await it.store.statistics().oldestUnsealed, is: later, "the oldest since the seal")
        },
        ContractCase("due is what is due and not leased") { it in
            try await it.createFree(Scenario.Order("k1"))
            try await it.create(Scenario.Order("k2"))
            try await it.settle(Scenario.Order("k3"))
            try require(try await it.store.statistics().due, is: 1, "the number due")
            it.clock.advance(by: .minutes(2))
            try require(try await it.store.statistics().due, is: 2, "the number due when a lease ran out")
            _ = try await it.store.claimDue(request(9))
            try require(try await it.store.statistics().due, is: 0, "the number due when all is claimed")
        },
    ]
}
