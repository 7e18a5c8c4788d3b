import HTTPTransport
import PaymentCore
import ProviderSimulator
import Reconciler
import Synchronization
import Testing

@testable import Providers

/// Stripe's books as the comparison reads them, made of charges and balance transactions, over real sockets.
@Suite(.serialized)
struct StripeListingTests {
    /// A provider with its listing, on a clock that a test sets.
    private struct Books {
        let provider: any PaymentProvider
        let listing: any ListingProvider
        let control: SimulatorControl
        let clock: SetClock
        let port: Int

        func send(
            _ kind: EffectKind, _ payment: String, _ value: Int64 = 1200, by name: String = "create",
            instrument: String = "pm_card_visa"
        ) async throws {
            var book = OrderBook(format: .hex64)
            (book.paymentKey, book.instrument) = (payment, instrument)
            let startBefore = clock.now() + .hours(1)
            let report = try await provider.send(
                book.send(kind, value, startBefore: startBefore, discriminator: name))
            let wanted: OutcomeClass = instrument == "pm_card_visa" ? .accepted : .declined
            #expect(report.outcome == wanted, "\(kind) of \(payment): \(report.code)")
        }

        static func key(_ payment: String) throws -> EffectKey {
            var book = OrderBook(format: .hex64)
            book.paymentKey = payment
            return try book.key(.authorize)
        }

        /// Everything that a window shows, page by page.
        func read(_ from: Int64, _ to: Int64, limit: Int = 200) async throws -> [ListedPosition] {
            let noon = StandingClock.noon
            let window = try #require(ComparedWindow(from: noon + .seconds(from), to: noon + .seconds(to)))
            var positions: [ListedPosition] = []
            var cursor: String?
            repeat {
                let page = try await listing.list(ListingOrder(window: window, cursor: cursor, limit: limit))
                #expect(page.next == nil || !page.positions.isEmpty, "only the last page may be empty")
                positions += page.positions
                cursor = page.next
            } while cursor != nil
            let moments = positions.map { $0.updatedAt ?? noon }
            #expect(moments == moments.sorted(), "oldest first")
            #expect(moments.allSatisfy { window.contains($0) })
            #expect(Set(positions.map(\.key)).count == positions.count, "each transaction once")
            return positions
        }

        func ask(_ key: EffectKey, listedAt: Timestamp? = nil) async -> KeyAnswer {
            await listing.find(KeyQuestion(key: key, payment: nil, listedAt: listedAt))
        }
    }

    private final class SetClock: WallClock {
        private let seconds = Mutex<Int64>(0)

        func set(_ second: Int64) { seconds.withLock { $0 = second } }
        func now() -> Timestamp { StandingClock.noon + .seconds(seconds.withLock { $0 }) }
        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
    }

    private func withBooks(_ body: (Books) async throws -> Void) async throws {
        let clock = SetClock()
        try await withSimulator(.stripe, clock: SimulatorClock { clock.now().milliseconds }) { port, control, sender in
            let contract = try #require(ProviderAdapter.stripe.contract(named: "stripe"))
            let provider = try SuiteWire.stripe.provider("card", contract, clock: clock, port: port, sender: sender)
            try await body(
                Books(
                    provider: provider, listing: #require(provider.listing), control: control, clock: clock,
                    port: port))
        }
    }

    @Test func `each transaction is listed once, at its latest change, as its ledger has it`() async throws {
        try await withBooks { books in
            for number in 0..<30 {
                books.clock.set(Int64(number) * 7)
                try await books.send(.authorize, "p\(number)")
            }
            for number in 0..<20 {
                books.clock.set(1_000 + Int64(number) / 4)
                try await books.send(.capture, "p\(number)", number % 2 == 0 ? 1200 : 700)
            }
            books.clock.set(2_000)
            for number in 0..<6 { try await books.send(.refund, "p\(number)", 300) }
            for number in 26..<30 { try await books.send(.void, "p\(number)") }
            try await books.send(.authorize, "declined", instrument: "decline-0001")

            for limit in [2, 7, 40, 1_000] {
                let positions = try await books.read(0, 3_600, limit: limit)
                #expect(positions.count == 31)
                for number in 0..<30 {
                    let key = try Books.key("p\(number)")
                    let position = try #require(positions.first { $0.key == key })
                    let ledger = try await books.control.ledger("card", key: key.text)
                    let truth = try #require(ledger.transaction(key.text))
                    #expect(position.net?.value == truth.net, "payment \(number)")
                    let wanted: Observation.Status = number < 20 ? .captured : number < 26 ? .authorized : .voided
                    #expect(position.status == wanted)
                    let second = number < 6 ? 2_000 : number < 20 ? 1_000 + number / 4 : number * 7
                    #expect(position.updatedAt == StandingClock.noon + .seconds(Int64(second)))
                    #expect(position.createdAt == StandingClock.noon + .seconds(Int64(number) * 7))
                    #expect(position.payment != nil && position.leg == 0 && position.amount?.value == 1200)
                }
                #expect(positions.count { $0.status == .declined } == 1)
            }
        }
    }

    @Test func `windows that adjoin show each change in one of them`() async throws {
        try await withBooks { books in
            books.clock.set(10)
            try await books.send(.authorize, "p1")
            books.clock.set(20)
            try await books.send(.capture, "p1")
            try await books.send(.authorize, "p2")
            // Before the refund its capture is the latest change, whatever the window is.
            #expect(try await books.read(0, 15).isEmpty)
            let both = [try Books.key("p1"), try Books.key("p2")].sorted()
            #expect(try await books.read(15, 25).map(\.key).sorted() == both)
            books.clock.set(30)
            try await books.send(.refund, "p1", 1200)
            #expect(try await books.read(0, 30).map(\.key) == [try Books.key("p2")])
            let refunded = try await books.read(30, 31)
            #expect(refunded.map(\.key) == [try Books.key("p1")] && refunded.first?.net?.value == 0)
            #expect(refunded.first?.refunds.count == 1)
        }
    }

    /// Stripe says that a refund failed, and not when. A charge that is listed both where it was refunded and where the
    /// money came back looks like two.
    @Test func `a refund that failed later is listed once, where its money came back`() async throws {
        try await withBooks { books in
            let key = try Books.key("p1")
            for (second, kind) in [(Int64(10), EffectKind.authorize), (20, .capture), (30, .refund)] {
                books.clock.set(second)
                try await books.send(kind, "p1", kind == .refund ? 300 : 1200)
            }
            books.clock.set(40)
            _ = try await books.control.plant(PlantOrder(.refundFailed, key: key.text), at: "card")
            for limit in [2, 200] {
                let positions = try await books.read(0, 60, limit: limit)
                #expect(positions.map(\.key) == [key])
                #expect(positions.first?.updatedAt == StandingClock.noon + .seconds(40))
                #expect(positions.first?.refunds.isEmpty == true && positions.first?.net?.value == 1200)
            }
            #expect(try await books.read(25, 35).isEmpty)
            #expect(try await books.read(35, 45).map(\.key) == [key])
            guard case .shown(let position, isListed: true?) = await books.ask(key) else {
                Issue.record("it is listed, and found by its key")
                return
            }
            #expect(position.updatedAt == StandingClock.noon + .seconds(40))
        }
    }

    @Test func `whether the listing shows a change is looked for where money moved`() async throws {
        try await withBooks { books in
            try await books.send(.authorize, "p1")
            let key = try Books.key("p1")
            guard case .shown(let held, isListed: true) = await books.ask(key) else {
                Issue.record("a hold was read from the list of charges")
                return
            }
            #expect(held.status == .authorized)
            books.clock.set(60)
            try await books.send(.capture, "p1")
            guard case .shown(let taken, isListed: true) = await books.ask(key, listedAt: held.updatedAt) else {
                Issue.record("a capture is in the balance transactions")
                return
            }
            #expect(taken.status == .captured && taken.updatedAt == StandingClock.noon + .seconds(60))
            // Hidden from the balance transactions, it is shown to whoever asks for the charge.
            _ = try await books.control.plant(PlantOrder(.hidden, key: key.text), at: "card")
            guard case .shown(_, isListed: false) = await books.ask(key, listedAt: held.updatedAt) else {
                Issue.record("the listing withholds it")
                return
            }
            guard case .shown(_, isListed: true) = await books.ask(key, listedAt: taken.updatedAt) else {
                Issue.record("what was listed is not looked for again")
                return
            }
            #expect(await books.ask(try Books.key("nobody's")) == .absent)
        }
    }

    // MARK: What is not ours alone

    /// A charge that is made beside the adapter.
    private struct Foreign: StripeRequest {
        static let label = "foreign"

        let path: [String]
        let form: [(name: String, value: String)]?
        var idempotencyKey: String?
        var method: HTTPMethod { .post }
    }

    private func charge(beside books: Books, _ more: [(name: String, value: String)], key: String) async throws {
        let provider = try #require(books.provider as? StripeProvider)
        let form = [
            (name: "amount", value: "900"), (name: "currency", value: "jpy"),
            (name: "payment_method", value: "pm_card_visa"),
        ]
        let made = await provider.exchange(Foreign(path: ["v1", "payment_intents"], form: form + more))
        let intent = try #require(try made.get().read(StripeIntent.init))
        let path = ["v1", "payment_intents", intent.id, "confirm"]
        let confirmed = await provider.exchange(Foreign(path: path, form: [], idempotencyKey: key))
        #expect(try confirmed.get().status == 200)
    }

    @Test func `a charge of another system is foreign, whatever group it names`() async throws {
        try await withBooks { books in
            try await books.send(.authorize, "p1")
            try await charge(beside: books, [], key: "other-1")
            try await charge(beside: books, [("transfer_group", "ORDER-100")], key: "other-2")
            let foreign = try await books.read(0, 60).filter { $0.key != (try? Books.key("p1")) }
            #expect(foreign.count == 2)
            for position in foreign {
                #expect(position.payment == nil && position.store == nil && position.contradiction == nil)
                #expect(position.status == .captured && position.net?.value == 900)
                guard case .shown(let again, isListed: nil) = await books.ask(position.key) else {
                    Issue.record("it is found again by its own identifier")
                    return
                }
                #expect(again == position)
            }
            #expect(await books.ask(EffectKey(reported: "ch_nowhere")) == .absent)
        }
    }

    @Test func `two intents that were charged under one key are a contradiction`() async throws {
        try await withBooks { books in
            try await books.send(.authorize, "p1")
            let key = try Books.key("p1")
            let named: [(name: String, value: String)] = [
                ("transfer_group", key.text), ("metadata[reconciled_key]", key.text),
            ]
            books.clock.set(40)
            try await charge(beside: books, named, key: "other-1")
            let positions = try await books.read(0, 60)
            #expect(positions.map(\.key) == [key] && positions.first?.contradiction == "charged_twice")
        }
    }

    @Test func `an intent that was charged again after a decline is one transaction, at its charge`() async throws {
        try await withBooks { books in
            books.clock.set(10)
            try await books.send(.authorize, "p1", instrument: "decline-0001")
            let key = try Books.key("p1")
            #expect(try await books.read(0, 60).map(\.status) == [.declined])
            let provider = try #require(books.provider as? StripeProvider)
            guard case .found(let declined) = await provider.find(key) else {
                Issue.record("it was declined")
                return
            }
            books.clock.set(20)
            let path = ["v1", "payment_intents", declined.intent.id, "confirm"]
            let form = [(name: "payment_method", value: "pm_card_visa")]
            let again = await provider.exchange(Foreign(path: path, form: form, idempotencyKey: "other-1"))
            #expect(try again.get().status == 200)
            #expect(try await books.read(0, 15).isEmpty)
            for (from, to) in [(15, 60), (0, 60)] {
                let listed = try await books.read(Int64(from), Int64(to))
                #expect(listed.map(\.status) == [.authorized] && listed.first?.isShared == false)
                #expect(listed.first?.updatedAt == StandingClock.noon + .seconds(20))
            }
        }
    }
}
