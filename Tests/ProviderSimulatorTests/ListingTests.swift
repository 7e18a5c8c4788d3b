import Foundation
import ProviderSimulator
import Testing

@Suite struct ListingTests {
    private func key(_ number: Int) -> String { "listed-key-00000\(number)" }

    @Test func `pages follow one another by the time of change`() async throws {
        try await withSimulator { card async throws in
            for number in 1...5 {
                _ = try await card.pay(key(number))
                card.clock.advance(number == 2 ? 0 : 1000)
            }
            _ = try await card.capture(key(1))
            var seen: [String] = []
            var query = "?limit=2"
            while true {
                let page = try await card.request("GET", "/card/transactions\(query)").page()
                seen += page.data.map(\.key)
                guard let cursor = page.nextCursor else { break }
                query = "?limit=2&cursor=\(cursor)"
            }
            #expect(seen == [key(2), key(3), key(4), key(5), key(1)])
        }
    }

    @Test func `windows neither overlap nor leave a gap`() async throws {
        try await withSimulator { card async throws in
            for number in 1...3 {
                _ = try await card.pay(key(number))
                card.clock.advance(1000)
            }
            let split = "2027-01-15T08:00:01.000Z"
            let before = try await card.request("GET", "/card/transactions?updated_before=\(split)").page()
            let after = try await card.request("GET", "/card/transactions?updated_after=\(split)").page()
            #expect(before.data.map(\.key) == [key(1)])
            #expect(after.data.map(\.key) == [key(2), key(3)])
        }
    }

    @Test func `a hold that ran out is listed as changed`() async throws {
        var contract = ContractOptions()
        contract.authorizationLifeMs = 500
        try await withSimulator(contract) { card async throws in
            _ = try await card.pay(key(1))
            card.clock.advance(1000)
            let page = try await card.request("GET", "/card/transactions?updated_after=2027-01-15T08:00:01Z")
                .page()
            #expect(page.data.map(\.status) == ["expired"])
        }
    }

    @Test(arguments: ["limit=0", "limit=1001", "cursor=%21", "updated_after=yesterday"])
    func `a wrong question is refused`(query: String) async throws {
        try await withSimulator { card async throws in
            #expect(try await card.request("GET", "/card/transactions?\(query)").status == 400)
        }
    }
}
