import PaymentCore
import Reconciler
import Testing

@testable import Providers

extension SuiteWire {
    /// What of the suite is asked of the template: its service takes at once, and its errors are not stored.
    static let template = SuiteWire(
        adapter: .template, twoPhase: .template, onePhase: .template,
        traits: SuiteTrait.ofFakes.union([
            .voids, .voidOfNothing, .errorsNotStored, .unavailableProvesNothingDone, .conflictingKeys,
            .voidsShowTransactions,
        ]))
}

/// The template before a fake of its service, over a faulty wire: the suite that every adapter keeps.
@Suite(.serialized)
struct TemplateContractTests {
    private typealias Subject = FakeSubject<TemplateService>

    @Test(arguments: ContractCase.all(with: SuiteWire.template.traits))
    func `the template keeps the contract`(contractCase: ContractCase) async throws {
        try await Subject.run(.template) { try await contractCase.check($0) }
    }

    /// What is left out is what the service cannot do. What matters there for money has a test in its place.
    @Test func `the rest of the suite is not asked of it, by name`() {
        let asked = Set(ContractCase.all(with: SuiteWire.template.traits).map(\.name))
        let leftOut = Set(ContractCase.all.map(\.name)).subtracting(asked)
        #expect(
            leftOut == [
                "the listing shows what was taken and given back",
                "hold, take, give back",
                "an undecided capture is accepted as undecided",
                "a void comes too late for what was captured",
                "a request that comes after its time is not executed, and leads to an inquiry",
                "a void of what is not there keeps it from happening",
            ])
    }

    // MARK: In the place of what is left out

    @Test func `nothing is held, so a hold and a capture are not sent`() async throws {
        try await Subject.run(.template) { subject async throws in
            for kind in [EffectKind.authorize, .capture] {
                let report = try await subject.main.send(OrderBook().send(kind))
                #expect(report.outcome == .refused && report.code == "nothing_is_held" && report.bytesWritten == 0)
            }
        }
    }

    @Test func `a reversal comes too late for what was refunded`() async throws {
        try await Subject.run(.template) { subject async throws in
            let book = subject.book
            _ = try await subject.main.send(book.send(.sale))
            _ = try await subject.main.send(book.send(.refund, 300))
            let report = try await subject.main.send(book.send(.void))
            #expect(report.outcome == .refused && report.code == "conflict_captured" && !report.namesKey)
            #expect(report.observation?.refunds.map(\.state) == [.succeeded])
            #expect(try subject.books(of: book.key(.sale)) == SuiteBooks(charges: 1, net: 900))
        }
    }

    @Test func `the service knows no last moment, and executes what comes late`() async throws {
        try await Subject.run(.template) { subject async throws in
            let past = Timestamp(rfc3339: "2020-01-01T00:00:00Z")
            #expect(try await subject.main.send(subject.book.send(.sale, notAfter: past)).outcome == .accepted)
        }
    }

    @Test func `a reversal of nothing does not keep a late debit away`() async throws {
        try await Subject.run(.template) { subject async throws in
            let book = subject.book
            subject.suffer(.late, on: .authorize)
            #expect(try await subject.main.send(book.send(.sale)).outcome == .indeterminate)
            let undone = try await subject.main.send(book.send(.void))
            // It arrived after the reversal, and before the read that the refusal leads to.
            #expect(undone.outcome == .refused && undone.observation?.status == .captured && !undone.namesKey)
            #expect(try subject.books(of: book.key(.sale)) == SuiteBooks(charges: 1, net: 1200))
        }
    }

    // MARK: The adapter as a value

    @Test func `it cannot be configured, because it is a start to copy`() {
        #expect(!ProviderAdapter.all.contains(.template))
    }

    @Test func `its contract is beside it, under its own name, and is not the core's`() {
        #expect(ProviderAdapter.template.contract(named: "template") == .template)
        #expect(ProviderAdapter.template.contract(named: "reference") == nil)
        #expect(ProviderAdapter.reference.contract(named: "gmo_pg") == .gmoPG)
        #expect(!ProviderContract.known.contains { $0.name == "template" })
    }

    @Test func `its contract keeps what its wire fixes, and needs the plug`() {
        #expect(ProviderAdapter.template.problems(with: .template).isEmpty)
        #expect(
            ProviderAdapter.template.problems(with: .reference).map(\.property) == [
                "phases", "cancel", "cancel_reverses_sale", "listing", "enforces_not_after",
            ])
        #expect(ProviderContract.template.traps(under: SafetyAssumptions()).map(\.name) == [.undoImpossible])
        #expect(ProviderContract.template.traps(under: SafetyAssumptions(plugAllowed: true)).isEmpty)
    }
}
