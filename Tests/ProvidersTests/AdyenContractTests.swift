import HTTPTransport
import Logging
import ProviderSimulator
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// The adapter for Adyen before a real socket and the simulator's wire of it. Nothing can be asked there, so the suite
/// of the other adapters does not fit: what became of an effect is seen in the ledger and in the notices.
@Suite(.serialized)
struct AdyenContractTests {
    private static let token = "TestMerchant:AQEyhmfxK+key==-x5zN:with.colon"
    private static let signing = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"

    private struct Subject {
        let provider: any AdaptedProvider
        let stranger: any AdaptedProvider
        let control: SimulatorControl
        let book: OrderBook

        func order(_ kind: EffectKind, _ value: Int64 = 1_200, of reference: String? = nil) throws -> SendOrder {
            var book = book
            (book.reference, book.transactionReference) = (nil, reference)
            return try book.send(kind, value)
        }

        func known() async throws -> (held: Int64, net: Int64, charges: Int) {
            let key = try book.key(.authorize).text
            let known = try await control.ledger("card", key: key).transaction(key)
            return (known?.held ?? 0, known?.net ?? 0, known?.charges.count ?? 0)
        }

        /// What the provider would tell of one kind of event, read as the daemon reads it.
        func news(_ event: String) async throws -> [EffectNews] {
            let reader = AdyenNotifications(secrets: NotificationSecrets([AdyenContractTests.signing]))
            let now = StandingClock.noon + .days(36_500)
            return try await control.notices(at: "card").filter { $0.id.hasPrefix(event + " ") }.compactMap {
                try reader.read(SignedNotification(body: Array($0.body.utf8)) { _ in [] }, at: now).news
            }
        }
    }

    private func run(
        instrument: String = "shopper-1:card-0001", _ body: (Subject) async throws -> Void
    ) async throws {
        var configuration = ProviderConfiguration("card", wire: .adyen, token: Self.token)
        configuration.notificationKey = Self.signing
        let server = try ProviderSimulatorServer(
            SimulatorConfiguration(providers: [configuration]), logger: .silent)
        let sender = CurlSender(configuration: CurlConfiguration(http2: false, allowPlainHTTP: true))
        try await server.whileRunning { port in
            func provider(_ token: String) throws -> any AdaptedProvider {
                let settings = ProviderSettings(
                    name: try ProviderName("card"), adapter: .adyen,
                    address: try ProviderAddress("http://127.0.0.1:\(port)/card/v71"),
                    contract: .adyen, tokens: ReplaceableToken(BearerToken(token)))
                let assembly = ProviderAssembly(
                    sender: sender, connections: 64, clock: StandingClock(), logger: .silent)
                return try #require(try assembly.assemble([settings]).values.first).provider
            }
            var book = OrderBook()
            book.instrument = instrument
            try await body(
                Subject(
                    provider: try provider(Self.token), stranger: try provider("TestMerchant:other"),
                    control: server.control, book: book))
            await sender.shutdown(grace: .seconds(1))
        }
    }

    @Test func `a payment is held, captured and given back, and each end is told later`() async throws {
        try await run { subject in
            let held = await subject.provider.send(try subject.order(.authorize))
            #expect(held.outcome == .accepted && held.observation?.status == .authorized, "\(held)")
            let reference = try #require(held.reference)
            #expect(try await subject.known().held == 1_200)
            let captured = await subject.provider.send(try subject.order(.capture, of: reference))
            #expect(captured.outcome == .accepted && captured.code == "received", "\(captured)")
            #expect(captured.observation?.captures.map(\.state) == [.pending])
            let news = try #require(try await subject.news("CAPTURE").first)
            #expect(news.word.state == .succeeded && news.reference == captured.reference)
            #expect(try news.key == subject.book.key(.capture) && news.amount == subject.book.money(1_200))
            let refunded = await subject.provider.send(try subject.order(.refund, 500, of: reference))
            #expect(refunded.observation?.refunds.map(\.state) == [.pending], "\(refunded)")
            #expect(try await subject.news("REFUND").map(\.word.state) == [.succeeded])
            #expect(try await subject.known() == (0, 700, 1))
        }
    }

    @Test(arguments: [
        ProviderSimulator.FaultKind.requestLost, .responseLost, .errorBefore, .errorAfter, .html, .truncated,
    ])
    func `an answer that is lost is had again under the same key, and money is held once`(
        fault: ProviderSimulator.FaultKind
    ) async throws {
        try await run { subject in
            try subject.control.order(FaultOrder(Fault(fault), operation: .authorize), at: "card")
            let lost = await subject.provider.send(try subject.order(.authorize))
            #expect(lost.outcome == .indeterminate, "\(lost)")
            let again = await subject.provider.send(try subject.order(.authorize))
            #expect(again.outcome == .accepted && again.reference != nil)
            let known = try await subject.known()
            #expect(known.held == 1_200)
            let third = await subject.provider.send(try subject.order(.authorize))
            #expect(third.reference == again.reference)
        }
    }

    @Test func `a decline is kept under its key`() async throws {
        try await run(instrument: "shopper-1:decline-0001") { subject in
            for _ in 0..<2 {
                let report = await subject.provider.send(try subject.order(.authorize))
                #expect(report.outcome == .declined && report.observation?.status == .declined, "\(report)")
                #expect(report.code == "not_enough_balance")
            }
            #expect(try await subject.news("AUTHORISATION").map(\.word.state) == [.declined])
        }
    }

    @Test func `a release is received, and told later; of what is captured it fails`() async throws {
        try await run { subject in
            let held = await subject.provider.send(try subject.order(.authorize))
            let reference = try #require(held.reference, "\(held)")
            let released = await subject.provider.send(try subject.order(.void, of: reference))
            #expect(released.outcome == .accepted && released.observation?.status == .authorized, "\(released)")
            let news = try #require(try await subject.news("CANCELLATION").first)
            #expect(news.word.state == .succeeded && news.reference == released.reference)
            #expect(try await subject.known().held == 0)
            let late = await subject.provider.send(try subject.order(.capture, of: reference))
            #expect(late.outcome == .accepted, "it is received whatever becomes of it")
            #expect(try await subject.news("CAPTURE").map(\.word.state) == [.declined])
        }
    }

    @Test func `a cancel by our own reference is received, whether there is a payment or not`() async throws {
        try await run { subject in
            let report = await subject.provider.send(try subject.order(.void))
            #expect(report.outcome == .accepted && report.code == "received")
            #expect(await subject.provider.send(try subject.order(.authorize)).outcome == .accepted)
            #expect(try await subject.known().held == 1_200, "it left no tombstone")
        }
    }

    @Test func `what a capture needs is Adyen's reference, and without it nothing is sent`() async throws {
        try await run { subject in
            for kind in [EffectKind.capture, .refund] {
                let report = await subject.provider.send(try subject.order(kind))
                #expect(report.outcome == .unsent && report.code == "no_reference")
            }
            let unknown = await subject.provider.send(try subject.order(.capture, of: "P000000000000099"))
            #expect(unknown.outcome == .refused && unknown.code == "adyen_167" && unknown.namesKey, "\(unknown)")
        }
    }

    @Test func `credentials, an unknown card and an instrument of another form`() async throws {
        try await run(instrument: "shopper-1:unknown-0001") { subject in
            let stranger = await subject.stranger.send(try subject.order(.authorize))
            #expect(stranger.outcome == .refused && stranger.credentialsRefused)
            let unknown = await subject.provider.send(try subject.order(.authorize))
            #expect(unknown.outcome == .refused && unknown.code == "adyen_800" && unknown.namesKey)
        }
        try await run(instrument: "no-colon") { subject in
            let report = await subject.provider.send(try subject.order(.authorize))
            #expect(report.outcome == .refused && report.code == "instrument_form")
        }
    }

    @Test(arguments: [ProviderSimulator.FaultKind.throttled, .unavailable])
    func `a rate limit has no effect; an outage proves nothing`(fault: ProviderSimulator.FaultKind) async throws {
        try await run { subject in
            try subject.control.order(FaultOrder(Fault(fault), operation: .authorize), at: "card")
            let report = await subject.provider.send(try subject.order(.authorize))
            #expect(report.outcome == (fault == .throttled ? .throttled : .indeterminate), "\(report)")
            #expect(report.retryAfter != nil || fault == .unavailable)
            #expect(try await subject.known().held == 0)
        }
    }

    @Test func `what waits for the payer's own step is no hold`() async throws {
        let change = AdyenChange(
            order: try OrderBook().send(.authorize), amount: AdyenAmount(value: 1_200, currency: "JPY"),
            merchant: "TestMerchant", began: StandingClock.noon, store: nil)
        func report(_ members: String, namesKey: Bool = true) throws -> AttemptReport {
            let object = try AnswerObject(body: Array("{\"pspReference\":\"P1\",\(members)}".utf8))
            return try change.charged(object, namesKey: namesKey)
        }
        let redirected = try report("\"resultCode\":\"RedirectShopper\"")
        #expect(redirected.outcome == .declined && redirected.code == "payer_action_required")
        let partial = try report("\"resultCode\":\"PartiallyAuthorised\"")
        #expect(partial.observation?.contradiction == "partially_authorised")
        let other = try report("\"resultCode\":\"Authorised\",\"amount\":{\"value\":1201,\"currency\":\"JPY\"}")
        #expect(other.observation?.amount?.value == 1_201)
        #expect(try report("\"resultCode\":\"Authorised\",\"merchantReference\":\"x\"").outcome == .indeterminate)
        #expect(try report("\"resultCode\":\"Pending\"").observation?.status == .pending)
        let keyless = try report("\"resultCode\":\"Authorised\"", namesKey: false)
        #expect(keyless.outcome == .indeterminate, "an answer that names neither our reference nor our key")
        #expect(throws: MalformedAnswer.self) { try report("\"resultCode\":\"actionRequired\"") }
        #expect(throws: MalformedAnswer.self) { try report("\"resultCode\":\"New\"") }
    }

    @Test func `amounts are counted as Adyen counts them`() throws {
        func units(_ value: Int64, _ code: String) throws -> Int64 {
            try AdyenAmounts.units(of: Money(value, try #require(Currency(code: code))))
        }
        for (value, code, theirs) in [
            (Int64(1_200), "JPY", Int64(1_200)), (1_200, "EUR", 1_200), (1_250, "KWD", 1_250), (15, "ISK", 1_500),
            (15, "CLP", 1_500), (1_500, "IDR", 15), (1_500, "CVE", 15),
        ] {
            #expect(try units(value, code) == theirs, "\(code)")
            #expect(AdyenAmounts.money(theirs, code)?.value == value, "\(code)")
        }
        #expect(throws: UnconvertibleAmount.self) { try units(1_501, "IDR") }
        #expect(throws: UnconvertibleAmount.self) { try units(.max, "ISK") }
        #expect(AdyenAmounts.money(1_501, "ISK") == nil && AdyenAmounts.money(-1, "EUR") == nil)
        #expect(AdyenAmounts.money(1, "XYZ") == nil && AdyenAmounts.money(.max, "IDR") == nil)
    }
}
