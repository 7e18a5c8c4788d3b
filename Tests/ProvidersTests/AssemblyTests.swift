import HTTPTransport
import LogCapture
import Logging
import Reconciler
import Synchronization
import Testing

@testable import PaymentCore
@testable import Providers

/// What the stack of a provider does with requests.
struct AssemblyTests {
    private let book = OrderBook()

    private func settings(
        _ name: String, concurrency: Int = 4, tokens: any TokenSource = ReplaceableToken(BearerToken("very-secret")),
        breaker: Breaker.Settings = Breaker.Settings()
    ) throws -> ProviderSettings {
        var contract = ProviderContract.reference
        contract.concurrency = concurrency
        return ProviderSettings(
            name: try ProviderName(name), address: try ProviderAddress("https://\(name).example"), contract: contract,
            tokens: tokens, breaker: breaker)
    }

    private func provider(
        _ settings: ProviderSettings, _ sender: any HTTPSender, logger: Logger = .silent
    ) throws -> ProviderAssembly.Assembled {
        let assembly = ProviderAssembly(sender: sender, connections: 8, clock: StandingClock(), logger: logger)
        return try #require(try assembly.assemble([settings])[settings.name])
    }

    private func accepted() throws -> ScriptedSender.Step {
        ScriptedSender.answer(
            201, fields: .of("application/json"),
            body: WireBodies.transaction("authorized", key: try book.key(.authorize)))
    }

    @Test
    func `a request goes out with token and trace`() async throws {
        let sender = ScriptedSender([try accepted()])
        let card = try provider(settings("card"), sender).provider
        #expect(try await card.send(book.send(.authorize)).outcome == .accepted)
        let request = try #require(sender.requests.first)
        #expect(request.fields["Authorization"] == "Bearer very-secret")
        #expect(request.fields["traceparent"] != nil)
    }

    @Test
    func `a refused token is replaced for the next attempt, and never resent by itself`() async throws {
        let number = Mutex(0)
        let tokens = RefreshingTokenSource { () throws(TransportFailure) in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return BearerToken("token-\(next)")
        }
        let refused = ScriptedSender.answer(
            401, fields: .of("application/problem+json"),
            body: WireBodies.problem("/problems/unauthorized", status: 401))
        let sender = ScriptedSender([refused, try accepted()])
        let card = try provider(settings("card", tokens: tokens), sender).provider
        let first = try await card.send(book.send(.authorize))
        #expect(first.outcome == .refused && first.credentialsRefused)
        #expect(sender.requests.count == 1)
        #expect(try await card.send(book.send(.authorize)).outcome == .accepted)
        #expect(
            sender.requests.map { $0.fields["Authorization"] } == ["Bearer token-1", "Bearer token-2"])
    }

    @Test
    func `without a token nothing is sent`() async throws {
        let tokens = RefreshingTokenSource { () throws(TransportFailure) -> BearerToken in
            throw TransportFailure(code: .firstByteTimeout, phase: .sent, bytesWritten: 80)
        }
        let sender = ScriptedSender()
        let card = try provider(settings("card", tokens: tokens), sender).provider
        let report = try await card.send(book.send(.authorize))
        #expect(report.outcome == .unsent && report.bytesWritten == 0)
        #expect(sender.requests.isEmpty)
    }

    @Test
    func `a provider that keeps failing is no longer asked, and that is provably unsent`() async throws {
        let sender = ScriptedSender(otherwise: ScriptedSender.answer(500))
        let breaker = Breaker.Settings(window: 4, minimumSamples: 4, openFor: .seconds(60))
        let assembled = try provider(settings("card", breaker: breaker), sender)
        for _ in 0..<4 {
            #expect(try await assembled.provider.send(book.send(.authorize)).outcome == .indeterminate)
        }
        #expect(assembled.breaker.state == .open)
        let report = try await assembled.provider.send(book.send(.authorize))
        #expect(report.outcome == .unsent && report.code == "breaker_open")
        #expect(try await assembled.provider.inquire(book.inquiry()).reason == "breaker_open")
        #expect(sender.requests.count == 4)
    }

    @Test
    func `a busy endpoint refuses, provably unsent, and the others are not busy`() async throws {
        var settings = try settings("card")
        settings.contract.endpointRequestsPerSecond = 1
        settings.longestWait = .milliseconds(1)
        let sender = ScriptedSender([try accepted()], otherwise: ScriptedSender.answer(503))
        let card = try provider(settings, sender).provider
        #expect(try await card.send(book.send(.authorize)).outcome == .accepted)
        let report = try await card.send(book.send(.authorize))
        #expect(report.outcome == .unsent && report.code == "budget_exhausted")
        #expect(try await card.inquire(book.inquiry()).reason != "budget_exhausted")
        #expect(sender.requests.map(\.endpoint) == ["put_transaction", "get_transaction"])
    }

    @Test
    func `two adapters have notifications`() {
        #expect(ProviderAdapter.all.filter(\.hasNotifications).map(\.name) == ["stripe", "adyen"])
    }

    @Test
    func `operations at one endpoint share its rate`() {
        #expect(ListCreatedCharges.endpoint == ListCharges.endpoint && ListCreatedCharges.label != ListCharges.label)
        #expect(ConfirmIntent.endpoint == ConfirmIntent.label)
    }

    @Test
    func `neither keys nor secrets nor instruments are logged`() async throws {
        let logged = LogLines()
        var logger = Logger(label: "test") { _ in logged.handler }
        logger.logLevel = .trace
        let sender = ScriptedSender([try accepted(), ScriptedSender.fail(.connectionReset, .sent, bytesWritten: 9)])
        let card = try provider(settings("card"), sender, logger: logger).provider
        _ = try await card.send(book.send(.authorize))
        _ = try await card.send(book.send(.capture))
        let lines = logged.all
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("card") })
        for secret in [
            try book.key(.authorize).text, try book.key(.capture).text, "very-secret", book.instrument, "4711",
            try book.payment.text,
        ] {
            #expect(!lines.contains { $0.contains(secret) })
        }
        #expect(!"\(ReplaceableToken(BearerToken("very-secret")))".contains("very-secret"))
        #expect(!String(reflecting: try settings("card")).contains("very-secret"))
    }

    @Test
    func `providers that could take each other's connections are not put together`() throws {
        let settings = [try settings("card", concurrency: 6), try settings("points", concurrency: 3)]
        #expect(ProviderAssembly.connectionsNeeded(for: settings) == 9)
        let sender = ScriptedSender()
        let tooFew = ProviderAssembly(sender: sender, connections: 8, clock: StandingClock(), logger: .silent)
        #expect(throws: ProviderAssembly.Failure.tooFewConnections(needed: 9, available: 8)) {
            try tooFew.assemble(settings)
        }
        let enough = ProviderAssembly(sender: sender, connections: 9, clock: StandingClock(), logger: .silent)
        #expect(try enough.assemble(settings).count == 2)
    }

    @Test
    func `two providers of one name are not put together`() throws {
        let assembly = ProviderAssembly(
            sender: ScriptedSender(), connections: 8, clock: StandingClock(), logger: .silent)
        let card = try settings("card")
        #expect(throws: ProviderAssembly.Failure.duplicateName(card.name)) { try assembly.assemble([card, card]) }
    }

    @Test
    func `what a wire fixes of a contract is said by name, and the contracts that fit it are right`() {
        for listing in [true, false] {
            var right = ProviderContract.stripe
            right.listing = listing
            #expect(ProviderAdapter.stripe.problems(with: right).isEmpty)
        }
        var wrong = ProviderContract.stripe
        (wrong.enforcesNotAfter, wrong.cancel) = (true, .none)
        let problems = ProviderAdapter.stripe.problems(with: wrong)
        #expect(problems.map(\.property) == ["cancel", "enforces_not_after"])
        #expect(problems.map(\.value) == ["none", "true"])
        #expect(problems.last?.allowed.hasPrefix("false with the adapter stripe: ") == true)
        #expect(ProviderAdapter.reference.problems(with: wrong).isEmpty)
    }
}
