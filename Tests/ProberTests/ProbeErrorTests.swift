import PaymentCore
import ProviderSimulator
import Synchronization
import Testing

@testable import Prober
@testable import Reconciler

/// What a probe says of answers with an error.
struct ProbeErrorTests {
    private func settings() throws -> ProbeSettings {
        var settings = try ProbeFixture.settings(run: "run")
        settings.parts = [.errors]
        settings.unknownInstrument = try Instrument(token: "unknown-0001")
        return settings
    }

    private func report(
        phases: ProviderContract.Phases, rates: [FaultRate] = [],
        _ lie: @escaping @Sendable (SendOrder, AttemptReport) -> AttemptReport? = { _, _ in nil }
    ) async throws -> (report: Prober.Report, ledger: LedgerReport) {
        let result = Mutex<(report: Prober.Report, ledger: LedgerReport)?>(nil)
        try await ProbeFixture.run([ProviderConfiguration("card", rates: rates)]) { fixture in
            let contract: ProviderContract = phases == .sale ? .referenceSale : .reference
            let provider = LyingProvider(truth: try fixture.provider("card", contract), lie: lie)
            let prober = try Prober(provider: provider, clock: fixture.clock, settings: settings()) { nil }
            let report = await prober.run()
            let ledger = try await fixture.control.ledger("card")
            result.withLock { $0 = (report, ledger) }
        }
        return try #require(result.withLock { $0 })
    }

    @Test(arguments: ProviderContract.Phases.allCases)
    func `what is refused moves nothing, and the right request is done under the same key`(
        phases: ProviderContract.Phases
    ) async throws {
        let (report, ledger) = try await report(phases: phases)
        #expect(report.breaches.isEmpty && report.leftBehind.isEmpty && report.failure == nil, "\(report)")
        let kinds = phases == .sale ? ["refund"] : ["capture", "refund"]
        for kind in kinds {
            let found = report.notes.contains {
                $0.hasPrefix("a \(kind) of more than there is was answered refused")
                    && $0.contains("and moved 0; the right one under the same key then was answered accepted")
                    && $0.hasSuffix("and moved 500")
            }
            #expect(found, "\(kind): \(report.notes)")
        }
        #expect(report.notes.contains { $0.hasPrefix("a request with an unknown instrument was answered refused") })
        #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 }, "\(ledger.totals)")
        let amounts = ledger.transactions.flatMap { $0.holds + $0.charges }.map(\.amount.value)
        #expect(!amounts.isEmpty && amounts.allSatisfy { $0 <= 1_000 })
    }

    /// A provider that does what it was asked, and answers so that the adapter takes it for a refusal.
    @Test(arguments: ProviderContract.Phases.allCases)
    func `a refusal that took the amount is a breach`(phases: ProviderContract.Phases) async throws {
        let (report, ledger) = try await report(phases: phases) { order, report in
            let begins = order.kind == .authorize || order.kind == .sale
            return begins && report.outcome == .accepted ? AttemptReport(.refused, code: "http_409") : nil
        }
        #expect(report.breaches.count >= 1, "\(report)")
        #expect(report.breaches.allSatisfy { $0.contains("answered refused (http_409) took the amount") })
        #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 }, "\(ledger.totals)")
    }

    @Test func `a refund that is called refused and is made is a breach`() async throws {
        let (report, _) = try await report(phases: .sale) { order, report in
            order.kind == .refund && report.outcome == .accepted ? AttemptReport(.refused, code: "http_422") : nil
        }
        #expect(report.breaches.contains { $0.contains("answered refused (http_422), and moved 500") }, "\(report)")
    }

    @Test func `what may have arrived is not sent again`() async throws {
        let lost = FaultRate(Fault(.requestLost), rate: 1, operations: [.capture])
        let (report, ledger) = try await report(phases: .authorizeCapture, rates: [lost])
        let note = try #require(report.notes.first { $0.hasPrefix("a capture of more than there is") })
        #expect(note.hasSuffix("and moved 0"), "\(note)")
        #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 }, "\(ledger.totals)")
    }

    @Test func `an error that nobody knows is counted, with what it had executed`() async throws {
        let lost = FaultRate(Fault(.errorAfter), rate: 1, operations: [.sale])
        let (report, ledger) = try await report(phases: .sale, rates: [lost])
        #expect(report.breaches.isEmpty, "\(report)")
        let words = "first requests were answered http_500; reads showed"
        let note = try #require(report.notes.first { $0.contains(words) }, "\(report.notes)")
        // The request with the unknown instrument fails as well, and executes nothing.
        #expect(note == "2 \(words) 1 of them executed", "\(report.notes)")
        #expect(ledger.totals.allSatisfy { $0.net == 0 && $0.held == 0 }, "\(ledger.totals)")
    }
}

/// A provider whose answers are bent after they were given.
private struct LyingProvider: PaymentProvider {
    let truth: any PaymentProvider
    let lie: @Sendable (SendOrder, AttemptReport) -> AttemptReport?

    var name: ProviderName { truth.name }
    var contract: ProviderContract { truth.contract }
    var listing: (any ListingProvider)? { truth.listing }

    func send(_ order: SendOrder) async -> AttemptReport {
        let report = await truth.send(order)
        return lie(order, report) ?? report
    }

    func inquire(_ order: InquiryOrder) async -> Observation { await truth.inquire(order) }
}
