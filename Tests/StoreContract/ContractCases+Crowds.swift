internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let crowds: [ContractCase] = [
        ContractCase("a thousand payments that are created at once are all there") { it in
            try await withThrowingTaskGroup { group in
                for number in 0..<1_000 {
                    group.addTask { try await it.create(Scenario.Order("k\(number)")) }
                }
                try await group.waitForAll()
            }
            for number in 0..<1_000 {
                let draft = try it.draft(Scenario.Order("k\(number)")).work
                let stored = try await it.stored(draft.payment.id)
                try require(stored.version, is: 1, "the version")
                let trail = try await it.store.auditTrail(of: stored.id, after: 0, limit: 100)
                try AuditHead.verify(trail, of: stored.id, head: stored.auditHead)
            }
            try require(try await it.store.statistics().paymentsByState, is: [.processing: 1_000], "the counts")
        },
        ContractCase("of many that create the same payment at once one does") { it in
            let draft = try it.draft(Scenario.Order("k1")).work
            let change = draft.change(
                .creating(holder: "w", leaseFor: .minutes(1)), try it.record(draft.payment))
            let results = try await together(50) { _ in try await it.store.commit(change) }
            let record = try require(change.record, "the record")
            let created = results.filter { $0 == .committed(version: 1, lease: LeaseToken(1)) }
            try require(created.count, is: 1, "the number that created")
            try require(results.filter { $0 == .duplicate(record) }.count, is: 49, "the number of duplicates")
        },
        ContractCase("of many that change the same version at once one does") { it in
            var work = try await it.create(Scenario.Order("k1"))
            _ = work.machine.handle(.inquireNow, try it.context())
            let change = work.change(.none)
            let results = try await together(50) { _ in try await it.store.commit(change) }
            let first = results.filter { $0 == .committed(version: 2, lease: nil) }
            try require(first.count, is: 1, "the number that changed")
            try require(results.filter { $0 == .versionConflict }.count, is: 49, "the number of conflicts")
        },
        ContractCase("no payment is claimed by two at once") { it in
            for number in 0..<60 { try await it.createFree(Scenario.Order("k\(number)")) }
            let claims = try await together(12) { number in
                try await it.store.claimDue(request(7, holder: "w\(number)")).map(\.payment.id)
            }
            let all = claims.flatMap { $0 }
            try require(all.count, is: 60, "the number of claims")
            try require(Set(all).count, is: 60, "the number of payments")
            try require(claims.allSatisfy { $0.count <= 7 }, "nobody gets more than asked")
        },
        ContractCase("of many that claim the same payment at once one gets it") { it in
            let id = try await it.createFree(Scenario.Order("k1")).payment.id
            let claims = try await together(20) { number in
                try await it.store.claim(id, holder: "w\(number)", leaseFor: .minutes(1))?.token
            }
            try require(claims.compactMap { $0 }, is: [LeaseToken(2)], "the tokens")
        },
        ContractCase("of many answers at once the first is everybody's") { it in
            let payment = try await it.create(Scenario.Order("k1")).payment
            let answers = try await together(20) { number in
                let answer = StoredAnswer(
                    status: 201, contentType: "application/json", location: nil, body: [UInt8(number)])
                return try await it.store.storeAnswer(answer, caller: payment.caller, key: payment.key)
            }
            try require(Set(answers).count, is: 1, "the number of different answers")
            let record = try await it.store.idempotencyRecord(caller: payment.caller, key: payment.key)
            try require(record?.answer, is: answers.first, "what is stored")
        },
    ]

    /// Runs `body` so many times at once.
    static func together<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
