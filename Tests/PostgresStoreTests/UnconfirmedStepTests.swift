internal import PaymentCore
internal import PostgresServers
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// Steps of a comparison that the standby does not confirm.
extension PostgresPairTests {
    @Test(arguments: ["pg_cancel_backend", "pg_terminate_backend"])
    func `a step whose wait for the standby ends early is in doubt, and comes out as what it is`(
        _ way: String
    ) async throws {
        try await PairStage.with(limit: .seconds(2)) { stage in
            let it = Comparing(store: stage.store, clock: stage.scenario.clock)
            let work = try await it.work()
            let step = try Self.step(work.run)
            try await stage.pair.freezeStandby()
            async let outcome = failure { try await stage.store.record(step, token: work.token) }
            var writer = ""
            try await eventually {
                writer = try await stage.pair.psql(on: .primary, "SELECT pid \(PairStage.waiting)")
                return !writer.isEmpty
            }
            try await stage.pair.psql(on: .primary, "SELECT \(way)(\(writer))")
            #expect(try await outcome?.code == .indeterminate)

            // It can be seen, and a promotion would lose it: nobody is told of it, nor of anything that it decides.
            let read = try await failure { try await stage.store.run(work.run.id) }
            #expect(read?.isForWantOfConfirmation == true, "\(String(describing: read))")
            let again = try await failure { try await stage.store.record(step, token: work.token) }
            #expect(again?.isForWantOfConfirmation == true, "\(String(describing: again))")

            try stage.pair.thawStandby()
            try await stage.pair.untilSynchronous()
            try await eventually { try await failure { try await stage.store.run(work.run.id) } == nil }
            #expect(try await stage.store.run(work.run.id)?.version == work.run.version + 1)
            #expect(try await stage.store.record(step, token: work.token) == .versionConflict)
            #expect(try await stage.store.standing(at: work.run.provider) == step.moved)
        }
    }

    private static func step(_ run: ComparisonRun) throws -> ComparisonStep {
        ComparisonStep(
            run: run, positions: [try Comparing.row("k1", .foreign, isNamed: true, run: run)],
            discrepancies: [try Comparing.discrepancy("k1")],
            moved: NetSums([try Comparing.yen(): .init(ours: 0, theirs: 1_200)]))
    }
}

@Suite struct LostStepTests {
    @Test func `a step whose answer does not come in time is written once, however often it comes`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withSchema { configuration in
            var configuration = configuration
            configuration.clock = { clock.now() }
            try await PostgresStore.migrate(configuration)
            let store = try await PostgresStore(configuration)
            let it = Comparing(store: store, clock: clock)
            let work = try await it.work()
            // Only the step that is lost has little time; on a busy machine even opening a store takes longer.
            configuration.timeLimit = .seconds(1)
            let hasty = try await Self.opened(configuration)
            let moved = NetSums([try Comparing.yen(): .init(ours: 5, theirs: 5)])
            let step = ComparisonStep(run: work.run, moved: moved)
            try await RawSession.with(configuration) { session in
                try await session.run("BEGIN")
                try await session.run("SELECT 1 FROM comparison_lanes FOR UPDATE")
                let lost = try await failure { try await hasty.record(step, token: work.token) }
                #expect(lost?.code == .indeterminate)
                try await session.run("ROLLBACK")
            }
            await hasty.close()
            // What waited for the lock may be at work yet; it finds its client gone, or is done.
            var result: StepResult?
            try await eventually {
                result = try? await store.record(step, token: work.token)
                return result != nil
            }
            #expect(result == .recorded(version: 2) || result == .versionConflict)
            #expect(try await store.run(work.run.id)?.version == 2)
            #expect(try await store.standing(at: work.run.provider) == moved)
            await store.close()
        }
    }

    /// A store, however often its time runs out while it opens.
    private static func opened(_ configuration: PostgresStoreConfiguration) async throws -> PostgresStore {
        var store: PostgresStore?
        try await eventually {
            store = try? await PostgresStore(configuration)
            return store != nil
        }
        return try #require(store)
    }
}
