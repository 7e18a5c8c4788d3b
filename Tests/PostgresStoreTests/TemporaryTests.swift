internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

extension PostgresPairTests {
    @Test func `temporary hole`() async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            let other = try await PostgresStore(stage.configuration)
            #expect(try await stage.reading("doubtful", by: other) == nil)
            try await stage.pair.freezeStandby()
            async let creation = stage.creating("doubtful")
            try await stage.cutOff()
            #expect(try await creation?.code == .indeterminate)
            let read = try await stage.reading("doubtful", by: other)
            let there = try await failure { try #require(try await other.payment(stage.id("doubtful"))) }
            print("STORED", read as Any, there as Any)
            await other.close()
        }
    }
}
