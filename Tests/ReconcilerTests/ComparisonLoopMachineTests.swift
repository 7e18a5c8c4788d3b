import PaymentCore
import Reconciler
import Testing

/// Which run is next, by the machine alone.
@Suite struct ComparisonLoopMachineTests {
    private static let start = Timestamp(milliseconds: 1_772_355_600_000)
    private static let pauses = ComparisonLoop.Pauses()

    private static func machine() throws -> ComparisonLoopMachine {
        ComparisonLoopMachine(
            provider: try ProviderName("card"), contract: .reference, settings: ComparisonSettings(), pauses: pauses,
            now: start)
    }

    private static func run(_ hour: Int64) throws -> ComparisonRun {
        let from = start + .hours(-hour)
        return try ComparisonSchedule.asked(
            at: ProviderName("card"), #require(ComparedWindow(from: from, to: from + .minutes(30))), .reference,
            ComparisonSettings(), now: start)
    }

    private static func words(_ jobs: [ComparisonLoopMachine.Job]) -> [String] {
        jobs.map { job in
            switch job {
            case .pause(let pause): "pause \(pause.milliseconds)"
            case .findAsked(let states): "find \(states.map(\.rawValue).joined(separator: " "))"
            case .readChain: "chain"
            case .plan: "plan"
            case .execute(let id): "execute \(id)"
            case .tell: "tell"
            }
        }
    }

    @Test func `a wish that never gets through does not hold up the schedule`() throws {
        var machine = try Self.machine()
        let (first, second) = (try Self.run(3), try Self.run(5))
        var now = Self.start
        #expect(Self.words(machine.handle(.woken(mayWork: true), at: now)) == ["find running planned"])
        #expect(Self.words(machine.handle(.asked([first, second]), at: now)) == ["execute \(first.id)"])
        let failed = ComparisonRunner.Outcome.failed(code: "malformed_body", needsPerson: true, retryAt: nil)
        #expect(Self.words(machine.handle(.executed(failed), at: now)) == ["tell", "pause 300000"])
        now = now + .minutes(5)
        _ = machine.handle(.woken(mayWork: true), at: now)
        #expect(Self.words(machine.handle(.asked([first]), at: now)) == ["chain"])
        let jobs = machine.handle(.chain(head: nil, at: now), at: now)
        #expect(Self.words(jobs) == ["plan"])
        // And the wish is tried again after it.
        _ = machine.handle(.executed(failed), at: now)
        now = now + .minutes(5)
        _ = machine.handle(.woken(mayWork: true), at: now)
        #expect(Self.words(machine.handle(.asked([first]), at: now)) == ["execute \(first.id)"])
    }

    @Test func `who finds every run in another's hands looks again later`() throws {
        var machine = try Self.machine()
        let (first, second) = (try Self.run(3), try Self.run(5))
        _ = machine.handle(.woken(mayWork: true), at: Self.start)
        _ = machine.handle(.asked([first, second]), at: Self.start)
        #expect(Self.words(machine.handle(.executed(.notOurs), at: Self.start)) == ["execute \(second.id)"])
        #expect(Self.words(machine.handle(.executed(.notOurs), at: Self.start)) == ["chain"])
        _ = machine.handle(.chain(head: first, at: Self.start), at: Self.start)
        #expect(Self.words(machine.handle(.executed(.notOurs), at: Self.start)) == ["pause 2000"])
        // The schedule is not looked at again before its pause is over.
        #expect(Self.words(machine.handle(.woken(mayWork: true), at: Self.start + .seconds(2))) == ["find planned"])
        #expect(Self.words(machine.handle(.asked([]), at: Self.start + .seconds(2))) == ["pause 2000"])
        #expect(
            Self.words(machine.handle(.woken(mayWork: true), at: Self.start + .seconds(30))) == [
                "find running planned"
            ])
    }

    @Test func `failures double the pause up to the longest, and a run that gets through ends that`() throws {
        var machine = try Self.machine()
        let store = StoreFailure(.unavailable, operation: "runs", cause: "away")
        var pauses: [String] = []
        for _ in 0..<11 { pauses += Self.words(machine.handle(.failed(store), at: Self.start)) }
        let seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
        #expect(pauses.filter { $0 != "tell" } == seconds.map { "pause \($0 * 1_000)" })
        let run = try Self.run(3)
        #expect(Self.words(machine.handle(.executed(.finished(run)), at: Self.start)) == ["tell", "pause 0"])
        #expect(Self.words(machine.handle(.failed(store), at: Self.start)) == ["tell", "pause 1000"])
    }

    @Test func `a process that may not work asks for nothing`() throws {
        var machine = try Self.machine()
        #expect(Self.words(machine.handle(.woken(mayWork: false), at: Self.start)) == ["pause 2000"])
    }
}
