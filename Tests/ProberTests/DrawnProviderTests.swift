import PaymentCore
import ProviderSimulator
import Testing

@testable import Prober

/// Probes of providers whose properties were drawn by chance: what can be measured is right, and nothing is called safe
/// that is not.
struct DrawnProviderTests {
    @Test(arguments: 0..<4) func `the contracts of a hundred simulators are recovered`(quarter: UInt64) async throws {
        let drawn = (1...25).map { DrawnProvider(seed: quarter * 25 + $0) }
        try await ProbeFixture.run(drawn.map(\.configuration)) { fixture in
            for provider in drawn { try await probe(provider, fixture) }
        }
    }

    /// Requests and answers are lost on the way. Much is not measured then, and what is said is still true.
    @Test func `among losses nothing is called safe that is not`() async throws {
        let drawn = (201...225).map { DrawnProvider(seed: $0) }
        let configurations = drawn.map { provider in
            var configuration = provider.configuration
            configuration.rates = [
                FaultRate(Fault(.requestLost), rate: 0.08), FaultRate(Fault(.responseLost), rate: 0.08),
                FaultRate(Fault(.errorAfter), rate: 0.04), FaultRate(Fault(.unavailable), rate: 0.04),
            ]
            return configuration
        }
        try await ProbeFixture.run(configurations) { fixture in
            for provider in drawn { try await probeAmongLosses(provider, fixture) }
        }
    }

    private func probeAmongLosses(_ drawn: DrawnProvider, _ fixture: ProbeFixture) async throws {
        var settings = try ProbeFixture.settings(run: "run")
        settings.parts.remove(.rate)
        settings.declinedInstrument = try Instrument(token: drawn.declinedInstrument)
        let offset = Span.milliseconds(drawn.options.clockOffsetMs)
        let prober = try fixture.prober(drawn.name, drawn.believed, settings, offset: offset)
        let report = await prober.run()
        let sights = Dictionary(uniqueKeysWithValues: report.findings.map { ($0.property, $0.sight) })
        let told = "\(drawn): \(report)"
        #expect(sights[.cancel] != .exactly(.word("tombstoning")) || drawn.options.tombstoning, "\(told)")
        #expect(sights[.enforcesNotAfter] != .exactly(.flag(true)) || drawn.options.notAfterEnforced, "\(told)")
        #expect(sights[.declinesBound] != .exactly(.flag(true)), "\(told)")
        #expect(sights[.listing] != .exactly(.flag(true)) || drawn.options.listing, "\(told)")
        #expect(sights[.refundVisibility] != .exactly(.word("by_key")) || drawn.options.refundKeys, "\(told)")
        // What may still be out is named, and nothing else is.
        let left = Set(report.leftBehind.map(\.key.text))
        let out = try await fixture.control.ledger(drawn.name).transactions.filter { $0.net != 0 || $0.held != 0 }
        #expect(out.allSatisfy { left.contains($0.key) }, "\(out): \(told)")
    }

    private func probe(_ drawn: DrawnProvider, _ fixture: ProbeFixture) async throws {
        var settings = try ProbeFixture.settings(run: "run")
        settings.parts.remove(.rate)
        settings.wait = .minutes(2)
        settings.declinedInstrument = try Instrument(token: drawn.declinedInstrument)
        let prober = try fixture.prober(
            drawn.name, drawn.believed, settings, offset: .milliseconds(drawn.options.clockOffsetMs))
        let report = await prober.run()
        let sights = Dictionary(uniqueKeysWithValues: report.findings.map { ($0.property, $0.sight) })
        let told = "\(drawn): \(report)"
        #expect(report.leftBehind.isEmpty, "\(told)")
        #expect(sights[.phases] == .exactly(.word(drawn.phases.rawValue)), "\(told)")
        #expect(sights[.inquiry] == .exactly(.word("by_own_key")), "\(told)")
        #expect(sights[.listing] == .exactly(.flag(drawn.options.listing)), "\(told)")
        let refunds = drawn.options.refundKeys ? "by_key" : "sums_only"
        #expect(sights[.refundVisibility] == .exactly(.word(refunds)), "\(told)")
        let offset = abs(drawn.options.clockOffsetMs)
        // The fixture's clock is known to a second.
        #expect(sights[.clockSkew] == .atMost(.span(.milliseconds(max(0, offset - 1_000)))), "\(told)")
        // The simulator forgets a status with its key. The wait was two minutes.
        let kept: ProbeSight = drawn.options.keyRetentionMs == 90_000 ? .atMost(Self.waited) : .atLeast(Self.waited)
        #expect(sights[.statusRetention] == kept, "\(told)")
        #expect(sights[.enforcesNotAfter] == .exactly(.flag(drawn.options.notAfterEnforced)), "\(told)")
        #expect(sights[.cancel] == expectedCancel(drawn), "\(told)")
        if drawn.phases == .sale {
            #expect(sights[.cancelReversesSale] == .exactly(.flag(drawn.options.voidReversesSale)), "\(told)")
        } else {
            let life = Span.milliseconds(drawn.options.authorizationLifeMs)
            #expect(sights[.authorizationLife] == .exactly(.span(life)), "\(told)")
        }
        checkKeys(drawn, sights, told)
        checkLag(drawn, sights, told)
        // That a decline stays for ever is seen by nobody; that one did not, is.
        if drawn.declinesPass {
            #expect(sights[.declinesBound] == .exactly(.flag(false)), "\(told)")
        } else if case .nothing? = sights[.declinesBound] {
        } else {
            Issue.record("\(told)")
        }
        try await checkLedger(drawn, fixture, told)
    }

    private static let waited = PropertyValue.span(.minutes(2))

    private func expectedCancel(_ drawn: DrawnProvider) -> ProbeSight {
        // A tombstone that is forgotten within the wait is none.
        let forgets = drawn.options.keyRetentionMs == 90_000
        if drawn.options.tombstoning, !forgets { return .exactly(.word("tombstoning")) }
        if drawn.options.tombstoning { return .exactly(.word("only_if_present")) }
        let isDone = drawn.phases == .authorizeCapture || drawn.options.voidReversesSale
        return isDone ? .exactly(.word("only_if_present")) : .atMost(.word("only_if_present"))
    }

    /// The wait was two minutes.
    private func checkKeys(_ drawn: DrawnProvider, _ sights: [ContractProperty: ProbeSight], _ told: String) {
        switch sights[.keyRetention] {
        case .atMost(.span(let span?)):
            #expect(drawn.options.keyRetentionMs == 90_000 && span < .seconds(90), "\(told)")
        case .atLeast(.span(let span?)):
            #expect(drawn.options.keyRetentionMs != 90_000 && span >= .minutes(2), "\(told)")
        default: Issue.record("\(told)")
        }
    }

    private func checkLag(_ drawn: DrawnProvider, _ sights: [ContractProperty: ProbeSight], _ told: String) {
        guard case .atMost(.span(let span?))? = sights[.visibilityLag] else {
            Issue.record("\(told)")
            return
        }
        #expect(span >= drawn.lag && span <= drawn.lag + .milliseconds(400), "\(told)")
        #expect(drawn.lag != .zero || span == .zero, "\(told)")
    }

    /// The provider's own books: nothing is out, and no transaction took more than it was allowed.
    private func checkLedger(_ drawn: DrawnProvider, _ fixture: ProbeFixture, _ told: String) async throws {
        let ledger = try await fixture.control.ledger(drawn.name)
        #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 }, "\(told) \(ledger.totals)")
        let amounts = ledger.transactions.flatMap { $0.holds + $0.charges }.map(\.amount.value)
        #expect(!amounts.isEmpty && amounts.allSatisfy { $0 <= 1_000 }, "\(told)")
    }
}
