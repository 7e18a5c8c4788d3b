import HTTPTransport
import Reconciler
import SeededChance
import Synchronization
import Testing

@testable import PaymentCore
@testable import Providers

/// Answers of providers that something changed at random on their way: none ends the process, and none that does not
/// name our key says that something was done. `make test-all` has 200,000 requests of each provider.
@Suite struct MutatedAnswerTests {
    private static let count = Mutator.rounds(4_000)

    /// Answers with one of the genuine ones, changed or not, and remembers what it said last.
    private final class MutatingSender: HTTPSender {
        private struct State {
            var mutator: Mutator
            var said: [UInt8] = []
        }

        private let bodies: [[UInt8]]
        private let fitting: @Sendable (String) -> Int?
        private let state: Mutex<State>

        /// - Parameter fitting: which of the bodies answers a request to this address, if one does.
        init(_ bodies: [String], seed: UInt64, fitting: @escaping @Sendable (String) -> Int? = { _ in nil }) {
            self.fitting = fitting
            self.bodies = bodies.map { Array($0.utf8) }
            state = Mutex(State(mutator: Mutator(seed: seed, words: self.bodies)))
        }

        /// Everything that it said since it was asked last.
        func said() -> String {
            state.withLock { state in
                defer { state.said = [] }
                return String(decoding: state.said, as: UTF8.self)
            }
        }

        func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
            state.withLock { state in
                let statuses = [200, 200, 200, 201, 202, 302, 400, 401, 402, 404, 409, 422, 429, 500, 503]
                let drawn = state.mutator.chance.below(bodies.count)
                let isFitting = state.mutator.chance.happens(percent: 70)
                let genuine = bodies[isFitting ? fitting(request.url) ?? drawn : drawn]
                let body = state.mutator.chance.happens(percent: 30) ? genuine : state.mutator.changed(genuine)
                let echoed = request.fields["Idempotency-Key"] ?? ""
                var fields = HTTPFields.of("application/json")
                if state.mutator.chance.happens(percent: 50) {
                    fields["Idempotency-Key"] = echoed
                    state.said += echoed.utf8
                }
                if state.mutator.chance.happens(percent: 10) {
                    fields["Retry-After"] = String(state.mutator.chance.next())
                }
                state.said += body
                return HTTPResponse(
                    status: statuses[state.mutator.chance.below(statuses.count)], fields: fields, body: body,
                    bytesWritten: request.body.count + 1)
            }
        }
    }

    private func client(_ sender: MutatingSender) throws -> ProviderClient {
        ProviderClient(address: try ProviderAddress("https://provider.example"), sender: sender, limits: TimeLimits())
    }

    /// Sends, asks and lists, and looks at what is believed.
    private func drive(
        _ provider: any PaymentProvider, _ sender: MutatingSender, _ kinds: [EffectKind], _ book: OrderBook
    ) async throws {
        var outcomes: [OutcomeClass: Int] = [:]
        var statuses: [String: Int] = [:]
        let window = try #require(ComparedWindow(from: StandingClock.noon + .hours(-1), to: StandingClock.noon))
        for number in 0..<Self.count {
            let order = try book.send(kinds[number % kinds.count], number % 7 == 0 ? 1_201 : 1_200)
            _ = sender.said()
            let report = await provider.send(order)
            let said = sender.said()
            outcomes[report.outcome, default: 0] += 1
            if report.outcome == .accepted || report.outcome == .declined {
                let isNamed = said.contains(order.key.text) || said.contains(order.transactionKey.text)
                #expect(isNamed, "\(report) by \(said)")
            }
            let seen = await provider.inquire(try book.inquiry(kinds[0]))
            statuses["\(seen.status)", default: 0] += 1
            _ = try? await provider.listing?.list(ListingOrder(window: window, cursor: nil, limit: 50))
        }
        // The mutations leave enough whole that something of each kind is believed.
        #expect(outcomes.count >= 4, "\(outcomes)")
        #expect(statuses.count >= 2, "\(statuses)")
    }

    @Test func `answers of the reference contract`() async throws {
        let book = OrderBook()
        let key = try book.key(.authorize)
        let sender = MutatingSender(
            [
                WireBodies.transaction("authorized", key: key),
                WireBodies.transaction(
                    "captured", key: key, captures: [WireBodies.movement(try book.key(.capture), "succeeded")],
                    refunds: [WireBodies.movement(try book.key(.refund), "succeeded")]),
                WireBodies.transaction("declined", key: key, reason: "no_funds"), WireBodies.tombstone(key: key),
                WireBodies.problem("not-found", status: 404, key: key),
                "{\"data\":[\(WireBodies.transaction("voided", key: key))],\"next_cursor\":null}",
            ], seed: 3)
        try await drive(try scriptedProvider(sender), sender, [.authorize, .capture, .void, .refund], book)
    }

    @Test func `answers of Stripe`() async throws {
        let book = OrderBook(format: .hex64)
        let key = try book.key(.authorize).text
        let charge = StripeBodies.charge(
            captured: 1_200, group: key, intent: StripeBodies.intent("succeeded", received: 1_200, group: key),
            refunds: [StripeBodies.refund()])
        let sender = MutatingSender(
            [
                StripeBodies.intent("requires_confirmation", group: key),
                StripeBodies.intent("requires_capture", group: key, charge: StripeBodies.charge(group: key)),
                StripeBodies.intent("succeeded", received: 1_200, group: key),
                StripeBodies.list([StripeBodies.intent("requires_capture", group: key)]),
                StripeBodies.list([charge]),
                StripeBodies.error("card_error", code: "card_declined", decline: "lost_card"),
                StripeBodies.error("idempotency_error"),
            ], seed: 4
        ) { $0.contains("/charges?") ? 4 : $0.contains("/payment_intents?") ? 3 : nil }
        let provider = StripeProvider(
            name: try ProviderName("card"), contract: .stripe, store: nil, client: try client(sender),
            clock: StandingClock())
        try await drive(provider, sender, [.authorize, .capture, .void, .refund], book)
    }

    @Test func `answers of PayPay`() async throws {
        let book = OrderBook()
        let key = try book.key(.sale).text
        let sender = MutatingSender(
            [
                PayPayBodies.answer("SUCCESS", PayPayBodies.payment("COMPLETED", of: key)),
                PayPayBodies.answer(
                    "SUCCESS",
                    PayPayBodies.payment(
                        "REFUNDED", of: key, refunds: [PayPayBodies.refund(try book.key(.refund).text)])),
                PayPayBodies.answer("SUCCESS", PayPayBodies.refund(try book.key(.refund).text)),
                PayPayBodies.answer(PayPayScript.missing), PayPayBodies.answer("INSUFFICIENT_FUND"),
            ], seed: 5)
        let provider = PayPayProvider(
            name: try ProviderName("card"), contract: .payPay, store: nil, client: try client(sender),
            clock: StandingClock())
        try await drive(provider, sender, [.sale, .refund], OrderBook(primary: .sale))
    }

    @Test func `answers of Adyen`() throws {
        let change = AdyenChange(
            order: try OrderBook().send(.authorize), amount: AdyenAmount(value: 1_200, currency: "JPY"),
            merchant: "TestMerchant", began: StandingClock.noon, store: nil)
        let genuine = [
            #"{"pspReference":"P1","resultCode":"Authorised","amount":{"value":1200,"currency":"JPY"}}"#,
            #"{"pspReference":"P1","resultCode":"Refused","refusalReason":"Not enough balance"}"#,
        ].map { Array($0.utf8) }
        var mutator = Mutator(seed: 6, words: genuine)
        var outcomes: [OutcomeClass: Int] = [:]
        for number in 0..<Self.count * 4 {
            let body = mutator.changed(genuine[number % 2])
            guard let object = try? AnswerObject(body: body),
                let report = try? change.charged(object, namesKey: number % 3 != 0)
            else { continue }
            outcomes[report.outcome, default: 0] += 1
        }
        #expect(outcomes[.accepted, default: 0] > 0 && outcomes.count >= 2, "\(outcomes)")
    }
}
