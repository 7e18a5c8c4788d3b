import Testing

@testable import HTTPTransport

@Suite struct `The request budget` {
    private let start = ContinuousClock.now
    private let never = ContinuousClock.now + .seconds(86_400)

    @Test func `places are given first come first served`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 2))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: never) == .wait)
        #expect(budget.ask(3, now: start, until: never) == .wait)
        #expect(budget.ask(4, now: start, until: never) == .refused)
        #expect(budget.release(0, now: start) == [.init(id: 2, answer: .start(at: start))])
        #expect(budget.release(0, now: start) == [.init(id: 3, answer: .start(at: start))])
        #expect(budget.release(0, now: start) == [])
        #expect(budget.placesTaken == 0)
    }

    /// Asks, and drives the budget as those who wait would: each tells when it started.
    private func starts(
        _ budget: inout RequestBudget, asking: [(id: UInt64, lane: String)], at now: ContinuousClock.Instant
    ) -> [(id: UInt64, at: ContinuousClock.Instant)] {
        var started: [(id: UInt64, at: ContinuousClock.Instant)] = []
        for (id, lane) in asking {
            if case .start(let at) = budget.ask(id, lane: lane, now: now, until: never) { started.append((id, at)) }
        }
        var told = 0
        while told < started.count {
            let (id, at) = started[told]
            told += 1
            for grant in budget.started(id, now: max(now, at)) {
                if case .start(let at) = grant.answer { started.append((grant.id, at)) }
            }
        }
        return started
    }

    @Test func `the rate spreads starts after a burst, and a pause fills it again`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 3, concurrent: 100))
        let first = starts(&budget, asking: (1...5).map { ($0, "") }, at: start)
        #expect(first.map(\.at) == [0, 0, 0, 100, 200].map { start + .milliseconds($0) })
        let later = start + .seconds(10)
        let again = starts(&budget, asking: (6...9).map { ($0, "") }, at: later)
        #expect(again.map(\.at) == [0, 0, 0, 100].map { later + .milliseconds($0) })
    }

    @Test func `no more start in any second than rate and burst allow`() {
        var budget = RequestBudget(.init(perSecond: 5, burst: 2, concurrent: 1_000))
        let starts = starts(&budget, asking: (0..<100).map { ($0, "\($0 % 7)") }, at: start).map(\.at)
        #expect(starts.count == 100)
        for first in starts {
            let within = starts.count { $0 >= first && $0 < first + .seconds(1) }
            #expect(within <= 5 + 2)
        }
    }

    @Test func `lanes take turns, whoever has how many`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 1, concurrent: 100))
        let greedy = (1...60).map { (UInt64($0), "greedy") }
        let started = starts(&budget, asking: greedy + [(101, "shop"), (102, "shop"), (103, "kiosk")], at: start)
        // The first two of the greedy one found nobody; then each of the three has a turn.
        #expect(started.map(\.id).prefix(7) == [1, 2, 3, 101, 103, 4, 102])
        #expect(started.count == 63)
    }

    @Test func `places are given in turns as well`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...9 as ClosedRange<UInt64> {
            #expect(budget.ask(id, lane: "greedy", now: start, until: never) == .wait)
        }
        #expect(budget.ask(10, lane: "shop", now: start, until: never) == .wait)
        #expect((0..<3).flatMap { _ in budget.release(0, now: start).map(\.id) } == [2, 10, 3])
    }

    @Test func `a full queue takes one of a shorter lane, and refuses the latest of the longest`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 4))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...5 as ClosedRange<UInt64> {
            #expect(budget.ask(id, lane: "greedy", now: start, until: never) == .wait)
        }
        let isPromised = ["greedy", "shop"].map { budget.promise(lane: $0, now: start) }
        #expect(isPromised == [false, true])
        #expect(budget.ask(6, lane: "greedy", now: start, until: never) == .refused)
        #expect(budget.ask(7, lane: "shop", now: start, until: never) == .wait)
        #expect(budget.advance(now: start) == [.init(id: 5, answer: .refused)])
        #expect(budget.ask(8, lane: "shop", now: start, until: never) == .wait)
        // Two each: nobody is longer by more than one.
        #expect(budget.ask(9, lane: "shop", now: start, until: never) == .refused)
        #expect(budget.queueLength == 4)
    }

    @Test func `who could only start too late is refused and takes no token`() {
        var budget = RequestBudget(.init(perSecond: 1, burst: 1, concurrent: 10))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .milliseconds(500)) == .refused)
        #expect(budget.ask(3, now: start, until: never) == .start(at: start + .seconds(1)))
        #expect(budget.ask(4, now: start, until: start + .milliseconds(1_900)) == .refused)
        #expect(budget.ask(5, lane: "shop", now: start, until: start + .milliseconds(2_100)) == .wait)
        // After one of its own lane, and after one of another.
        #expect(budget.ask(6, lane: "shop", now: start, until: start + .milliseconds(2_900)) == .refused)
        #expect(budget.ask(7, lane: "kiosk", now: start, until: start + .milliseconds(2_900)) == .refused)
        #expect(budget.ask(8, now: start, until: start) == .refused)
        let second = start + .seconds(1)
        #expect(budget.started(3, now: second) == [.init(id: 5, answer: .start(at: start + .seconds(2)))])
        #expect(budget.placesTaken == 3)
    }

    @Test func `what was begun is finished before more is begun`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, lane: "shop", begins: true, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, lane: "shop", begins: true, now: start, until: never) == .wait)
        #expect(budget.ask(3, lane: "shop", begins: false, now: start, until: never) == .wait)
        #expect((0..<2).flatMap { _ in budget.release(0, now: start).map(\.id) } == [3, 2])
    }

    @Test func `no more is promised than can begin in time, and promises run out`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 1, concurrent: 10, longestWait: .seconds(5)))
        let kept = (0..<200).count { _ in budget.promise(lane: "greedy", now: start) }
        #expect(kept == 50, "ten in a second, for five seconds")
        let isOtherPromised = budget.promise(lane: "shop", now: start)
        #expect(isOtherPromised)
        // Each that begins keeps one.
        #expect(budget.ask(1, lane: "greedy", begins: true, now: start, until: never) == .start(at: start))
        let again = budget.promise(lane: "greedy", now: start)
        #expect(!again)
        let later = start + .seconds(5)
        let keptLater = (0..<200).count { _ in budget.promise(lane: "greedy", now: later) }
        #expect(keptLater == 50)
    }

    @Test func `where the provider keeps up everything is promised`() {
        var budget = RequestBudget(.init(perSecond: 100_000, concurrent: 4, queue: 8))
        let kept = (0..<2_000).count { _ in budget.promise(lane: "shop", now: start) }
        #expect(kept == 2_000)
        #expect(budget.queueLength == 0)
    }

    @Test func `a queue that is promised to one caller has room for another`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 8))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...9 as ClosedRange<UInt64> { _ = budget.ask(id, lane: "greedy", now: start, until: never) }
        let isPromised = budget.promise(lane: "greedy", now: start)
        #expect(!isPromised)
        let shops = (0..<10).count { _ in budget.promise(lane: "shop", now: start) }
        #expect((1..<8).contains(shops))
        #expect(budget.ask(10, lane: "shop", begins: true, now: start, until: never) == .wait)
    }

    @Test func `one that waited too long is refused when its turn comes, and the next one goes`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .seconds(1)) == .wait)
        #expect(budget.ask(3, now: start, until: never) == .wait)
        let later = start + .seconds(2)
        #expect(
            budget.release(0, now: later) == [
                .init(id: 2, answer: .refused), .init(id: 3, answer: .start(at: later)),
            ])
    }

    @Test func `one that gives up leaves the queue, once`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: never) == .wait)
        #expect(budget.abandon(2) == true)
        #expect(budget.abandon(2) == false)
        #expect(budget.queueLength == 0)
        #expect(budget.release(0, now: start) == [])
    }
}
