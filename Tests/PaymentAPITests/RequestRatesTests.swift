import PaymentCore
import Testing

@testable import PaymentAPI

@Suite struct RequestRatesTests {
    @Test func `a burst is admitted, then one for each interval, and the wait is exact`() throws {
        let rates = RequestRates()
        let shop = try CallerID("shop")
        let rate = CallerRate(requestsPerSecond: 10, burst: 3)
        let start = ContinuousClock.now
        for _ in 1...3 { #expect(rates.admit(shop, at: rate, now: start) == nil) }
        #expect(rates.admit(shop, at: rate, now: start) == .milliseconds(100))
        // What was refused did not count.
        #expect(rates.admit(shop, at: rate, now: start + .milliseconds(99)) == .milliseconds(1))
        #expect(rates.admit(shop, at: rate, now: start + .milliseconds(100)) == nil)
        #expect(rates.admit(shop, at: rate, now: start + .milliseconds(100)) == .milliseconds(100))
        // A pause gives the whole burst again, and no more.
        let later = start + .seconds(60)
        for _ in 1...3 { #expect(rates.admit(shop, at: rate, now: later) == nil) }
        #expect(rates.admit(shop, at: rate, now: later) != nil)
    }

    @Test func `over a long time the rate is what was said`() throws {
        let rates = RequestRates()
        let shop = try CallerID("shop")
        let start = ContinuousClock.now
        // Asked each millisecond for ten seconds.
        let admitted = (0..<10_000).filter {
            let now = start + .milliseconds($0)
            return rates.admit(shop, at: CallerRate(requestsPerSecond: 50, burst: 5), now: now) == nil
        }
        #expect((500...505).contains(admitted.count))
    }

    @Test func `one caller's requests do not count for another`() throws {
        let rates = RequestRates()
        let rate = CallerRate(requestsPerSecond: 1, burst: 1)
        let start = ContinuousClock.now
        #expect(rates.admit(try CallerID("shop"), at: rate, now: start) == nil)
        #expect(rates.admit(try CallerID("shop"), at: rate, now: start) == .seconds(1))
        #expect(rates.admit(try CallerID("kiosk"), at: rate, now: start) == nil)
    }

    @Test func `whoever asks more often is told when to come again, and nothing is done`() async throws {
        let slow = CallerRate(requestsPerSecond: 1, burst: 2)
        try await RunningAPI.run(rates: ["shop": slow]) { api in
            for _ in 1...2 { #expect(try await api.get("/v1/payments").status == 200) }
            let calls = api.operations.calls.count
            let refused = try await api.create(key: "k-1")
            #expect(refused.status == 429)
            #expect(try refused.string("type") == "/problems/rate-limited")
            #expect(try refused.string("detail") == "At most 1 requests per second, and 2 at once.")
            #expect(refused.headers["retry-after"] == "1")
            #expect(api.operations.calls.count == calls)
            // Others, and what needs no token, are answered.
            #expect(try await api.get("/v1/payments", token: RunningAPI.otherToken).status == 200)
            #expect(try await api.get("/v1/site", token: nil).status == 200)
        }
    }

    @Test func `rates and rights are replaced while requests are answered`() throws {
        let digest = try #require(CallerDirectory.digest(ofToken: "a"))
        let shop = try CallerID("shop")
        let directory = try CallerDirectory([(CallerAccess(shop), digest)])
        #expect(directory.rate(of: shop) == nil)
        let rate = CallerRate(requestsPerSecond: 5, burst: 5)
        let other = try CallerDirectory([(CallerAccess(shop, scopes: [.read]), digest)], rates: [shop: rate])
        directory.replace(with: other)
        #expect(directory.rate(of: shop) == rate)
        #expect(directory.access(bearing: "a")?.scopes == [.read])
    }
}
