import PaymentCore
import Reconciler
import Testing

@Suite struct SweepTests {
    func ids(_ range: Range<Int>) throws -> [PaymentID] {
        try range.map { PaymentID(caller: try CallerID("shop"), key: try IdempotencyKey("key-\($0)")) }
    }

    @Test func `a provider that holds its payments fills only its own share`() throws {
        let slow = try ProviderName("slow")
        let fast = try ProviderName("fast")
        var sweep = Sweep(
            holder: "test", providers: [slow, fast],
            limits: Sweep.Limits(places: 100, placesPerProvider: 10, batch: 50))
        guard case .claim(let first) = sweep.next() else {
            Issue.record("expected a claim")
            return
        }
        #expect(first.limitPerProvider == [slow: 10, fast: 10])
        sweep.claimed(try ids(0..<10).map { ($0, slow) }, asked: first)
        sweep.woke()
        guard case .claim(let second) = sweep.next() else {
            Issue.record("expected a claim")
            return
        }
        #expect(second.limitPerProvider == [slow: 0, fast: 10])
    }

    @Test func `it pauses when nothing more is due and when every place is taken`() throws {
        let card = try ProviderName("card")
        var sweep = Sweep(
            holder: "test", providers: [card],
            limits: Sweep.Limits(places: 2, placesPerProvider: 2, batch: 2, longestPause: .seconds(3)))
        guard case .claim(let first) = sweep.next() else {
            Issue.record("expected a claim")
            return
        }
        sweep.claimed([], asked: first)
        #expect(sweep.next() == .pause(atMost: .seconds(3)))
        sweep.woke()
        let two = try ids(0..<2)
        sweep.claimed(two.map { ($0, card) }, asked: first)
        #expect(sweep.next() == .pause(atMost: .seconds(3)))
        let isWanted = sweep.finished(two[0])
        #expect(isWanted)
        sweep.woke()
        guard case .claim(let request) = sweep.next() else {
            Issue.record("expected a claim")
            return
        }
        #expect(request.limit == 1)
    }

    @Test func `what is due at a provider that it does not have is left to others for a minute`() throws {
        let card = try ProviderName("card")
        var sweep = Sweep(holder: "test", providers: [card])
        guard case .claim(let request) = sweep.next() else {
            Issue.record("expected a claim")
            return
        }
        #expect(request.scope == sweep.scope)
        #expect(sweep.scope.wait(at: card) == .zero)
        #expect(sweep.scope.wait(at: try ProviderName("elsewhere")) == .minutes(1))
        // A deadline is of no provider.
        #expect(sweep.scope.wait(at: nil) == .zero)
    }

    @Test func `a payment of a caller takes no place of the sweep`() throws {
        var sweep = Sweep(holder: "test", providers: [try ProviderName("card")])
        let isWanted = sweep.finished(try ids(0..<1)[0])
        #expect(!isWanted)
        #expect(sweep.takenCount == 0)
    }

    @Test func `places that were taken by what waited for a provider are claimed for once one is free`() throws {
        let card = try ProviderName("card")
        var sweep = Sweep(
            holder: "test", providers: [card],
            limits: Sweep.Limits(places: 2, placesPerProvider: 2, batch: 2, longestPause: .seconds(3)))
        let two = try ids(0..<2)
        sweep.claimedWaiting(two, at: card)
        sweep.woke()
        #expect(sweep.next() == .pause(atMost: .seconds(3)))
        let isWanted = sweep.finished(two[0])
        #expect(isWanted, "somebody said that something is due, and there was no place")
    }
}
