import PaymentCore
import Testing

@Suite struct ComparisonScheduleTests {
    private let contract = ProviderContract.listed  // It lags by a minute.
    private let settings = ComparisonSettings()

    private func next(_ head: ComparisonRun?, at now: Timestamp) throws -> ComparisonSchedule.Next {
        ComparisonSchedule.next(at: try Compared.provider(), after: head, contract, settings, now: now)
    }

    private func begun(_ next: ComparisonSchedule.Next) -> ComparisonRun? {
        guard case .begin(let run) = next else { return nil }
        return run
    }

    /// A run as it is once it is finished.
    private func completed(_ run: ComparisonRun) throws -> ComparisonRun {
        let world = try ComparisonWorld(run: run)
        try world.finish()
        return world.run
    }

    @Test func `windows adjoin, oldest first, however long nobody looked`() throws {
        let begin = Compared.start
        var settings = settings
        settings.begin = begin
        let now = begin + .days(3)
        var head: ComparisonRun?
        var windows: [ComparedWindow] = []
        while true {
            let next = ComparisonSchedule.next(
                at: try Compared.provider(), after: head, contract, settings, now: now)
            guard let run = begun(next) else {
                #expect(next == .wait(until: begin + .hours(72) + .seconds(5) + .minutes(1 + 2 + 5)))
                break
            }
            windows.append(run.window)
            #expect(run.coveredFrom == begin)
            head = try completed(run)
        }
        #expect(windows.count == 71)
        #expect(windows.first?.from == begin)
        #expect(zip(windows, windows.dropFirst()).allSatisfy { $0.to == $1.from })
    }

    @Test func `a window is begun once nothing of it can be in flight, and not a millisecond earlier`() throws {
        let head = try completed(Compared.run())
        let ready = head.window.to + .hours(1) + .seconds(5) + .minutes(1 + 2 + 5)
        #expect(try next(head, at: ready + .milliseconds(-1)) == .wait(until: ready))
        let run = try #require(begun(try next(head, at: ready)))
        #expect(run.window.to == head.window.to + .hours(1))
        #expect(run.horizon == run.window.to)
        #expect(run.overlap == .minutes(1))
        #expect(run.clockMargin == .seconds(5))
    }

    @Test func `without a beginning the first window ends where nothing is in flight any more`() throws {
        let now = Compared.start
        let run = try #require(begun(try next(nil, at: now)))
        #expect(run.window.to == ComparisonSchedule.settledUntil(contract, settings, now: now))
        #expect(run.window.from == run.window.to + .hours(-1))
    }

    @Test func `a run that is not finished is gone on with; one that was given up is begun again`() throws {
        var head = try Compared.run()
        let now = Compared.start + .days(1)
        #expect(try next(head, at: now) == .resume(head))
        head.abandon(at: now)
        let again = try #require(begun(try next(head, at: now)))
        #expect(again.window == head.window)
        #expect(again.attempt == 1)
        #expect(again.id != head.id)
    }

    @Test func `whoever asks at whatever time plans the same run`() throws {
        let head = try completed(Compared.run())
        let first = begun(try next(head, at: Compared.start + .days(1)))
        let second = begun(try next(head, at: Compared.start + .days(2)))
        #expect(first != nil && first?.id == second?.id)
    }

    @Test func `a window that is asked for may not be too young, and does not touch the chain`() throws {
        let provider = try Compared.provider()
        let now = Compared.start + .hours(1)
        let settled = ComparisonSchedule.settledUntil(contract, settings, now: now)
        let window = try #require(ComparedWindow(from: Compared.start, to: settled))
        let run = try ComparisonSchedule.asked(at: provider, window, contract, settings, now: now)
        #expect(run.kind == .asked && run.window == window)
        let dry = try ComparisonSchedule.asked(at: provider, window, isDry: true, contract, settings, now: now)
        #expect(dry.isDry && dry.lane != run.lane && dry.id != run.id)
        let young = try #require(ComparedWindow(from: Compared.start, to: settled + .milliseconds(1)))
        #expect(throws: ComparisonSchedule.Refusal.tooYoung(settledUntil: settled)) {
            try ComparisonSchedule.asked(at: provider, young, contract, settings, now: now)
        }
        var silent = contract
        silent.listing = false
        #expect(throws: ComparisonSchedule.Refusal.noListing) {
            try ComparisonSchedule.asked(at: provider, window, silent, settings, now: now)
        }
    }
}
