import PaymentCore
import Reconciler
import Testing

/// One execution of a run, by the machine alone.
@Suite struct ComparisonRunnerMachineTests {
    private typealias Machine = ComparisonRunnerMachine
    private static let start = Timestamp(milliseconds: 1_772_355_600_000)

    private static func run() throws -> ComparisonRun {
        let window = try #require(ComparedWindow(from: start + .hours(-2), to: start + .hours(-1)))
        return try ComparisonSchedule.asked(
            at: ProviderName("card"), window, .reference, ComparisonSettings(), now: start
        ).stored(version: 1)
    }

    /// A machine that has claimed a run, and what it ordered then.
    private static func claimed(_ run: ComparisonRun) -> (machine: Machine, jobs: [Machine.Job]) {
        var machine = Machine(
            Machine.Setup(
                contract: .reference, settings: ComparisonSettings(), identity: nil, lease: .seconds(30)))
        _ = machine.handle(.begun, at: start)
        let token = LeaseToken(7)
        _ = machine.handle(.claimed(ClaimedRun(run: run, token: token, until: start + .seconds(30))), at: start)
        let jobs = machine.handle(.storeTime(start + .minutes(3)), at: start)
        return (machine, jobs)
    }

    private static func ending(_ jobs: [Machine.Job]) -> (ComparisonRunner.Outcome, LeaseToken?, ComparisonStep?)? {
        guard jobs.count == 1, case .end(let outcome, let token, let note)? = jobs.first else { return nil }
        return (outcome, token, note)
    }

    @Test func `it claims, reads the store's clock, and keeps the lease beside its first order`() throws {
        let (_, jobs) = Self.claimed(try Self.run())
        guard jobs.count == 2, case .awaitLease(let pause) = jobs[0], case .carryOut(let order, _, let token) = jobs[1]
        else {
            Issue.record("\(jobs)")
            return
        }
        #expect(pause == .seconds(10) && order == .readStanding && token == LeaseToken(7))
    }

    @Test func `everything is judged by the store's clock`() throws {
        var (machine, _) = Self.claimed(try Self.run())
        let jobs = machine.handle(.event(.standing(NetSums())), at: Self.start)
        guard case .carryOut(.record(let step), _, _)? = jobs.first else {
            Issue.record("\(jobs)")
            return
        }
        #expect(step.run.startedAt == Self.start + .minutes(3))
    }

    @Test func `a renewal that fails is tried again, and one that is refused lets go at once`() throws {
        var (machine, _) = Self.claimed(try Self.run())
        guard case .renew(let token)? = machine.handle(.leaseDue, at: Self.start).first else {
            Issue.record("the lease is not renewed")
            return
        }
        #expect(token == LeaseToken(7))
        for answer in [nil, true] {
            guard case .awaitLease(let pause)? = machine.handle(.renewed(answer), at: Self.start).first else {
                Issue.record("it does not go on after \(String(describing: answer))")
                return
            }
            #expect(pause == .seconds(10))
        }
        let ending = try #require(Self.ending(machine.handle(.renewed(false), at: Self.start)))
        #expect(ending.0 == .letGo && ending.1 == LeaseToken(7))
        #expect(machine.handle(.event(.standing(NetSums())), at: Self.start).isEmpty, "it goes on after its end")
    }

    @Test func `a run that cannot be had is let be, with nothing to give back`() throws {
        var machine = Machine(
            Machine.Setup(
                contract: .reference, settings: ComparisonSettings(), identity: nil, lease: .seconds(30)))
        _ = machine.handle(.begun, at: Self.start)
        let ending = try #require(Self.ending(machine.handle(.claimed(nil), at: Self.start)))
        #expect(ending.0 == .notOurs && ending.1 == nil)
    }

    @Test func `a process that stops gives the lease back`() throws {
        var (machine, _) = Self.claimed(try Self.run())
        let ending = try #require(Self.ending(machine.handle(.stopped, at: Self.start)))
        #expect(ending.0 == .letGo && ending.1 == LeaseToken(7))
    }

    @Test func `a cursor that is refused for ever ends the execution`() throws {
        var (machine, _) = Self.claimed(try Self.run())
        for _ in 0..<6 { #expect(Self.ending(machine.handle(.event(.cursorRefused), at: Self.start)) == nil) }
        let ending = try #require(Self.ending(machine.handle(.event(.cursorRefused), at: Self.start)))
        #expect(ending.0 == .failed(code: "cursor_refused", needsPerson: false, retryAt: nil))
    }

    @Test func `a listing that cannot be read is noted with its reason, and given up after twelve times`() throws {
        var run = try Self.run()
        let failure = Machine.Input.failed(.listing(ListingFailure(.malformed, code: "out_of_order")))
        for time in 1...12 {
            var (machine, _) = Self.claimed(run)
            let note = try #require(Self.ending(machine.handle(failure, at: Self.start + .minutes(Int64(time))))?.2)
            let trouble = try #require(note.run.trouble)
            #expect(trouble.code == "out_of_order" && trouble.needsPerson && trouble.times == time)
            #expect(trouble.since == Self.start + .minutes(4), "by the store's clock, since the first time")
            #expect(note.run.state == (time == 12 ? .abandoned : .planned))
            run = note.run.stored(version: note.run.version + 1)
        }
    }

    @Test func `what passes by itself is noted too, and never given up`() throws {
        var run = try Self.run()
        for time in 1...40 {
            var (machine, _) = Self.claimed(run)
            let failure = Machine.Input.failed(.listing(ListingFailure(.passing, code: "http_503")))
            run = try #require(Self.ending(machine.handle(failure, at: Self.start))?.2?.run)
            #expect(run.trouble?.times == time && run.state == .planned)
        }
        var (machine, _) = Self.claimed(run)
        let jobs = machine.handle(.event(.standing(NetSums())), at: Self.start)
        guard case .carryOut(.record(let step), _, _)? = jobs.first else {
            Issue.record("nothing is recorded")
            return
        }
        #expect(step.run.trouble == nil, "it gets on again")
    }

    @Test func `a store that fails leaves no note`() throws {
        var (machine, _) = Self.claimed(try Self.run())
        let failure = StoreFailure(.unavailable, operation: "positions", cause: "away")
        let ending = try #require(Self.ending(machine.handle(.failed(.store(failure)), at: Self.start)))
        #expect(ending.0 == .failed(code: "store_unavailable", needsPerson: false, retryAt: nil))
        #expect(ending.1 == LeaseToken(7) && ending.2 == nil)
    }
}
