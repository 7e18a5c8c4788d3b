import HTTPTransport
import PaymentCore
import Reconciler
import Testing

@testable import Providers

/// What goes wrong while Stripe's books are read.
struct StripeListingFailureTests {
    private typealias B = StripeBodies

    private static let window = ComparedWindow(
        from: StandingClock.noon, to: StandingClock.noon + .milliseconds(90_500))

    private static func provider(_ sender: ScriptedSender) throws -> StripeProvider {
        StripeProvider(
            name: try ProviderName("card"), contract: .stripeWire, store: nil,
            client: ProviderClient(
                address: try ProviderAddress("https://api.stripe.example"), sender: sender, limits: TimeLimits()),
            clock: StandingClock())
    }

    private func list(
        _ steps: [ScriptedSender.Step], cursor: String? = nil, limit: Int = 200
    ) async throws -> (Result<ListedPage, ListingFailure>, ScriptedSender) {
        let sender = ScriptedSender(steps)
        let provider = try Self.provider(sender)
        let order = ListingOrder(window: try #require(Self.window), cursor: cursor, limit: limit)
        do {
            return (.success(try await StripeListing(provider).list(order)), sender)
        } catch {
            return (.failure(error), sender)
        }
    }

    private static func json(_ body: String) -> ScriptedSender.Step { json(200, body) }

    private static func json(_ status: Int, _ body: String) -> ScriptedSender.Step {
        ScriptedSender.answer(status, fields: .of("application/json"), body: body)
    }

    private static let ours = B.charge(
        intent: B.intent("requires_capture", metadata: ["reconciled_key": B.key]), refunds: [])

    @Test func `a quiet window takes two requests, for all of its whole seconds`() async throws {
        let (page, sender) = try await list([Self.json(B.list([])), Self.json(B.list([]))])
        #expect(page == .success(ListedPage(positions: [], next: nil)))
        let noon = StandingClock.noon.milliseconds / 1_000
        let targets = sender.requests.map(\.url)
        #expect(targets.count == 2)
        for target in targets {
            #expect(target.contains("created%5Bgte%5D=\(noon)&created%5Blt%5D=\(noon + 91)"), "\(target)")
        }
    }

    @Test(arguments: [
        (429, ListingFailure.Kind.passing), (500, .passing), (409, .passing), (401, .refused), (403, .refused),
        (400, .refused),
    ])
    func `an error is a failure of its kind, whichever list it is of`(status: Int, kind: ListingFailure.Kind)
        async throws
    {
        let error = Self.json(status, #"{"error":{"type":"api_error","message":"no"}}"#)
        for steps in [[error], [Self.json(B.list([])), error]] {
            guard case .failure(let failure) = try await list(steps).0 else {
                Issue.record("\(status) is no page")
                return
            }
            #expect(failure.kind == kind)
            // What a person has to mend is said by its status.
            let isRight = status == 401 || status == 403
            #expect(failure.code == (isRight ? "http_\(status)" : "api_error"))
        }
    }

    @Test func `what cannot be read, or lies outside of the window, is never left out`() async throws {
        let outside = Self.ours.replacing("\"created\":1772366400", with: "\"created\":1772366399")
        let undated = Self.ours.replacing("\"created\":1772366400,", with: "")
        for (charges, code) in [
            ([outside], "outside_window"), ([undated], "malformed_body"), (["{\"id\":\"ch_1\"}"], "malformed_body"),
        ] {
            let (page, _) = try await list([Self.json(B.list(charges)), Self.json(B.list([]))])
            #expect(page == .failure(ListingFailure(.malformed, code: code)))
        }
        let (endless, _) = try await list(
            [Self.json(B.list([Self.ours], hasMore: true)), Self.json(B.list([], hasMore: true))],
            cursor: "1772366400 1")
        #expect(endless == .failure(ListingFailure(.malformed, code: "cursor_does_not_advance")))
    }

    @Test func `a window with more than one answer holds is read in parts`() async throws {
        let (page, sender) = try await list([
            Self.json(B.list([Self.ours], hasMore: true)), Self.json(B.list([Self.ours])), Self.json(B.list([])),
        ])
        let listed = try page.get()
        #expect(listed.positions.map(\.key.text) == [B.key] && listed.positions.first?.status == .authorized)
        // The half of 91 seconds was read; little was in it, so the next part is twice as long.
        #expect(listed.next == "1772366445 46")
        #expect(sender.requests.count == 3)
    }

    @Test(arguments: ["", "x", "1772366400", "1772366399 10", "1772366491 1", "1772366400 0", "1772366400 92", "1 2 3"])
    func `a cursor of anything else begins the window again`(cursor: String) async throws {
        let (page, sender) = try await list([], cursor: cursor)
        #expect(page == .failure(ListingFailure(.cursorRefused, code: "cursor_unreadable")))
        #expect(sender.requests.isEmpty)
    }

    /// A restricted key may lack the right to read balance transactions. Payments are settled all the same.
    @Test func `only the listing asks when money moved`() async throws {
        let book = OrderBook(format: .hex64)
        let sender = ScriptedSender([Self.json(B.list([])), Self.json(B.list([]))])
        let provider = try Self.provider(sender)
        #expect(await provider.inquire(try book.inquiry()).status == .notFound)
        let question = KeyQuestion(key: try book.key(.authorize), payment: nil, listedAt: nil)
        #expect(await StripeListing(provider).find(question) == .absent)
        #expect(sender.requests.map { $0.url.contains("balance_transaction") } == [false, true])
    }

    @Test func `a charge that is listed and denied is read again later`() async throws {
        let disputed = Self.ours.replacing("\"disputed\":false", with: "\"disputed\":true")
        let (page, _) = try await list([
            Self.json(B.list([disputed])), Self.json(B.list([])), Self.json(B.list([])),
        ])
        #expect(page == .failure(ListingFailure(.passing, code: "charge_not_found")))
    }

    /// Its refund failed later, and the movement by which the money came back is not listed yet, or another one is.
    @Test(arguments: [nil, "txn_re_1"])
    func `a refund whose money came back by a movement that is not listed yet is read again later`(newest: String?)
        async throws
    {
        let failed = B.refund("failed").replacing(
            "\"object\":\"refund\"", with: "\"object\":\"refund\",\"failure_balance_transaction\":\"txn_back\"")
        let charge = B.charge(
            captured: 1200, intent: B.intent("succeeded", received: 1200, metadata: ["reconciled_key": B.key]),
            refunds: [failed])
        func movement(_ id: String) -> String { "{\"id\":\"\(id)\",\"created\":1772366430,\"source\":\"re_1\"}" }
        func listed(_ newest: String?) async throws -> Result<ListedPage, ListingFailure> {
            try await list([
                Self.json(B.list([charge])), Self.json(B.list([])), Self.json(B.list([charge])),
                Self.json(B.list(newest.map { [movement($0)] } ?? [])),
            ]).0
        }
        #expect(try await listed(newest) == .failure(ListingFailure(.passing, code: "movement_not_found")))
        let page = try await listed("txn_back").get()
        #expect(page.positions.map(\.updatedAt) == [Timestamp(milliseconds: 1_772_366_430_000)])
    }
}
