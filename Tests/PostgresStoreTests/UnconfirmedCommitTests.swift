internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// Commits that the standby does not confirm.
extension PostgresPairTests {
    @Test(arguments: ["pg_cancel_backend", "pg_terminate_backend"])
    func `a commit whose wait for the standby ends early is in doubt, and is not read as settled`(
        _ way: String
    ) async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            try await stage.pair.freezeStandby()
            async let outcome = stage.creating("doubtful")
            let writer = try await stage.waitingWriter()
            #expect(try await stage.visible("doubtful").allSatisfy { $0 == 0 })
            try await stage.pair.psql(on: .primary, "SELECT \(way)(\(writer))")
            let found = try #require(try await outcome)
            #expect(found.code == .indeterminate)
            if way == "pg_cancel_backend" { #expect(found.cause.contains("01000"), "\(found)") }
            // The fact: it can be seen, and a promotion would lose it.
            #expect(try await stage.isWhole("doubtful"))

            let began = ContinuousClock.now
            let read = try await stage.reading("doubtful")
            #expect(read?.isForWantOfConfirmation == true, "\(String(describing: read))")
            #expect(ContinuousClock.now - began < .seconds(6))
            try stage.pair.thawStandby()
            try await stage.pair.untilSynchronous()
            try await eventually { try await stage.reading("doubtful") == nil }
            #expect(try await stage.store.payment(stage.id("doubtful")) != nil)
            try await stage.standbyShows("doubtful")
        }
    }

    @Test func `what stands in doubt is given back by no other way either`() async throws {
        try await PairStage.with(limit: .seconds(1)) { stage in
            let known = try await stage.scenario.create(.init("known")).payment
            let answer = StoredAnswer(status: 201, contentType: "application/json", location: nil, body: [1])
            try await stage.pair.freezeStandby()
            async let creation = stage.creating("doubtful")
            try await stage.cutOff()
            #expect(try await creation?.code == .indeterminate)
            async let storing = failure {
                try await stage.store.storeAnswer(answer, caller: known.caller, key: known.key)
            }
            try await stage.cutOff()
            #expect(try await storing?.code == .indeterminate)
            try await eventually { try await stage.isWhole("doubtful") }

            let again = try await failure {
                let (work, _) = try stage.scenario.draft(.init("doubtful"))
                let record = try stage.scenario.record(work.payment)
                return try await stage.store.commit(
                    work.change(.creating(holder: "other", leaseFor: .minutes(1)), record))
            }
            #expect(again?.isForWantOfConfirmation == true, "the second create: \(String(describing: again))")
            let other = StoredAnswer(status: 500, contentType: "text/plain", location: nil, body: [])
            let stored = try await failure {
                try await stage.store.storeAnswer(other, caller: known.caller, key: known.key)
            }
            #expect(stored?.isForWantOfConfirmation == true, "the second answer: \(String(describing: stored))")
            let record = try await failure {
                try await stage.store.idempotencyRecord(caller: known.caller, key: known.key)
            }
            #expect(record?.isForWantOfConfirmation == true)

            try stage.pair.thawStandby()
            try await stage.pair.untilSynchronous()
            try await eventually { try await stage.reading("doubtful") == nil }
            #expect(try await stage.store.storeAnswer(other, caller: known.caller, key: known.key) == answer)
        }
    }

    @Test func `a deadline closes the connection and cancels nothing`() async throws {
        try await PairStage.with(limit: .seconds(1)) { stage in
            try await stage.pair.freezeStandby()
            let began = ContinuousClock.now
            #expect(try await stage.creating("slow")?.code == .indeterminate)
            #expect(ContinuousClock.now - began < .seconds(4))
            // The server goes on waiting; nobody sees the payment, as long as that may be.
            let writer = try await stage.waitingWriter()
            #expect(try await stage.reading("slow")?.isForWantOfConfirmation == true)
            // Nor does it end when it looks for its client, which it does each second.
            try await eventually {
                let (waiting, rows) = (try await stage.waitingWriter(), try await stage.visible("slow"))
                #expect(waiting == writer && rows.allSatisfy { $0 == 0 })
                return ContinuousClock.now - began > .seconds(4)
            }

            try stage.pair.thawStandby()
            try await eventually { try await stage.isWhole("slow") }
            try await stage.standbyShows("slow")
            try await eventually { try await stage.reading("slow") == nil }
            #expect(try await stage.store.payment(stage.id("slow")) != nil)
        }
    }

    @Test func `while the standby is away, whoever asks again is told at once, and nothing piles up`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            let known = try await stage.scenario.create(.init("known"))
            try await stage.pair.freezeStandby()
            #expect(try await stage.creating("slow")?.code == .indeterminate)
            let began = ContinuousClock.now
            let codes = try await withThrowingTaskGroup { group in
                for number in 0..<10 {
                    group.addTask { try await stage.reading("slow")?.code }
                    group.addTask { try await stage.creating("more-\(number)")?.code }
                    group.addTask {
                        try await failure {
                            try await stage.store.renew([known.payment.id: known.token], leaseFor: .minutes(1))
                        }?.code
                    }
                }
                return try await group.reduce(into: Set<StoreFailure.Code?>()) { $0.insert($1) }
            }
            #expect(codes == [.unavailable])
            #expect(ContinuousClock.now - began < .seconds(2))
            let waiting = try await stage.pair.psql(on: .primary, "SELECT count(*) \(PairStage.waiting)")
            #expect(waiting == "1")
            try stage.pair.thawStandby()
            try await eventually { try await stage.creating("later") == nil }
            #expect(try await stage.store.payment(stage.id("slow")) != nil)
        }
    }
}
