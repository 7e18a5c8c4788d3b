import PaymentCore
import ProviderSimulator
import Providers
import Testing

@testable import Prober

/// What a probe does and does not do, at one simulated provider.
struct ProbeTests {
    private func run(
        _ options: ContractOptions = ContractOptions(), rates: [FaultRate] = [],
        _ body: @Sendable (ProbeFixture) async throws -> Void
    ) async throws {
        try await ProbeFixture.run([ProviderConfiguration("card", contract: options, rates: rates)], body)
    }

    @Test func `only what is wanted is looked at`() async throws {
        try await run { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.cancels]
            let report = try await fixture.prober("card", .reference, settings).run()
            let measured = report.findings.filter { if case .nothing = $0.sight { false } else { true } }
            #expect(measured.map(\.property) == [.cancel])
            #expect(
                report.findings.map(\.property)
                    == ContractProperty.allCases.filter { $0 != .endpointRequestsPerSecond })
            #expect(report.transactions == 2)
        }
    }

    @Test func `the rate at which a provider answers is found to a tenth`() async throws {
        try await run { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.rate]
            settings.highestRate = 40
            let all = try await fixture.prober("card", .reference, settings).run()
            #expect(all.findings.first { $0.property == .requestsPerSecond }?.sight == .atLeast(.number(40)))
        }
        try await run(rates: [FaultRate(Fault(.throttled), rate: 1, operations: [.inquire])]) { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.rate]
            let none = try await fixture.prober("card", .reference, settings).run()
            #expect(none.findings.first { $0.property == .requestsPerSecond }?.sight == .atMost(.number(1)))
        }
    }

    @Test func `where a provider counts by endpoints, inquiries tell the rate of theirs`() async throws {
        try await run { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.rate]
            settings.highestRate = 20
            var contract = ProviderContract.reference
            contract.endpointRequestsPerSecond = 1_000
            let report = try await fixture.prober("card", contract, settings).run()
            func sight(_ property: ContractProperty) -> ProbeSight? {
                report.findings.first { $0.property == property }?.sight
            }
            #expect(sight(.endpointRequestsPerSecond) == .atLeast(.number(20)))
            guard case .nothing = sight(.requestsPerSecond) else {
                Issue.record("inquiries told the rate over all endpoints")
                return
            }
        }
    }

    @Test func `a provider that shows nothing is trusted with nothing that was to be seen`() async throws {
        try await run(rates: [FaultRate(Fault(.errorBefore), rate: 1, operations: [.inquire])]) { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.reads, .keys, .cancels]
            settings.patience = .seconds(2)
            let report = try await fixture.prober("card", .reference, settings).run()
            let sights = Dictionary(uniqueKeysWithValues: report.findings.map { ($0.property, $0.sight) })
            let listed = PropertyValue.word("by_listing")
            #expect(sights[.inquiry] == .exactly(listed) || sights[.inquiry] == .atMost(listed))
            #expect(sights[.visibilityLag] == .atMost(.span(.seconds(2))))
            #expect(sights[.cancel] != .exactly(.word("tombstoning")))
            // Nothing shows that the money is back, so nothing says so.
            #expect(!report.leftBehind.isEmpty)
        }
    }

    @Test func `what a stopped run took is given back by its name`() async throws {
        try await run { fixture in
            let settings = try ProbeFixture.settings(run: "stopped")
            let bench = try ProbeBench(
                provider: fixture.provider("card", .reference), clock: fixture.clock, settings: settings,
                reading: { nil })
            for name in [ProbeNames.keys, ProbeNames.onTime, ProbeNames.read(1)] {
                let report = try await bench.send(.authorize, bench.transaction(name))
                #expect(report.outcome == .accepted)
            }
            #expect(try await fixture.control.ledger("card").totals.map(\.held) == [3_000])
            #expect(try await fixture.prober("card", .reference, settings).undo().isEmpty)
            #expect(try await fixture.control.ledger("card").totals.map(\.held) == [0])
        }
    }

    @Test func `credentials that are refused end it at once`() async throws {
        try await ProbeFixture.run([ProviderConfiguration("card", token: "another")]) { fixture in
            let prober = try fixture.prober("card", .reference, ProbeFixture.settings(run: "run"))
            let report = await prober.run()
            #expect(report.failure == .credentials("unauthorized") && report.leftBehind.isEmpty)
            #expect(report.requests == 1)
        }
    }

    /// A request that is refused in any case says nothing about the cancel before it.
    @Test(arguments: ["unknown-0001", "decline-0001"])
    func `an instrument that does not approve is not taken for a tombstone`(token: String) async throws {
        var options = ContractOptions()
        options.tombstoning = false
        try await run(options) { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.instrument = try Instrument(token: token)
            settings.parts = [.cancels, .keys, .notAfter]
            settings.patience = .seconds(2)
            let report = try await fixture.prober("card", .reference, settings).run()
            for finding in report.findings {
                guard case .nothing = finding.sight else {
                    Issue.record("\(finding)")
                    continue
                }
            }
        }
    }

    /// PayPay's wire answers any request under a declined key with the decline. That is no promise for ever.
    @Test func `a decline that is repeated is not called bound`() async throws {
        let wallet = ProviderConfiguration("wallet", wire: .paypay)
        try await ProbeFixture.run([wallet]) { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.declines]
            settings.declinedInstrument = try Instrument(token: "decline-0001")
            let report = try await fixture.prober("wallet", .payPay, settings, adapter: .payPay).run()
            let finding = try #require(report.findings.first { $0.property == .declinesBound })
            #expect(finding.evidence.last?.contains("was answered declined") == true, "\(finding)")
            if case .nothing = finding.sight {} else { Issue.record("\(finding)") }
            #expect(finding.value(besides: .payPay) == .flag(false))
        }
    }

    @Test func `a provider that takes the amount again for the same request has no keys`() async throws {
        var options = ContractOptions()
        options.keyRetentionMs = 1
        try await run(options) { fixture in
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts = [.keys]
            let report = try await fixture.prober("card", .reference, settings).run()
            let sight = report.findings.first { $0.property == .keyRetention }?.sight
            if case .atLeast? = sight { Issue.record("\(report)") }
        }
    }
}
