internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

@Suite struct GroupCommitTests {
    @Test func `a crowd is written whole, and shares transactions by itself`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, _ in
            let scenario = Scenario(store: store, clock: clock)
            try await withThrowingTaskGroup { group in
                for number in 0..<400 { group.addTask { _ = try await scenario.create(.init("crowd-\(number)")) } }
                try await group.waitForAll()
            }
            let counts = store.writeCounts
            #expect(counts.writes == 400)
            // How many of them wait at one moment is a matter of the machine: the next test makes all wait.
            #expect(counts.transactions < 400, "\(counts)")
        }
    }

    @Test func `of a crowd that waits, as many share a transaction as may`() async throws {
        try await GroupStage.with { stage in
            let largest = stage.configuration.largestGroup
            let creating = PaymentChange.LeaseRequirement.creating(holder: "worker", leaseFor: .minutes(1))
            let changes = try (0..<largest + 100).map { number in
                let work = try stage.scenario.draft(.init("crowd-\(number)")).work
                return work.change(creating, try stage.scenario.record(work.payment))
            }
            let (results, transactions) = try await stage.together(changes)
            let written = results.filter { result in
                if case .success(.committed(version: 1, lease: .some)) = result { true } else { false }
            }
            #expect(written.count == changes.count)
            #expect(transactions == 2)
        }
    }

    @Test func `what waits while a writer is busy is written by one transaction`() async throws {
        try await GroupStage.with { stage in
            let works = try await stage.payments(20)
            let (results, transactions) = try await stage.together(works.map { $0.change(.holding($0.token)) })
            #expect(results == works.map { _ in .success(.committed(version: 2, lease: nil)) })
            #expect(transactions == 1)
        }
    }

    @Test func `two changes of one payment are not in one group`() async throws {
        try await GroupStage.with { stage in
            let twice = try await stage.scenario.create(.init("twice"))
            let other = try await stage.scenario.create(.init("other"))
            let change = twice.change(.holding(twice.token))
            let (results, transactions) = try await stage.together(
                [change, change, other.change(.holding(other.token))])
            // The second finds the version of the first, which it would not have found in one transaction with it.
            #expect(
                Set(results.prefix(2)) == [.success(.committed(version: 2, lease: nil)), .success(.versionConflict)])
            #expect(results[2] == .success(.committed(version: 2, lease: nil)))
            #expect(transactions == 1)
        }
    }

    @Test func `a member that cannot be written does not fail its group`() async throws {
        try await GroupStage.with { stage in
            var works = try await stage.payments(6)
            var stale = try await stage.scenario.create(.init("stale"))
            let old = stale.change(.holding(stale.token))
            try await stage.scenario.save(&stale)
            let known = try await stage.scenario.create(.init("known")).payment
            let record = try stage.scenario.record(known)
            let draft = try stage.scenario.draft(.init("known")).work
            let lost = works.removeLast()
            // Something that only the database objects to.
            let schema = stage.configuration.schema
            _ = try await PostgresServer.shared().psql(
                "ALTER TABLE \(schema).payments ADD CHECK (reference <> 'refused')")
            var order = Scenario.Order("refused")
            order.reference = "refused"
            let refused = try stage.scenario.draft(order).work

            let creating = PaymentChange.LeaseRequirement.creating(holder: "worker", leaseFor: .minutes(1))
            let (results, transactions) = try await stage.together(
                works.map { $0.change(.holding($0.token)) } + [
                    old, draft.change(creating, record), lost.change(.holding(LeaseToken(7))),
                    refused.change(creating, try stage.scenario.record(refused.payment)),
                ])
            for result in results.prefix(5) { #expect(result == .success(.committed(version: 2, lease: nil))) }
            #expect(results[5] == .success(.versionConflict))
            #expect(results[6] == .success(.duplicate(record)))
            #expect(results[7] == .success(.leaseLost))
            #expect(throws: StoreFailure.self) { try results[8].get() }
            // Each that could be written, alone.
            #expect(transactions == 5)
            #expect(try await stage.store.payment(refused.payment.id) == nil)
            #expect(try await stage.store.payment(lost.payment.id)?.version == 1)
            #expect(try await stage.store.payment(stale.payment.id)?.version == 2)
        }
    }

    @Test func `those that a refusal does not name are written together again`() async throws {
        try await GroupStage.with { stage in
            var works = try await stage.payments(8)
            var stale = try await stage.scenario.create(.init("stale"))
            let old = stale.change(.holding(stale.token))
            try await stage.scenario.save(&stale)
            let lost = works.removeLast()
            var repeats: [PaymentChange] = []
            for name in ["known-1", "known-2"] {
                _ = try await stage.scenario.create(.init(name))
                let draft = try stage.scenario.draft(.init(name)).work
                repeats.append(
                    draft.change(
                        .creating(holder: "worker", leaseFor: .minutes(1)), try stage.scenario.record(draft.payment)))
            }
            let (results, transactions) = try await stage.together(
                works.map { $0.change(.holding($0.token)) } + [old, lost.change(.holding(LeaseToken(7)))] + repeats)
            for result in results.prefix(7) { #expect(result == .success(.committed(version: 2, lease: nil))) }
            #expect(results[7] == .success(.versionConflict))
            #expect(results[8] == .success(.leaseLost))
            for result in results.suffix(2) {
                guard case .success(.duplicate) = result else {
                    Issue.record("a repeat is a duplicate, and is \(result)")
                    continue
                }
            }
            #expect(transactions == 1)
        }
    }

    @Test func `a group that deadlocks is written one by one`() async throws {
        try await GroupStage.with { stage in
            let works = try await stage.payments(3)
            let changes = works.map { $0.change(.holding($0.token)) }
            try await RawSession.with(stage.configuration) { other in
                _ = try await other.run("SET deadlock_timeout = '30s'", "BEGIN")
                try await GroupStage.lock(works[2].payment.id, by: other)
                try await RawSession.with(stage.configuration) { between in
                    _ = try await between.run("BEGIN")
                    try await GroupStage.lock(works[1].payment.id, by: between)
                    let (results, transactions) = try await stage.together(changes) {
                        // The group has the first and waits for the second; another has the third and wants the first.
                        try await stage.untilSomebodyWaits(for: between)
                        async let first: Void = GroupStage.lock(works[0].payment.id, by: other)
                        try await eventually {
                            try await PostgresServer.shared().psql(
                                """
                                SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                                AND query LIKE 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE'
                                """) == "1"
                        }
                        _ = try await between.run("COMMIT")
                        // Only the group's end gives it that.
                        try await first
                        _ = try await other.run("COMMIT")
                    }
                    #expect(results == works.map { _ in .success(.committed(version: 2, lease: nil)) })
                    #expect(transactions == 3)
                }
            }
        }
    }
}
