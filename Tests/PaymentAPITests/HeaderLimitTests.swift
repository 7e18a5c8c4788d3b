import PaymentAPI
import Testing

struct HeaderLimitTests {
    @Test func `the limits of headers are those that the listener was given`() async throws {
        var limits = APILimits()
        (limits.maximumHeaderFieldBytes, limits.maximumHeaderBytes, limits.maximumHeaderFields) = (300, 500, 8)
        try await RunningAPI.run(limits: limits) { api in
            func status(_ fields: Int, _ bytes: Int) async throws -> Int {
                let value = String(repeating: "w", count: bytes)
                return try await api.send(
                    "GET", "/v1/payments", headers: (0..<fields).map { ("X-\($0)", value) }
                ).status
            }
            let (fits, isWide) = (try await status(1, 200), try await status(1, 301))
            let (areWide, areMany) = (try await status(2, 290), try await status(8, 1))
            #expect(fits == 200)
            #expect(isWide == 431, "one field is too long")
            #expect(areWide == 431, "all of them are too long")
            #expect(areMany == 431, "there are too many")
        }
    }
}
