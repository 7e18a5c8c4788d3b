import HTTPTransport
import Synchronization
import Testing

@testable import PaymentCore
@testable import Providers

/// Reading a list page by page.
struct PaginatorTests {
    private let book = OrderBook()

    private func page(_ count: Int, next: String?) throws -> ScriptedSender.Step {
        let row = WireBodies.transaction("captured", key: try book.key(.authorize), payment: try book.payment.text)
        let cursor = next.map { "\"\($0)\"" } ?? "null"
        let rows = Array(repeating: row, count: count).joined(separator: ",")
        return ScriptedSender.answer(
            200, fields: .of("application/json"), body: #"{"data":[\#(rows)],"next_cursor":\#(cursor)}"#)
    }

    private func cursors(
        _ sender: any HTTPSender, from cursor: String? = nil, size: Int = 200
    ) async throws -> (seen: [String?], failure: ProviderCallFailure?) {
        let provider = try scriptedProvider(sender)
        let window = ListingWindow(from: StandingClock.noon + .hours(-1), to: StandingClock.noon)
        var seen: [String?] = []
        do {
            for try await page in provider.pages(of: window, from: cursor, pageSize: size) {
                seen.append(page.nextCursor)
            }
            return (seen, nil)
        } catch {
            return (seen, error)
        }
    }

    @Test
    func `pages follow each other to the last`() async throws {
        let sender = ScriptedSender([try page(2, next: "c1"), try page(2, next: "c/2"), try page(1, next: nil)])
        let (seen, failure) = try await cursors(sender, size: 2)
        #expect(failure == nil)
        #expect(seen == ["c1", "c/2", nil])
        let base = "https://provider.example/card/transactions?limit=2"
        #expect(
            sender.requests.map(\.url) == [
                base + "&updated_after=2026-03-01T11%3A00%3A00%2E000Z&updated_before=2026-03-01T12%3A00%3A00%2E000Z",
                base + "&cursor=c1", base + "&cursor=c%2F2",
            ])
        #expect(sender.requests.allSatisfy { $0.method == .get && $0.flightKey == nil })
    }

    @Test
    func `an empty list is one empty page`() async throws {
        let (seen, failure) = try await cursors(ScriptedSender([try page(0, next: nil)]))
        #expect(seen == [nil] && failure == nil)
    }

    @Test
    func `it goes on from a cursor`() async throws {
        let sender = ScriptedSender([try page(1, next: nil)])
        let (seen, _) = try await cursors(sender, from: "kept")
        #expect(seen == [nil])
        #expect(sender.requests.first?.url.hasSuffix("?limit=200&cursor=kept") == true)
    }

    @Test
    func `the page size is kept within the contract`() async throws {
        for (asked, used) in [(0, 1), (-5, 1), (50, 50), (100_000, 1000)] {
            let sender = ScriptedSender([try page(0, next: nil)])
            _ = try await cursors(sender, size: asked)
            #expect(sender.requests.first?.url.contains("limit=\(used)&") == true)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 20])
    func `cursors that go in a circle end the list with a failure`(length: Int) async throws {
        let number = Mutex(0)
        let rows = WireBodies.transaction("captured", key: try book.key(.authorize))
        let circle = ScriptedSender(otherwise: { _ throws(TransportFailure) in
            let next = number.withLock { number in
                number += 1
                return number % length
            }
            return HTTPResponse(
                status: 200, fields: .of("application/json"),
                body: Array(#"{"data":[\#(rows)],"next_cursor":"c\#(next)"}"#.utf8))
        })
        let (_, failure) = try await cursors(circle)
        #expect(failure?.code == "cursor_does_not_advance")
        #expect(circle.requests.count <= 4 * length + 4)
    }

    @Test
    func `an empty page that is not the last does not advance`() async throws {
        let (seen, failure) = try await cursors(ScriptedSender([try page(1, next: "a"), try page(0, next: "b")]))
        #expect(seen == ["a"])
        #expect(failure?.code == "cursor_does_not_advance")
    }

    @Test
    func `a failure ends the list, and says where and why`() async throws {
        let throttled = ScriptedSender.answer(
            429, fields: .of("application/problem+json", retryAfter: "9"),
            body: WireBodies.problem("/problems/rate-limited", status: 429))
        let (seen, failure) = try await cursors(ScriptedSender([try page(1, next: "a"), throttled]))
        #expect(seen == ["a"])
        #expect(failure?.code == "http_429" && failure?.status == 429)
        #expect(failure?.operation == "list_transactions")
        #expect(failure?.retryAfter == .delay(.seconds(9)))
        let (_, cut) = try await cursors(ScriptedSender([ScriptedSender.fail(.connectionReset, .receiving)]))
        #expect(cut?.code == "reset" && cut?.status == nil)
    }

    @Test
    func `one unreadable transaction spoils its page`() async throws {
        let bad = WireBodies.transaction("settling", key: try book.key(.authorize))
        let sender = ScriptedSender([
            ScriptedSender.answer(
                200, fields: .of("application/json"), body: #"{"data":[\#(bad)],"next_cursor":null}"#)
        ])
        let (seen, failure) = try await cursors(sender)
        #expect(seen.isEmpty && failure?.code == "malformed_body")
    }

    @Test
    func `a listed transaction names its payment`() async throws {
        let provider = try scriptedProvider(ScriptedSender([try page(1, next: nil)]))
        var listed: [ListedTransaction] = []
        for try await page in provider.pages(of: ListingWindow(from: nil, to: nil)) { listed += page.transactions }
        let only = try #require(listed.first)
        #expect(try only.key == book.key(.authorize))
        #expect(try only.payment == book.payment)
        #expect(only.updatedAt == Timestamp(rfc3339: "2026-03-01T11:00:01.500Z"))
        #expect(only.observation.status == .captured)
    }
}
