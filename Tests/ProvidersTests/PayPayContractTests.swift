import HTTPTransport
import PaymentCore
import ProviderSimulator
import Reconciler
import Testing

@testable import Providers

/// The adapter for PayPay before a real socket: the suite that every adapter keeps, and what only PayPay does.
@Suite(.serialized)
struct PayPayContractTests {
    @Test(arguments: ContractCase.all(with: SuiteWire.payPay.traits))
    func `the adapter for PayPay keeps the contract`(contractCase: ContractCase) async throws {
        try await SimulatorSubject.run(.payPay) { try await contractCase.check($0) }
    }

    /// What is left out is what PayPay cannot do. Each has a test of what happens there in its place.
    @Test func `the rest of the suite is not asked of it, by name`() {
        let asked = Set(ContractCase.all(with: SuiteWire.payPay.traits).map(\.name))
        let leftOut = Set(ContractCase.all.map(\.name)).subtracting(asked)
        #expect(
            leftOut == [
                "the listing shows what was taken and given back",
                "a request that comes after its time is not executed, and leads to an inquiry",
                "a void of what is not there keeps it from happening",
                "the same key with another body is a conflict, and leads to an inquiry",
                "\(SuiteFault.unavailable) has no effect",
            ])
    }

    // MARK: In the place of what is left out

    @Test func `PayPay knows no last moment, and executes what comes late`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            let past = Timestamp(rfc3339: "2020-01-01T00:00:00Z")
            #expect(try await subject.onePhase.send(book.send(.sale, notAfter: past)).outcome == .accepted)
        }
    }

    @Test func `a cancel of nothing does not keep the payment away that comes after it`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            let report = try await subject.twoPhase.send(book.send(.void))
            #expect(report.outcome == .refused && report.code == "not_found")
            #expect(report.observation?.status == .notFound && !report.namesKey)
            #expect(try await subject.twoPhase.send(book.send(.authorize)).outcome == .accepted)
            #expect(try await subject.books(of: book.key(.authorize)).held == 1200)
        }
    }

    @Test func `the same id with another amount is answered with the earlier result`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let report = try await subject.twoPhase.send(book.send(.authorize, 1300))
            #expect(try report.outcome == .accepted && report.observation?.amount == book.money(1200))
            #expect(try await subject.books(of: book.key(.authorize)) == SuiteBooks(holds: 1, held: 1200))
        }
    }

    @Test(arguments: [EffectKind.authorize, .capture, .refund, .void])
    func `maintenance proves nothing, and reads decide`(kind: EffectKind) async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            let operations: [(EffectKind, SuiteOperation)] = [
                (.authorize, .authorize), (.capture, .capture), (.refund, .refund),
            ]
            if kind == .void { _ = try await subject.twoPhase.send(book.send(.authorize)) }
            for (before, _) in operations.prefix(while: { $0.0 != kind && kind != .void }) {
                _ = try await subject.twoPhase.send(book.send(before))
            }
            let operation = operations.first { $0.0 == kind }?.1 ?? .void
            let known = try await subject.twoPhase.shown(book.inquiry())
            try await subject.suffer(.unavailable, on: operation)
            let report = try await subject.twoPhase.send(book.send(kind))
            #expect(report.outcome == .indeterminate && report.code == "http_503" && report.observation == nil)
            #expect(try await subject.twoPhase.shown(book.inquiry()) == known)
            #expect(try await subject.twoPhase.send(book.send(kind)).outcome == .accepted)
        }
    }

    @Test func `the answer to a cancel shows no status, so that none can be missing`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            try await subject.suffer(.statusMissing, on: .void)
            let report = try await subject.twoPhase.send(book.send(.void))
            #expect(report.outcome == .accepted && report.observation?.status == .voided)
        }
    }

    // MARK: Cancels

    private func order(_ book: OrderBook, _ kind: EffectKind, _ value: Int64 = 1200) throws -> SendOrder {
        try kind == .sale ? book.send(.sale, value) : book.sendAfterSale(kind, value)
    }

    /// One that may begin whenever it is.
    private func due(_ order: SendOrder) -> SendOrder {
        var order = order
        order.startBefore = StandingClock.noon + .days(30)
        return order
    }

    private func books(_ subject: SimulatorSubject, _ book: OrderBook) async throws -> (charges: Int, net: Int64) {
        let key = try book.key(.sale).text
        let known = try await subject.control.ledger("points", key: key).transaction(key)
        return (known?.charges.count ?? 0, known?.net ?? 0)
    }

    @Test func `a cancel gives a completed payment back, however often`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.onePhase.send(order(book, .sale))
            for _ in 0..<2 {
                let report = try await subject.onePhase.send(order(book, .void))
                #expect(report.outcome == .accepted && report.observation?.status == .voided, "\(report)")
            }
            #expect(try await books(subject, book) == (1, 0))
            // The id is used up.
            let again = try await subject.onePhase.send(order(book, .sale))
            #expect(again.outcome == .refused && again.code == "conflict_voided")
        }
    }

    @Test func `a cancel that no read shows yet is in doubt, and is done later`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            try await subject.suffer(.staleReads, on: .void)
            let report = try await subject.twoPhase.send(book.send(.void))
            #expect(report.outcome == .indeterminate && report.code == "cancel_accepted")
            #expect(try await subject.twoPhase.inquire(book.inquiry()).status == .authorized)
            try await eventually { try await subject.twoPhase.inquire(book.inquiry()).status == .voided }
            #expect(try await subject.twoPhase.send(book.send(.void)).outcome == .accepted)
        }
    }

    /// 12:00 UTC is 21:00 in Japan: the window ends three hours and a quarter later. The clock runs, so the first is
    /// five minutes before that.
    @Test(arguments: [(Int64(11_400), OutcomeClass.accepted), (11_701, .refused)])
    func `a cancel works until a quarter past midnight in Japan`(seconds: Int64, outcome: OutcomeClass) async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.onePhase.send(order(book, .sale))
            let later = try await subject.later(by: seconds, at: "points")
            let report = try await later.send(due(order(book, .void)))
            #expect(report.outcome == outcome, "\(report)")
            #expect(try await books(subject, book) == (1, outcome == .accepted ? 0 : 1200))
            if outcome == .refused {
                #expect(report.code == "conflict_captured" && !report.namesKey)
                let back = try await later.send(due(order(book, .refund)))
                #expect(back.outcome == .accepted && back.observation?.status == .captured)
            }
        }
    }

    @Test func `what was refunded cannot be cancelled`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.onePhase.send(order(book, .sale))
            _ = try await subject.onePhase.send(order(book, .refund, 300))
            let report = try await subject.onePhase.send(order(book, .void))
            #expect(report.outcome == .refused && report.code == "conflict_captured")
            #expect(report.observation?.refunds.map(\.state) == [.succeeded])
            #expect(try await books(subject, book) == (1, 900))
        }
    }

    // MARK: Refunds, captures, holds

    @Test func `a refund that PayPay works on is undecided, and is done later`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            for kind in [EffectKind.authorize, .capture] { _ = try await subject.twoPhase.send(book.send(kind)) }
            try await subject.suffer(.pending, on: .refund)
            let report = try await subject.twoPhase.send(book.send(.refund, 500))
            #expect(report.outcome == .accepted && report.code == "pending")
            #expect(report.observation?.refunds.map(\.state) == [.pending])
            try await eventually {
                try await subject.twoPhase.inquire(book.inquiry()).refunds.map(\.state) == [.succeeded]
            }
        }
    }

    @Test func `a refund in full is a payment that was taken and given back`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.onePhase.send(order(book, .sale))
            let report = try await subject.onePhase.send(order(book, .refund))
            #expect(report.outcome == .accepted && report.observation?.status == .captured)
            #expect(try report.observation?.refunds.map(\.amount) == [book.money(1200)])
            #expect(try await books(subject, book) == (1, 0))
        }
    }

    @Test func `a hold that ran out is expired, and cannot be captured`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            let book = OrderBook()
            _ = try await subject.twoPhase.send(book.send(.authorize))
            let later = try await subject.later(by: 8 * 86_400, at: "card")
            let report = try await later.send(due(book.send(.capture)))
            #expect(report.outcome == .refused && report.observation?.status == .expired)
            #expect(try await later.send(due(book.send(.void))).observation?.status == .expired)
        }
    }

    @Test func `a signature that is too old is refused, as credentials are`() async throws {
        try await SimulatorSubject.run(.payPay) { subject async throws in
            try subject.control.setClockOffset(121_000, at: "card")
            let report = try await subject.twoPhase.send(OrderBook().send(.authorize))
            #expect(report.outcome == .refused && report.credentialsRefused && report.code == "unauthorized")
        }
    }
}
