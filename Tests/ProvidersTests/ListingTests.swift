import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The listing as the comparison reads it: what a page becomes, and what is no page.
struct ListingTests {
    private let book = ListingBook()

    private func listing(_ steps: [ScriptedSender.Step], _ contract: ProviderContract = .reference) throws
        -> any ListingProvider
    {
        guard let listing = try scriptedProvider(ScriptedSender(steps), contract: contract).listing else {
            throw WrongFixture()
        }
        return listing
    }

    private func failure(_ listing: any ListingProvider, cursor: String? = nil, limit: Int = 200) async throws
        -> ListingFailure?
    {
        let order = ListingOrder(window: try book.window, cursor: cursor, limit: limit)
        do {
            _ = try await listing.list(order)
            return nil
        } catch {
            return error
        }
    }

    /// The cursor after a first page of one transaction, the third.
    private func cursor() async throws -> String? {
        let listing = try listing([book.page([3], next: "theirs")])
        return try await listing.list(ListingOrder(window: try book.window)).next
    }

    @Test
    func `a transaction becomes a position`() async throws {
        let keys = OrderBook()
        let body = WireBodies.transaction(
            "captured", key: try keys.key(.authorize),
            captures: [WireBodies.movement(try keys.key(.capture), "succeeded", value: 1000)],
            refunds: [
                WireBodies.movement(EffectKey(reported: "refund-b"), "succeeded", value: 200),
                WireBodies.movement(EffectKey(reported: "refund-a"), "succeeded", value: 100),
                WireBodies.movement(EffectKey(reported: "refund-c"), "pending", value: 50),
            ], payment: try keys.payment.text, leg: "1")
        let page = try await listing([book.page(rows: [body], next: nil)])
            .list(ListingOrder(window: try book.window))
        let only = try #require(page.positions.first)
        #expect(page.positions.count == 1 && page.next == nil)
        #expect(try only.key == keys.key(.authorize) && only.payment == keys.payment && only.leg == 1)
        #expect(only.status == .captured && only.contradiction == nil)
        #expect(try only.amount == keys.money(1200) && only.captured == keys.money(1000))
        #expect(only.refunds.map(\.key.text) == ["refund-a", "refund-b"] && only.refunded?.value == 300)
        #expect(only.updatedAt == Timestamp(rfc3339: "2026-03-01T11:00:01.500Z"))
    }

    @Test(arguments: [nil, "-1", "first", "1.5", ""])
    func `a leg that is no number from 0 is none`(leg: String?) async throws {
        let row = WireBodies.transaction(
            "authorized", key: try OrderBook().key(.authorize), payment: "order-7", leg: leg)
        let page = try await listing([book.page(rows: [row], next: nil)]).list(ListingOrder(window: try book.window))
        #expect(page.positions.count == 1)
        #expect(page.positions.allSatisfy { $0.leg == nil && $0.payment == nil })
    }

    @Test
    func `what began under another contract is listed as what it is`() async throws {
        let pages = [book.page([1], next: nil)]
        let now = try await listing(pages, .referenceSale).list(ListingOrder(window: try book.window))
        let then = try await listing(pages, .reference).list(ListingOrder(window: try book.window))
        #expect(now.positions.map(\.contradiction) == [nil] && now.positions == then.positions)
    }

    /// Of a question for the seconds 3 and 4 the listing is asked for the latest second first, and nothing else is.
    @Test(arguments: [
        ([[4], [3]], [4, 3]), ([[4], []], [4]), ([[4], nil], nil), ([[], [3]], nil), ([nil], nil),
    ])
    func `a provider without an inquiry is asked through its listing`(answers: [[Int]?], shown: [Int]?) async throws {
        let steps = answers.map { seconds in
            seconds.map { seconds in
                book.page(rows: seconds.map { book.row(1, updated: book.instant($0)) }, next: nil)
            } ?? ScriptedSender.answer(503, fields: .of("application/json"), body: "{}")
        }
        let moments = [3, 4].compactMap { Timestamp(rfc3339: book.instant($0)) }
        let question = KeyQuestion(
            key: EffectKey(reported: book.key(1)), payment: nil, listedAt: nil, earlier: moments, isOfListing: true)
        switch await (try listing(steps)).find(question) {
        case .shown(let position, let isListed):
            #expect(isListed == true)
            #expect(position.lines.map(\.updatedAt) == shown?.map { Timestamp(rfc3339: book.instant($0)) })
        case .unavailable: #expect(shown == nil)
        case .absent: Issue.record("a listing never says that a key is not known")
        }
    }

    /// Of a transaction that changed in second 4 and is asked for under its key, the listing is asked for that second,
    /// and then for an earlier one at which it showed another.
    @Test(arguments: [
        ([[4], [3]], true, [4, 3]), ([[4], []], true, [4]), ([[], [3]], false, [4, 3]), ([nil], nil, [4]),
        ([[4], nil], nil, [4]),
    ])
    func `whether the listing shows what an inquiry shows is known, or said not to be`(
        answers: [[Int]?], isListed: Bool?, shown: [Int]
    ) async throws {
        let pages = answers.map { seconds in
            seconds.map { seconds in
                book.page(rows: seconds.map { book.row(1, updated: book.instant($0)) }, next: nil)
            } ?? ScriptedSender.answer(503, fields: .of("application/json"), body: "{}")
        }
        let inquiry = book.answer(book.row(1, updated: book.instant(4)))
        let earlier = try #require(Timestamp(rfc3339: book.instant(3)))
        let question = KeyQuestion(
            key: EffectKey(reported: book.key(1)), payment: nil, listedAt: nil, earlier: [earlier])
        guard case .shown(let position, let listed) = await (try listing([inquiry] + pages)).find(question) else {
            Issue.record("it is shown")
            return
        }
        #expect(listed == isListed)
        #expect(position.lines.map(\.updatedAt) == shown.map { Timestamp(rfc3339: book.instant($0)) })
    }

    @Test
    func `a listing goes on from the cursor, after a restart too`() async throws {
        let sender = ScriptedSender([book.page([4, 5], next: nil)])
        let listing = try #require(try scriptedProvider(sender).listing)
        let page = try await listing.list(ListingOrder(window: try book.window, cursor: try await cursor(), limit: 50))
        #expect(page.positions.map(\.key.text) == [book.key(4), book.key(5)])
        #expect(sender.requests.first?.url == "https://provider.example/card/transactions?limit=50&cursor=theirs")
    }

    @Test
    func `a provider whose contract has no listing has none`() throws {
        var contract = ProviderContract.reference
        contract.listing = false
        #expect(try scriptedProvider(ScriptedSender([]), contract: contract).listing == nil)
    }

    @Test
    func `a page that cannot be read whole is a failure, never a shorter list`() async throws {
        let good = book.row(1)
        func second(_ row: String) -> String { #"{"data":[\#(good),\#(row)],"next_cursor":null}"# }
        let bodies = [
            "", "{", "[]", #"{"data":[\#(good)]}"#, #"{"next_cursor":null}"#, #"{"data":null,"next_cursor":null}"#,
            #"{"data":[\#(good)],"next_cursor":""}"#, #"{"data":[\#(good)],"next_cursor":7}"#,
            second("null"), second("{}"),
            second(book.row(2).replacing(#""status":"captured""#, with: #""status":"settling""#)),
            second(book.row(2, updated: "soon")), second(book.row(2, updated: "2026-03-01T11:00:02+00:00")),
            second(book.row(2).replacing(#""updated_at""#, with: #""changed_at""#)),
            // Said twice, also where it is the same or of no interest.
            second(book.row(2).replacing(#""status":"captured""#, with: #""status":"captured","status":"voided""#)),
            second(book.row(2).replacing(#""deep""#, with: #""deep":1,"deep""#)),
            #"{"data":[],"data":[\#(good)],"next_cursor":null}"#,
            #"{"data":[\#(good)],"next_cursor":null,"next_cursor":null}"#,
        ]
        for body in bodies {
            let found = try await failure(listing([book.answer(body)]))
            #expect(found?.kind == .malformed && found?.code == "malformed_body", "\(body)")
        }
        let page = ScriptedSender.answer(200, fields: .of("text/html"), body: WireBodies.html)
        #expect(try await failure(listing([page])) == ListingFailure(.malformed, code: "wrong_content_type"))
    }

    @Test
    func `transactions out of order are a failure`() async throws {
        let pages = [
            [book.row(2), book.row(1)], [book.row(1), book.row(1)],
            [book.row(2, updated: book.instant(5)), book.row(1, updated: book.instant(5))],
            [
                book.row(1, updated: "2026-03-01T11:00:05.0000009Z"),
                book.row(2, updated: "2026-03-01T11:00:05.000000800Z"),
            ],
        ]
        for rows in pages {
            let found = try await failure(listing([book.page(rows: rows, next: nil)]))
            #expect(found == ListingFailure(.malformed, code: "out_of_order"), "\(rows)")
        }
        let finer = [
            book.row(2, updated: "2026-03-01T11:00:05.00000008Z"), book.row(1, updated: "2026-03-01T11:00:05.0000009Z"),
            book.row(2, updated: "2026-03-01T11:00:05.000000900Z"),
        ]
        #expect(try await failure(listing([book.page(rows: finer, next: nil)])) == nil)
    }

    @Test
    func `the order is watched from one page to the next`() async throws {
        let cursor = try await cursor()
        for number in [1, 2, 3] {
            let found = try await failure(listing([book.page([number], next: nil)]), cursor: cursor)
            #expect(found == ListingFailure(.malformed, code: "out_of_order"), "\(number)")
        }
        #expect(try await failure(listing([book.page([4], next: nil)]), cursor: cursor) == nil)
    }

    @Test
    func `an empty page that is not the last does not advance`() async throws {
        let found = try await failure(listing([book.page([], next: "b")]))
        #expect(found == ListingFailure(.malformed, code: "cursor_does_not_advance"))
    }

    @Test
    func `what was not asked for is a failure`() async throws {
        let early = book.page(rows: [book.row(1, updated: "2026-03-01T10:59:59.999Z")], next: nil)
        #expect(try await failure(listing([early])) == ListingFailure(.malformed, code: "outside_window"))
        let late = book.page(rows: [book.row(1, updated: "2026-03-01T12:00:00Z")], next: nil)
        #expect(try await failure(listing([late])) == ListingFailure(.malformed, code: "outside_window"))
        let many = book.page([1, 2, 3], next: nil)
        #expect(try await failure(listing([many]), limit: 2) == ListingFailure(.malformed, code: "page_too_large"))
    }

    @Test
    func `a failure says what may help, and when`() async throws {
        func answer(_ status: Int, retryAfter: String? = nil) throws -> any ListingProvider {
            try listing([
                ScriptedSender.answer(
                    status, fields: .of("application/problem+json", retryAfter: retryAfter),
                    body: WireBodies.problem("about:blank", status: status))
            ])
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            #expect(try await failure(answer(status)) == ListingFailure(.passing, code: "http_\(status)"))
        }
        for status in [301, 400, 401, 403, 404] {
            #expect(try await failure(answer(status)) == ListingFailure(.refused, code: "http_\(status)"))
        }
        let hint = try await failure(answer(429, retryAfter: "9"))
        #expect(hint?.retryAt == StandingClock.noon + .seconds(9))
        let cut = try await failure(listing([ScriptedSender.fail(.connectionReset, .receiving)]))
        #expect(cut == ListingFailure(.passing, code: "reset"))
        let cursor = try await cursor()
        for status in [400, 404, 410, 422] {
            #expect(try await failure(answer(status), cursor: cursor)?.kind == .cursorRefused)
        }
        #expect(try await failure(answer(401), cursor: cursor)?.kind == .refused)
    }

    @Test(arguments: ["", "theirs", "1 2 3", "x  5 aaaaatheirs", "1 z 5 aaaaatheirs", "1  5 aaaaa", "1  -1 a"])
    func `a cursor that is not ours is refused without a request`(cursor: String) async throws {
        let sender = ScriptedSender([])
        let listing = try #require(try scriptedProvider(sender).listing)
        #expect(
            try await failure(listing, cursor: cursor) == ListingFailure(.cursorRefused, code: "cursor_unreadable"))
        #expect(sender.requests.isEmpty)
    }
}
