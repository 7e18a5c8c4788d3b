import HTTPTransport
import PaymentCore
import ProviderSimulator
import Reconciler
import Testing

@testable import Providers

/// The adapter for Stripe before a real socket: the suite that every adapter keeps, and what only Stripe does.
@Suite(.serialized)
struct StripeContractTests {
    @Test(arguments: ContractCase.all(with: SuiteWire.stripe.traits))
    func `the adapter for Stripe keeps the contract`(contractCase: ContractCase) async throws {
        try await SimulatorSubject.run(.stripe) { try await contractCase.check($0) }
    }

    /// What is left out is what Stripe cannot do. Each has a test of what happens there in its place.
    @Test func `the rest of the suite is not asked of it, by name`() {
        let asked = Set(ContractCase.all(with: SuiteWire.stripe.traits).map(\.name))
        let leftOut = Set(ContractCase.all.map(\.name)).subtracting(asked)
        #expect(
            leftOut == [
                "a request that comes after its time is not executed, and leads to an inquiry",
                "a void that leaves nothing behind is no tombstone",
                "an undecided capture is accepted as undecided",
                "\(SuiteFault.failsBefore) leaves every change in doubt",
                "\(SuiteFault.unavailable) has no effect",
            ])
    }

    @Test func `a cancel of what can never be registered is done`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            var book = OrderBook(format: .hex64)
            book.instrument = subject.instrument(.unknown)
            for number in 1...2 {
                let report = try await subject.twoPhase.send(book.send(.void, number: number))
                #expect(report.outcome == .accepted && report.observation?.status == .tombstoned, "\(report.code)")
                #expect(report.observation?.key == (try book.key(.authorize)))
            }
            #expect(try await subject.twoPhase.send(book.send(.authorize)).outcome == .refused)
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks())
        }
    }

    // MARK: Stored errors

    @Test func `a stored error of a charge is replayed for a day, and never taken for a decline`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            try await subject.suffer(.failsBefore, on: .authorize)
            for number in 1...3 {
                let report = try await subject.twoPhase.send(book.send(.authorize, number: number))
                #expect(report.outcome == .indeterminate, "\(number): \(report.code)")
            }
            #expect(try await subject.twoPhase.inquire(book.inquiry()).status == .notFound)
            // The registration is there: canceled, it can never be charged.
            let undone = try await subject.twoPhase.send(book.send(.void))
            #expect(undone.outcome == .accepted && undone.observation?.status == .tombstoned)
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks())
        }
    }

    @Test func `a stored error of a charge that was made is settled by a read`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            try await subject.suffer(.failsAfter, on: .authorize)
            #expect(try await subject.twoPhase.send(book.send(.authorize)).outcome == .indeterminate)
            let again = try await subject.twoPhase.send(book.send(.authorize, number: 2))
            #expect(again.outcome == .accepted && again.observation?.status == .authorized)
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks(holds: 1, held: 1200))
        }
    }

    @Test func `a stored error does not keep a hold from being captured or released`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            for kind in [EffectKind.capture, .void] {
                var book = OrderBook(format: .hex64)
                book.paymentKey = "\(kind)"
                _ = try await subject.twoPhase.send(book.send(.authorize))
                try await subject.suffer(.failsBefore, on: kind == .capture ? .capture : .void)
                #expect(try await subject.twoPhase.send(book.send(kind)).outcome == .indeterminate)
                #expect(try await subject.twoPhase.send(book.send(kind, number: 2)).outcome == .accepted, "\(kind)")
                #expect(try await subject.books(of: book.key(.authorize)).held == 0)
            }
        }
    }

    @Test func `a refund with a stored error is never sent under another key`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture))
            try await subject.suffer(.failsBefore, on: .refund)
            for number in 1...4 {
                let report = try await subject.twoPhase.send(book.send(.refund, 300, number: number))
                #expect(report.outcome == .indeterminate, "\(number)")
            }
            #expect(try await subject.books(of: book.key(.authorize)).net == 1200)
            // The same where it was made: then the read shows it.
            try await subject.suffer(.failsAfter, on: .refund)
            let second = try book.send(.refund, 200, discriminator: "second")
            #expect(await subject.twoPhase.send(second).outcome == .indeterminate)
            #expect(await subject.twoPhase.send(second).outcome == .accepted)
            #expect(try await subject.books(of: book.key(.authorize)).net == 1000)
        }
    }

    @Test func `a 503 of a gateway proves nothing`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            try await subject.suffer(.unavailable, on: .authorize)
            #expect(try await subject.twoPhase.send(book.send(.authorize)).outcome == .indeterminate)
            #expect(try await subject.twoPhase.send(book.send(.authorize, number: 2)).outcome == .accepted)
        }
    }

    // MARK: Registered first

    @Test func `a registration that is lost has charged nothing, and says so`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            for fault in [Fault(.requestLost), Fault(.responseLost), Fault(.errorBefore), Fault(.html)] {
                var book = OrderBook(format: .hex64)
                book.paymentKey = fault.kind.rawValue
                try subject.control.order(FaultOrder(fault, operation: .register), at: "card")
                let report = try await subject.twoPhase.send(book.send(.authorize))
                #expect(report.outcome == .unsent && report.bytesWritten == 0, "\(fault.kind): \(report.code)")
                #expect(try await subject.twoPhase.inquire(book.inquiry()).status == .notFound)
            }
        }
    }

    @Test func `a stored error of a registration keeps nothing from being charged, or from being undone`() async throws
    {
        try await SimulatorSubject.run(.stripe) { subject in
            for kind in [EffectKind.authorize, .void] {
                var book = OrderBook(format: .hex64)
                book.paymentKey = "\(kind)"
                for times in 1...2 {
                    // Whether Stripe made the first registration or not, nobody knows its identifier.
                    let fault = Fault(times == 1 ? .errorBefore : .errorAfter)
                    try subject.control.order(FaultOrder(fault, operation: .register), at: "card")
                    #expect(try await subject.twoPhase.send(book.send(kind, number: times)).outcome == .unsent)
                }
                let third = try await subject.twoPhase.send(book.send(kind, number: 3))
                #expect(third.outcome == .accepted, "\(kind): \(third.code)")
                // Whoever comes later is led to the same registration.
                let other = try await subject.twoPhase.send(book.send(kind == .void ? .authorize : .void, number: 4))
                #expect(other.outcome == (kind == .void ? .refused : .accepted), "\(kind): \(other.code)")
                #expect(try await subject.books(of: book.key(.authorize)).held == 0)
            }
        }
    }

    @Test func `a replayed error does not count against the provider`() {
        var fields = HTTPFields([("Idempotent-Replayed", "true")])
        #expect(!ProviderAdapter.stripe.isFailure(HTTPResponse(status: 500, fields: fields)))
        fields["Idempotent-Replayed"] = nil
        #expect(ProviderAdapter.stripe.isFailure(HTTPResponse(status: 500, fields: fields)))
        #expect(!ProviderAdapter.stripe.isFailure(HTTPResponse(status: 429)))
        #expect(ProviderAdapter.reference.isFailure(HTTPResponse(status: 503)))
    }

    @Test func `a confirm that arrives after the cancel charges nothing`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            try await subject.suffer(.late, on: .authorize)
            #expect(try await subject.twoPhase.send(book.send(.authorize)).outcome == .indeterminate)
            let undone = try await subject.twoPhase.send(book.send(.void))
            #expect(undone.outcome == .accepted && undone.observation?.status == .tombstoned)
            let key = try book.key(.authorize).text
            try await eventually {
                try await subject.control.journal("card", key: key).contains { $0.origin == .late }
            }
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks())
        }
    }

    @Test func `what was charged twice after a key was pruned is seen`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            try subject.control.order(FaultOrder(Fault(.keyForgotten), operation: .register), at: "card")
            try subject.control.order(FaultOrder(Fault(.keyForgotten), operation: .authorize), at: "card")
            _ = try await subject.twoPhase.send(book.send(.authorize, number: 2))
            #expect(try await subject.books(of: book.key(.authorize)).holds == 2, "two intents are charged")
            #expect(try await subject.twoPhase.inquire(book.inquiry()).contradiction == "charged_twice")
        }
    }

    // MARK: Replays

    @Test func `the stored answer to a charge does not hide what became of it since`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture, 1000))
            _ = try await subject.twoPhase.send(book.send(.refund, 400))
            let replayed = try await subject.twoPhase.send(book.send(.authorize, number: 2))
            #expect(replayed.outcome == .accepted && replayed.observation?.status == .captured)
            #expect(try replayed.observation?.captures.map(\.amount) == [book.money(1000)])
            #expect(try replayed.observation?.refunds.map(\.amount) == [book.money(400)])
        }
    }

    @Test func `what a capture of a part gives free is no refund`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let taken = try await subject.twoPhase.send(book.send(.capture, 700))
            #expect(taken.outcome == .accepted)
            let known = try await subject.twoPhase.inquire(book.inquiry())
            #expect(known.status == .captured && known.refunds.isEmpty)
            #expect(
                try known.captures == [
                    Observation.Movement(key: book.key(.capture), amount: book.money(700), state: .succeeded)
                ])
        }
    }

    @Test func `more refunds than one page are all read`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture))
            for index in 0..<13 {
                _ = try await subject.twoPhase.send(book.send(.refund, 10, discriminator: "refund-\(index)"))
            }
            let known = try await subject.twoPhase.inquire(book.inquiry())
            #expect(Set(known.refunds.map(\.key)).count == 13)
        }
    }

    @Test func `a dispute is shown with its charge`() async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture))
            try await subject.control.dispute(DisputeOrder(.open, key: book.key(.authorize).text), at: "card")
            let known = try await subject.twoPhase.inquire(book.inquiry())
            #expect(known.disputes?.map(\.state) == [.open])
            #expect(known.refunds.isEmpty)
        }
    }

    @Test(arguments: [DisputeStatus.won, .lost])
    func `what a lost dispute took is given back, as the provider's books say`(outcome: DisputeStatus) async throws {
        try await SimulatorSubject.run(.stripe) { subject in
            let book = OrderBook(format: .hex64)
            _ = try await subject.twoPhase.send(book.send(.authorize))
            _ = try await subject.twoPhase.send(book.send(.capture))
            let refunded = try await subject.twoPhase.send(book.send(.refund, 200))
            #expect(refunded.outcome == .accepted)
            let key = try book.key(.authorize).text
            try await subject.control.dispute(DisputeOrder(.open, key: key), at: "card")
            try await subject.control.dispute(DisputeOrder(outcome, key: key), at: "card")
            let known = try await subject.twoPhase.inquire(book.inquiry())
            let given = known.refunds.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
            #expect(given == (outcome == .lost ? 1200 : 200))
            #expect(try await subject.books(of: book.key(.authorize)).net == 1200 - given)
            #expect(Set(known.refunds.map(\.key)).count == known.refunds.count)
        }
    }
}
