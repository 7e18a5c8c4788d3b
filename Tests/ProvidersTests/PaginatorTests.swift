import HTTPTransport
import Synchronization
import Testing

@testable import PaymentCore
@testable import Providers

/// Reading a list page by page.
struct PaginatorTests {
    private let book = ListingBook()

    private func pages(
        _ sender: any HTTPSender, size: Int = 200
    ) async throws -> (keys: [[String]], failure: ProviderCallFailure?) {
        let provider = try scriptedProvider(sender)
        let window = try book.window
        var keys: [[String]] = []
        do {
            for try await page in provider.pages(of: window, pageSize: size) {
                keys.append(page.positions.map(\.key.text))
            }
            return (keys, nil)
        } catch {
            return (keys, error)
        }
    }

    @Test
    func `pages follow each other to the last`() async throws {
        let sender = ScriptedSender([
            book.page([1, 2], next: "c1"), book.page([3, 4], next: "c/2"), book.page([5], next: nil),
        ])
        let (keys, failure) = try await pages(sender, size: 2)
        #expect(failure == nil)
        #expect(keys == [[book.key(1), book.key(2)], [book.key(3), book.key(4)], [book.key(5)]])
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
        let (keys, failure) = try await pages(ScriptedSender([book.page([], next: nil)]))
        #expect(keys == [[]] && failure == nil)
    }

    @Test
    func `the page size is kept within the contract`() async throws {
        for (asked, used) in [(0, 1), (-5, 1), (50, 50), (100_000, 1000)] {
            let sender = ScriptedSender([book.page([], next: nil)])
            _ = try await pages(sender, size: asked)
            #expect(sender.requests.first?.url.contains("limit=\(used)&") == true)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 20])
    func `cursors that go in a circle end the list with a failure`(length: Int) async throws {
        let number = Mutex(0)
        let circle = ScriptedSender(otherwise: { request throws(TransportFailure) in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return try await book.page([(next - 1) % length], next: "c\(next % length)")(request)
        })
        let (keys, failure) = try await pages(circle)
        #expect(keys.count == length)
        #expect(failure?.code == "out_of_order")
    }

    @Test
    func `a failure ends the list, and says where and why`() async throws {
        let throttled = ScriptedSender.answer(
            429, fields: .of("application/problem+json", retryAfter: "9"),
            body: WireBodies.problem("/problems/rate-limited", status: 429))
        let (keys, failure) = try await pages(ScriptedSender([book.page([1], next: "a"), throttled]))
        #expect(keys == [[book.key(1)]])
        #expect(failure?.code == "http_429" && failure?.status == 429)
        #expect(failure?.operation == "list_transactions")
        #expect(failure?.retryAfter == .delay(.seconds(9)))
        let (_, cut) = try await pages(ScriptedSender([ScriptedSender.fail(.connectionReset, .receiving)]))
        #expect(cut?.code == "reset" && cut?.status == nil)
    }
}
