internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// Servers that crash, and a standby that takes over.
extension PostgresPairTests {
    @Test func `what a crashed primary shows again is not read as settled before the standby has it`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            // Connected before, with everything confirmed.
            #expect(try await stage.reading("doubtful") == nil)
            try await stage.pair.freezeStandby()
            async let outcome = stage.creating("doubtful")
            _ = try await stage.waitingWriter()
            try await stage.pair.killPrimary()
            #expect(try await outcome?.code == .indeterminate)

            try await stage.pair.restartPrimary()
            // The fact: it was flushed here and nowhere else, and can be seen.
            #expect(try await stage.isWhole("doubtful"))
            let later = try await PostgresStore(stage.configuration)
            for store in [stage.store, later] {
                let read = try await stage.reading("doubtful", by: store)
                #expect(read?.isForWantOfConfirmation == true, "\(String(describing: read))")
            }
            try stage.pair.thawStandby()
            try await stage.pair.untilSynchronous()
            for store in [stage.store, later] {
                try await eventually { try await stage.reading("doubtful", by: store) == nil }
                #expect(try await store.payment(stage.id("doubtful")) != nil)
            }
            try await stage.standbyShows("doubtful")
            await later.close()
        }
    }

    @Test func `after a promotion the store goes on with every change that was acknowledged`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            let acknowledged = try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { try await stage.scenario.settle(.init("settled-\(number)")).payment }
                }
                return try await group.reduce(into: [Payment]()) { $0.append($1) }
            }
            try await stage.pair.freezeStandby()
            async let outcome = stage.creating("doubtful")
            _ = try await stage.waitingWriter()
            try await stage.pair.killPrimary()
            #expect(try await outcome?.code == .indeterminate)
            try stage.pair.thawStandby()
            try await stage.pair.promoteStandby()

            let began = ContinuousClock.now
            try await eventually { try await stage.reading("doubtful") == nil }
            #expect(ContinuousClock.now - began < .seconds(5))
            for payment in acknowledged {
                #expect(try await stage.store.payment(payment.id) == payment)
            }
            // What was in doubt is there or not, and by the same key it is there once.
            let isThere = try await stage.isWhole("doubtful", on: .standby)
            #expect((try await stage.store.payment(stage.id("doubtful")) != nil) == isThere)
            let (work, _) = try stage.scenario.draft(.init("doubtful"))
            let record = try stage.scenario.record(work.payment)
            let again = try await stage.store.commit(
                work.change(.creating(holder: "other", leaseFor: .minutes(1)), record))
            #expect(again == (isThere ? .duplicate(record) : .committed(version: 1, lease: LeaseToken(1))))
            #expect(try await stage.isWhole("doubtful", on: .standby))
            #expect(try await stage.store.verifySeals().isEmpty)
        }
    }

    @Test func `of two hosts the one that takes writes is found, and a standby alone is refused`() async throws {
        try await PairStage.with(limit: .seconds(5)) { stage in
            let alone = try PostgresStoreConfiguration(dsn: stage.pair.standbyDSN)
            let found = try await failure { try await PostgresStore(alone) }
            #expect(found?.code == .unavailable)
            #expect(found?.cause.contains("read-only") == true, "\(String(describing: found))")
            // The standby first.
            let hosts = [stage.pair.standbyDSN, stage.pair.primaryDSN].map { dsn in
                dsn.split(separator: " ").first { $0.hasPrefix("port=") }?.dropFirst(5) ?? ""
            }
            let dsn = "host=127.0.0.1,127.0.0.1 port=\(hosts.joined(separator: ",")) user=postgres dbname=postgres"
            let store = try await PostgresStore(try PostgresStoreConfiguration(dsn: dsn))
            try await store.probe()
            await store.close()
        }
    }
}
