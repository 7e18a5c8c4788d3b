import MemoryStore
import PaymentCore
import Reconciler
import Testing
import VirtualTime

/// What becomes of a run when something around it fails.
@Suite(.timeLimit(.minutes(5))) struct ComparisonRunnerTests {
    @Test func `a run that nothing disturbs reads each page once, and is proven`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        guard case .finished(let ended) = await stage.runner().execute(run.id) else {
            Issue.record("the run did not finish")
            return
        }
        #expect(await stage.provider.cursors() == [nil, "2", "4"])
        #expect(ended.isProven == true && ended.counts.listed == 6 && ended.counts[.foreign] == 6)
        #expect(try await stage.store.run(run.id) == ended)
        #expect(await stage.runner().execute(run.id) == .notOurs, "a run that has ended goes on")
    }

    @Test(arguments: ListingFailure.Kind.allCases, [nil, "2"])
    func `a page that fails ends the work, says whether a person is needed, and frees the run`(
        kind: ListingFailure.Kind, page: String?
    ) async throws {
        guard kind != .cursorRefused || page == nil else { return }
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        let retryAt = stage.clock.now() + .minutes(3)
        await stage.provider.beforeEachPage { order in
            order.cursor == page ? ListingFailure(kind, code: kind.rawValue, retryAt: retryAt) : nil
        }
        let outcome = await stage.runner().execute(run.id)
        let needsPerson = kind == .refused || kind == .malformed
        #expect(outcome == .failed(code: kind.rawValue, needsPerson: needsPerson, retryAt: retryAt))
        #expect(try await stage.store.run(run.id)?.state.isFinal == false)
        #expect(try await stage.isFree(run.id), "the lease is kept")
    }

    @Test func `a later cursor that is refused begins the listing again, and its money is counted once`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        let provider = stage.provider
        await provider.beforeEachPage { order in
            let isOld = await provider.cursors().count { $0 == nil } == 1
            return order.cursor == "4" && isOld ? ListingFailure(.cursorRefused, code: "expired") : nil
        }
        guard case .finished(let ended) = await stage.runner().execute(run.id) else {
            Issue.record("the run did not finish")
            return
        }
        let cursors = await provider.cursors()
        #expect(cursors.count { $0 == nil } == 2, "\(cursors)")
        #expect(cursors.suffix(3) == [nil, "2", "4"], "\(cursors)")
        #expect(try await stage.rows(stage.keys()).count == 6 && ended.isProven == true)
    }

    @Test func `a provider that refuses its own cursors for ever is not asked without a pause`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        await stage.provider.beforeEachPage { order in
            order.cursor == "4" ? ListingFailure(.cursorRefused, code: "expired") : nil
        }
        let outcome = await stage.runner().execute(run.id)
        #expect(outcome == .failed(code: "cursor_refused", needsPerson: false, retryAt: nil))
        let begun = await stage.provider.cursors().count { $0 == nil }
        #expect((2...4).contains(begun), "the listing was begun \(begun) times")
        #expect(try await stage.isFree(run.id), "the lease is kept")
    }

    @Test(arguments: StoreFault.all)
    func `whatever the store fails at, the lease is given back and another goes on at the checkpoint`(
        fault: StoreFault
    ) async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        let store = stage.store
        // Pages are read ahead: the second is asked for while the first is compared.
        await stage.provider.beforeEachPage { order in
            if order.cursor == fault.page {
                await store.failNext(.unavailable, on: fault.operation, afterDoing: fault.isDone)
            }
            return nil
        }
        let outcome = await stage.runner("first").execute(run.id)
        #expect(outcome == .failed(code: "store_unavailable", needsPerson: false, retryAt: nil))
        #expect(await store.unusedFaults == 0)
        await stage.provider.beforeEachPage { _ in nil }
        let left = try #require(try await store.run(run.id))
        let read = await stage.provider.orders.count
        guard case .finished(let ended) = await stage.runner("second").execute(run.id) else {
            Issue.record("the run did not finish")
            return
        }
        let again = await stage.provider.cursors(from: read)
        if left.checkpoint.phase == .listing {
            #expect(again.first == left.checkpoint.cursor, "it went on at \(again)")
        } else {
            #expect(again.isEmpty, "what was finished was listed again: \(again)")
        }
        #expect(ended.counts.listed == 6 && ended.counts[.foreign] == 6, "\(ended.counts)")
        #expect(try await stage.rows(stage.keys()).count == 6 && ended.isProven == true)
    }

    /// A failure of the store while a page is read.
    struct StoreFault: Sendable, CustomTestStringConvertible {
        let operation: StoreOperation
        let page: String?
        var isDone = false

        var testDescription: String {
            "\(operation.rawValue) at \(page ?? "the first page")\(isDone ? ", after it was done" : "")"
        }

        static let all =
            [nil, "2", "4"].flatMap { page in
                [false, true].map { StoreFault(operation: .recordStep, page: page, isDone: $0) }
                    + [.positions, .discrepanciesByID].map { StoreFault(operation: $0, page: page) }
            }
            + [.changedPositions, .unsettledPositions, .explainedDifferences].map {
                StoreFault(operation: $0, page: "4")
            }
    }

    @Test func `a claim after which the clock of the store cannot be read is given back`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        await stage.store.failNext(.unavailable, on: .now)
        let outcome = await stage.runner().execute(run.id)
        #expect(outcome == .failed(code: "store_unavailable", needsPerson: false, retryAt: nil))
        #expect(try await stage.isFree(run.id), "the lease is kept")
        #expect(await stage.provider.orders.isEmpty)
    }

    @Test func `a run that another works at is left alone`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        _ = try #require(try await stage.store.claimRun(run.id, holder: "other", leaseFor: .minutes(1)))
        let before = try await stage.store.run(run.id)
        #expect(await stage.runner().execute(run.id) == .notOurs)
        #expect(try await stage.store.run(run.id) == before)
        #expect(await stage.provider.orders.isEmpty)
        #expect(try await !stage.isFree(run.id), "the other's lease was ended")
    }

    @Test(arguments: [true, false])
    func `who lost the lease lets go and writes nothing, whether renewal or step finds it out`(
        byRenewal: Bool
    ) async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        let (store, clock, page) = (stage.store, stage.clock, SlowPage())
        let began = clock.now()
        await stage.provider.beforeEachPage { order in
            guard order.cursor == "2" else { return nil }
            // So slow that another takes the run; the renewal that would have kept it failed.
            await store.failNext(.unavailable, on: .renewRun)
            clock.advance(by: ComparisonStage.lease + .seconds(1))
            do {
                _ = try await store.claimRun(run.id, holder: "other", leaseFor: .hours(9))
                await page.begins(try await store.run(run.id))
                if byRenewal { try await clock.sleep(until: clock.now() + .hours(9)) }
            } catch {
                await page.ends()
                return ListingFailure(.passing, code: "cancelled")
            }
            return nil
        }
        let outcome = try await withThrowingTaskGroup(of: ComparisonRunner.Outcome.self) { group in
            group.addTask { await stage.runner().execute(run.id) }
            try await Polling.until("another has the run") { await page.left != nil }
            if byRenewal {
                try await Polling.until("a renewal finds out") {
                    clock.advance(by: .seconds(10))
                    return await page.hasEnded
                }
            }
            return try #require(try await group.next())
        }
        #expect(outcome == .letGo)
        // A renewal finds out within a third of the lease, long before the page comes.
        #expect(!byRenewal || clock.now() < began + .hours(1), "it let go only when its page came")
        #expect(try await store.run(run.id)?.version == page.left?.version, "it wrote after another had the run")
        #expect(try await !stage.isFree(run.id), "the other's lease was ended")
    }

    /// A page that takes longer than the lease.
    private actor SlowPage {
        /// The run as the other found it.
        private(set) var left: ComparisonRun?
        private(set) var hasEnded = false
        func begins(_ run: ComparisonRun?) { left = run }
        func ends() { hasEnded = true }
    }

    @Test func `cancelled, it lets go of the run at once`() async throws {
        let stage = try ComparisonStage()
        let run = try await stage.planned()
        let clock = stage.clock
        await stage.provider.beforeEachPage { order in
            guard order.cursor == "4" else { return nil }
            do {
                try await clock.sleep(until: clock.now() + .days(1))
            } catch {
                return ListingFailure(.passing, code: "cancelled")
            }
            return nil
        }
        let outcome = try await withThrowingTaskGroup(of: ComparisonRunner.Outcome.self) { group in
            group.addTask { await stage.runner().execute(run.id) }
            try await Polling.until("two pages are recorded") {
                try await stage.store.run(run.id)?.checkpoint.cursor == "4"
            }
            group.cancelAll()
            return try #require(try await group.next())
        }
        #expect(outcome == .letGo)
        #expect(try await stage.isFree(run.id), "the lease is kept")
        #expect(try await stage.store.run(run.id)?.checkpoint.cursor == "4")
    }
}
