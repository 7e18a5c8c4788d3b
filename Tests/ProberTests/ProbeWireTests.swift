import PaymentCore
import ProviderSimulator
import Providers
import Testing

@testable import Prober

/// Whole probes over the wires of real providers, each with the contract that its adapter brings.
struct ProbeWireTests {
    private struct Case: CustomTestStringConvertible {
        let adapter: ProviderAdapter
        let wire: ProviderConfiguration.Wire
        let phases: ProviderContract.Phases
        /// What the contract claims and a probe can see.
        let confirmed: Set<ContractProperty>

        var testDescription: String { "\(adapter.name), \(phases.rawValue)" }
    }

    private static let cases: [Case] = [
        Case(
            adapter: .stripe, wire: .stripe, phases: .authorizeCapture,
            confirmed: [.phases, .inquiry, .cancel, .listing, .refundVisibility]),
        Case(
            adapter: .stripe, wire: .stripe, phases: .sale,
            confirmed: [.phases, .inquiry, .cancel, .listing, .refundVisibility]),
        Case(
            adapter: .payPay, wire: .paypay, phases: .authorizeCapture,
            confirmed: [.phases, .inquiry, .cancel, .refundVisibility]),
        Case(
            adapter: .payPay, wire: .paypay, phases: .sale,
            confirmed: [.phases, .inquiry, .cancel, .cancelReversesSale, .refundVisibility]),
    ]

    @Test(arguments: cases)
    private func `the contract of an adapter is what its wire shows, and nothing is left behind`(_ one: Case)
        async throws
    {
        try await ProbeFixture.run([ProviderConfiguration("card", wire: one.wire)]) { fixture in
            var contract = try #require(one.adapter.contract(named: one.adapter.name))
            contract.phases = one.phases
            var settings = try ProbeFixture.settings(run: "run")
            settings.parts.remove(.rate)
            settings.declinedInstrument = try Instrument(token: "decline-0001")
            let report = try await fixture.prober("card", contract, settings, adapter: one.adapter).run()
            #expect(report.failure == nil && report.leftBehind.isEmpty, "\(report)")
            let verdicts = Dictionary(
                uniqueKeysWithValues: report.findings.map { ($0.property, $0.verdict(on: contract)) })
            #expect(!verdicts.values.contains(.contradicted), "\(report)")
            for property in one.confirmed { #expect(verdicts[property] == .confirmed, "\(property): \(report)") }
            let ledger = try await fixture.control.ledger("card")
            #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 } && !ledger.totals.isEmpty, "\(report)")
        }
    }
}
