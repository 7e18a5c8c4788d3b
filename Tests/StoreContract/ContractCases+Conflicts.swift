internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let conflicts: [ContractCase] = [
        ContractCase("a change of a version that is no longer current writes nothing") { it in
            var work = try await it.create(Scenario.Order("k1"))
            var late = work
            try await it.save(&work, .inquireNow)
            try await unchanged(it, work.payment.id) {
                _ = late.machine.handle(.inquireNow, try it.context())
                let record = try it.record(work.payment, key: "c1", .cancel)
                for lease in [PaymentChange.LeaseRequirement.holding(work.token), .releasing(work.token), .none] {
                    let result = try await it.store.commit(late.change(lease, record))
                    try require(result, is: .versionConflict, "the result under \(lease)")
                }
            }
            let key = try IdempotencyKey("c1")
            let record = try await it.store.idempotencyRecord(caller: work.payment.caller, key: key)
            try require(record, is: nil, "the record of the refused change")
        },
        ContractCase("a change of a payment that is not there writes nothing") { it in
            let draft = try it.draft(Scenario.Order("k1")).work
            let result = try await it.store.commit(draft.change(.none))
            try require(result, is: .versionConflict, "the result")
            try require(try await it.store.payment(draft.payment.id), is: nil, "the payment")
        },
        ContractCase("a change under a lease that another took writes nothing") { it in
            let first = try await it.create(Scenario.Order("k1"))
            it.clock.advance(by: .minutes(2))
            let id = first.payment.id
            let taken = try await it.store.claim(id, holder: "other", leaseFor: .minutes(1))
            let second = try require(taken, "the second claim")
            try require(second.token > first.token, "a claim's token is higher than the one before")
            try await unchanged(it, id) {
                var late = first
                _ = late.machine.handle(.inquireNow, try it.context())
                for lease in [PaymentChange.LeaseRequirement.holding(first.token), .releasing(first.token)] {
                    try require(try await it.store.commit(late.change(lease)), is: .leaseLost, "the result")
                }
            }
            var work = Work(machine: PaymentMachine(payment: second.payment), token: second.token)
            try await it.save(&work, .inquireNow)
        },
        ContractCase("a lease that ran out and that nobody took is still its holder's") { it in
            var work = try await it.create(Scenario.Order("k1"))
            it.clock.advance(by: .days(1))
            try await it.save(&work, .inquireNow)
            try await it.save(&work, .inquireNow, ends: true)
        },
        ContractCase("a releasing change ends the lease") { it in
            var work = try await it.create(Scenario.Order("k1"))
            try await it.save(&work, .inquireNow, ends: true)
            _ = work.machine.handle(.inquireNow, try it.context())
            let result = try await it.store.commit(work.change(.holding(work.token)))
            try require(result, is: .leaseLost, "the result under the ended lease")
            let claimed = try await it.store.claim(work.payment.id, holder: "other", leaseFor: .minutes(1))
            try require(claimed?.token, is: LeaseToken(2), "the next token")
        },
        ContractCase("a change without a lease goes by the version alone and leaves the lease") { it in
            var work = try await it.create(Scenario.Order("k1"))
            var caller = work
            _ = caller.machine.handle(.inquireNow, try it.context())
            let record = try it.record(work.payment, key: "c1", .cancel)
            let result = try await it.store.commit(caller.change(.none, record))
            try require(result, is: .committed(version: 2, lease: nil), "the result")
            let other = try await it.store.claim(work.payment.id, holder: "other", leaseFor: .minutes(1))
            try require(other == nil, "the holder's lease still runs")
            work.machine.rebase(on: try await it.stored(work.payment.id))
            try await it.save(&work, .inquireNow)
            try require(work.payment.version, is: 3, "the version")
        },
        ContractCase("entries that do not continue the stored trail are refused") { it in
            var work = try await it.create(Scenario.Order("k1"))
            let skipped = work
            _ = work.machine.handle(.inquireNow, try it.context())
            try await unchanged(it, work.payment.id) {
                try await require(.other) {
                    _ = try await it.store.commit(
                        PaymentChange(payment: work.payment, entries: [], lease: .holding(work.token)))
                }
                try await require(.other) {
                    let change = PaymentChange(
                        payment: skipped.payment, entries: work.machine.newEntries, lease: .holding(work.token))
                    _ = try await it.store.commit(change)
                }
            }
        },
    ]

    /// Requires that nothing of a payment changes.
    private static func unchanged(
        _ it: Scenario, _ id: PaymentID, _ attempts: () async throws -> Void
    ) async throws {
        let payment = try await it.stored(id)
        let trail = try await it.store.auditTrail(of: id, after: 0, limit: 1_000)
        try await attempts()
        try require(try await it.stored(id), is: payment, "the payment")
        try require(try await it.store.auditTrail(of: id, after: 0, limit: 1_000), is: trail, "the trail")
    }
}
