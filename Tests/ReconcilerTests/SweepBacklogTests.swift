import PaymentCore
import Reconciler
import Testing

/// A sweep over more than there are places for, in every order of claims and ends.
@Suite struct SweepBacklogTests {
    /// What the engine does with a ``Sweep``, one step at a time: a claim is on its way while payments end.
    struct Steps {
        let card: ProviderName
        let slow: ProviderName
        var sweep: Sweep
        var waiting: [ProviderName: [PaymentID]] = [:]
        var taken: [PaymentID] = []
        var isWoken = true
        var sleeps = false
        var underWay: (request: ClaimRequest, found: [(id: PaymentID, provider: ProviderName?)])?

        init(limits: Sweep.Limits, backlog: Int, slowOnes: Int) throws {
            card = try ProviderName("card")
            slow = try ProviderName("slow")
            sweep = Sweep(holder: "test", providers: [card, slow], limits: limits)
            let caller = try CallerID("shop")
            waiting[card] = try (0..<backlog).map { PaymentID(caller: caller, key: try IdempotencyKey("card-\($0)")) }
            waiting[slow] = try (0..<slowOnes).map { PaymentID(caller: caller, key: try IdempotencyKey("slow-\($0)")) }
        }

        /// Asks the sweep what to do, as often as the engine would without waiting for anything.
        mutating func step() {
            if sleeps {
                guard isWoken else { return }
                isWoken = false
                sleeps = false
                sweep.woke()
            }
            guard underWay == nil else { return }
            guard case .claim(let request) = sweep.next() else {
                sleeps = true
                return
            }
            // The store looks now; the answer arrives later.
            var found: [(id: PaymentID, provider: ProviderName?)] = []
            for provider in [card, slow] {
                let share = min(request.limitPerProvider[provider] ?? request.limit, request.limit - found.count)
                let ids = waiting[provider, default: []].prefix(share)
                waiting[provider]?.removeFirst(ids.count)
                found += ids.map { ($0, provider) }
            }
            underWay = (request, found)
        }

        mutating func answer() -> Int? {
            guard let (request, found) = underWay else { return nil }
            underWay = nil
            sweep.claimed(found, asked: request)
            taken += found.filter { $0.provider == card }.map(\.id)
            return found.count
        }

        mutating func end() {
            guard !taken.isEmpty else { return }
            if sweep.finished(taken.removeFirst()) { isWoken = true }
        }

        var isIdle: Bool { sleeps && !isWoken && underWay == nil }
    }

    /// Numbers that follow from the seed: the constants are Knuth's for 64 bits, the low bits are weak.
    struct Draws {
        var state: UInt64
        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    @Test(arguments: UInt64(1)...200)
    func `places that come free are filled again without waiting for the pause`(seed: UInt64) throws {
        var draws = Draws(state: seed)
        let share = 1 + draws.below(12)
        let limits = Sweep.Limits(
            places: 2 * share + draws.below(30), placesPerProvider: share, batch: 1 + draws.below(16))
        // Those of the slow one never end and fill its share.
        var steps = try Steps(limits: limits, backlog: 300, slowOnes: share + 5)
        let ends = 1 + draws.below(6)
        var claims = 0
        var inVain = 0
        for _ in 0..<20_000 where steps.waiting[steps.card]?.isEmpty == false {
            steps.step()
            if draws.below(4) == 0, let count = steps.answer() {
                claims += 1
                inVain += count == 0 ? 1 : 0
            }
            if draws.below(6) < ends { steps.end() }
            // It may gather a few free places before it asks, and is always told of them.
            let isFull = steps.taken.count * 4 > share * 3 || steps.sweep.takenCount * 4 > limits.places * 3
            try #require(!steps.isIdle || (isFull && !steps.taken.isEmpty))
        }
        #expect(steps.waiting[steps.card] == [])
        // Nor does it ask for each place alone, or again and again in vain.
        let least = max(1, min(limits.batch, share / 4))
        #expect(claims - inVain <= 300 / least + 10 && inVain * 10 <= claims, "\(claims) \(inVain) \(limits)")
    }
}
