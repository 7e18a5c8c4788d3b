internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let keys: [ContractCase] = [
        ContractCase("a key's record reads back equal, also with an answer and when it is pruned") { it in
            let draft = try it.draft(Scenario.Order("k1")).work
            var record = try it.record(draft.payment)
            record.answer = StoredAnswer(
                status: 201, contentType: "application/json", location: "/v1/payments/x",
                body: Array((0...255).map { UInt8($0) }))
            let creating = PaymentChange.LeaseRequirement.creating(holder: "w", leaseFor: .minutes(1))
            _ = try await it.store.commit(draft.change(creating, record))
            let found = try await it.store.idempotencyRecord(caller: record.caller, key: record.key)
            try require(found, is: record, "the record")
            var work = Work(
                machine: PaymentMachine(payment: try await it.stored(draft.payment.id)), token: LeaseToken(1))
            var pruned = try it.record(draft.payment, key: "c1", .refund)
            pruned.isPruned = true
            _ = work.machine.handle(.inquireNow, try it.context())
            _ = try await it.store.commit(work.change(.none, pruned))
            let second = try await it.store.idempotencyRecord(caller: pruned.caller, key: pruned.key)
            try require(second, is: pruned, "the pruned record")
        },
        ContractCase("a key that was never used has no record") { it in
            try await it.create(Scenario.Order("k1"))
            let other = try CallerID("another")
            let key = try IdempotencyKey("k1")
            try require(try await it.store.idempotencyRecord(caller: other, key: key), is: nil, "the record")
        },
        ContractCase("the same key creates once, and tells what it created") { it in
            let draft = try it.draft(Scenario.Order("k1")).work
            let record = try it.record(draft.payment)
            let creating = PaymentChange.LeaseRequirement.creating(holder: "w", leaseFor: .minutes(1))
            _ = try await it.store.commit(draft.change(creating, record))
            it.clock.advance(by: .hours(1))
            let again = try it.draft(Scenario.Order("k1")).work
            let result = try await it.store.commit(again.change(creating, try it.record(again.payment)))
            try require(result, is: .duplicate(record), "the result")
            try require(try await it.stored(draft.payment.id).createdAt, is: record.createdAt, "the creation time")
        },
        ContractCase("a payment that is there is not created again under another key") { it in
            let work = try await it.create(Scenario.Order("k1"))
            let first = try await it.store.idempotencyRecord(caller: work.payment.caller, key: work.payment.key)
            let again = try it.draft(Scenario.Order("k1")).work
            let change = again.change(
                .creating(holder: "w", leaseFor: .minutes(1)), try it.record(again.payment, key: "k2"))
            let result = try await it.store.commit(change)
            try require(result, is: .duplicate(try require(first, "the first record")), "the result")
            let second = try await it.store.idempotencyRecord(caller: work.payment.caller, key: IdempotencyKey("k2"))
            try require(second, is: nil, "the record of the refused key")
        },
        ContractCase("an operation's key is taken once, by the first change that knows it") { it in
            var work = try await it.create(Scenario.Order("k1"))
            let record = try it.record(work.payment, key: "c1", .cancel)
            _ = work.machine.handle(.inquireNow, try it.context())
            let result = try await it.store.commit(work.change(.holding(work.token), record))
            try require(result, is: .committed(version: 2, lease: nil), "the first result")
            work.machine.committed(version: 2)
            it.clock.advance(by: .seconds(1))
            _ = work.machine.handle(.inquireNow, try it.context())
            let late = try it.record(work.payment, key: "c1", .refund)
            let second = try await it.store.commit(work.change(.holding(work.token), late))
            try require(second, is: .duplicate(record), "the second result")
            try require(try await it.stored(work.payment.id).version, is: 2, "the version")
        },
        ContractCase("callers have their keys for themselves") { it in
            var order = Scenario.Order("k1")
            let first = try await it.create(order)
            order.caller = "market"
            let second = try await it.create(order)
            try require(first.payment.id != second.payment.id, "two callers, two payments")
        },
        ContractCase("the first answer under a key stays") { it in
            let work = try await it.create(Scenario.Order("k1"))
            let (caller, key) = (work.payment.caller, work.payment.key)
            let first = StoredAnswer(status: 201, contentType: "application/json", location: "/p", body: [1, 2])
            let second = StoredAnswer(status: 409, contentType: "text/plain", location: nil, body: [])
            try require(try await it.store.storeAnswer(first, caller: caller, key: key), is: first, "the first")
            try require(try await it.store.storeAnswer(second, caller: caller, key: key), is: first, "the second")
            let record = try await it.store.idempotencyRecord(caller: caller, key: key)
            try require(record?.answer, is: first, "what is stored")
        },
        ContractCase("an answer that comes with a change is kept with it, and only with it") { it in
            var work = try await it.create(Scenario.Order("k1"))
            let (caller, key) = (work.payment.caller, work.payment.key)
            let answer = StoredAnswer(status: 201, contentType: "application/json", location: "/p", body: [1, 2])
            _ = work.machine.handle(.inquireNow, try it.context())
            var late = work
            late.machine.committed(version: 1)
            _ = late.machine.handle(.inquireNow, try it.context())
            let refused = try await it.store.commit(late.change(.holding(LeaseToken(9)), answer: answer))
            try require(refused, is: .leaseLost, "the change without the lease")
            let before = try await it.store.idempotencyRecord(caller: caller, key: key)
            try require(before?.answer, is: nil, "the answer of a change that was refused")
            _ = try await it.store.commit(work.change(.holding(work.token), answer: answer))
            let record = try await it.store.idempotencyRecord(caller: caller, key: key)
            try require(record?.answer, is: answer, "what is stored")
            let second = StoredAnswer(status: 409, contentType: "text/plain", location: nil, body: [])
            try require(try await it.store.storeAnswer(second, caller: caller, key: key), is: answer, "the second")
        },
        ContractCase("an answer that comes with a change does not take the place of one that is kept") { it in
            var work = try await it.create(Scenario.Order("k1"))
            let (caller, key) = (work.payment.caller, work.payment.key)
            let first = StoredAnswer(status: 201, contentType: "application/json", location: "/p", body: [1])
            let second = StoredAnswer(status: 201, contentType: "application/json", location: "/p", body: [2])
            _ = try await it.store.storeAnswer(first, caller: caller, key: key)
            _ = work.machine.handle(.inquireNow, try it.context())
            let result = try await it.store.commit(work.change(.holding(work.token), answer: second))
            try require(result, is: .committed(version: 2, lease: nil), "the result")
            let record = try await it.store.idempotencyRecord(caller: caller, key: key)
            try require(record?.answer, is: first, "what is stored")
        },
        ContractCase("an answer without location and body reads back equal") { it in
            let work = try await it.create(Scenario.Order("k1"))
            let (caller, key) = (work.payment.caller, work.payment.key)
            let answer = StoredAnswer(status: 204, contentType: "text/plain", location: nil, body: [])
            _ = try await it.store.storeAnswer(answer, caller: caller, key: key)
            let record = try await it.store.idempotencyRecord(caller: caller, key: key)
            try require(record?.answer, is: answer, "what is stored")
        },
        ContractCase("there is no answer under a key that was never used, nor a new one under a pruned key") { it in
            let answer = StoredAnswer(status: 201, contentType: "application/json", location: nil, body: [1])
            let draft = try it.draft(Scenario.Order("k1")).work
            let (caller, key) = (draft.payment.caller, draft.payment.key)
            try await require(.other) { _ = try await it.store.storeAnswer(answer, caller: caller, key: key) }
            var record = try it.record(draft.payment)
            record.isPruned = true
            _ = try await it.store.commit(draft.change(.creating(holder: "w", leaseFor: .minutes(1)), record))
            _ = try await it.store.storeAnswer(answer, caller: caller, key: key)
            try require(
                try await it.store.idempotencyRecord(caller: caller, key: key), is: record, "the pruned record")
        },
    ]
}
