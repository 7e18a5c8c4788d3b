internal import PaymentCore
public import Reconciler

/// One sentence of the contract of stores that keep repairs, and how a store is held to it.
public struct RepairContractCase: Sendable, CustomStringConvertible {
    /// A store with payments that wait for people, as seen by a case.
    struct Repairing: Sendable {
        let store: any PaymentStore & RepairStore & ComparisonStore
        let clock: ManualClock
        var scenario: Scenario { Scenario(store: store, clock: clock) }

        /// A payment whose provider spoke of another amount.
        func quarantined(_ key: String) async throws -> Payment {
            var (work, actions) = try await scenario.begin(.init(key))
            guard case .send(let order)? = actions.first else { throw ContractViolation(description: "no request") }
            let report = try work.contradiction(to: order, at: clock.now())
            try await scenario.save(
                &work, .attempted(leg: 0, effect: order.effect, number: order.number, report), ends: true)
            return try await stored(work.payment.id)
        }

        func stored(_ id: PaymentID?) async throws -> Payment {
            guard let id, let payment = try await store.payment(id) else {
                throw ContractViolation(description: "the payment is not there")
            }
            return payment
        }

        /// One person proposes to write a leg off; it is not stored yet.
        func proposal(of payment: Payment) throws -> (change: PaymentChange, repair: Repair) {
            let request = RepairRequest(
                payment: payment.id, target: .leg(0), action: .writeOff,
                evidence: Repair.Evidence(text: "their letter", reference: "theirs-1"), isAgainstProvider: true,
                version: payment.version, by: "ann", lasts: .hours(1))
            let (machine, repair) = try PaymentMachine.propose(request, of: payment, try scenario.context())
            let change = PaymentChange(
                payment: machine.payment, entries: machine.newEntries, lease: .none, repair: repair)
            return (change, repair)
        }

        @discardableResult
        func propose(_ payment: Payment) async throws -> Repair {
            let (change, repair) = try proposal(of: payment)
            guard case .committed = try await store.commit(change) else {
                throw ContractViolation(description: "a proposal was not committed")
            }
            return repair
        }

        func decision(_ isApproved: Bool, by person: String) -> Repair.Decision {
            Repair.Decision(isApproved: isApproved, by: person, at: clock.now(), reason: "as they wrote")
        }

        /// Somebody decides, by the rules.
        @discardableResult
        func decide(_ repair: Repair, _ isApproved: Bool = true, by person: String = "ben") async throws -> Repair {
            let payment = try await stored(repair.payment)
            let (machine, decided) = try PaymentMachine.decide(
                repair, decision(isApproved, by: person), of: payment, try scenario.context())
            let change = PaymentChange(
                payment: machine.payment, entries: machine.newEntries, lease: .none, repair: decided)
            guard case .committed = try await store.commit(change) else {
                throw ContractViolation(description: "a decision was not committed")
            }
            return decided
        }

        /// Writes a repair past the rules, with a payment as it is: only the store itself is in the way.
        func force(_ repair: Repair) async throws -> StoreFailure? {
            let change = PaymentChange(
                payment: try await stored(repair.payment), entries: [], lease: .none, repair: repair)
            do throws(StoreFailure) {
                _ = try await store.commit(change)
                return nil
            } catch {
                return error
            }
        }

        func listed(_ query: RepairQuery = RepairQuery()) async throws -> [String] {
            try await store.repairs(query).items.map(\.id)
        }
    }

    /// The sentence.
    public let name: String
    private let body: @Sendable (Repairing) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Repairing) async throws -> Void) {
        self.name = name
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh store to it.
    ///
    /// - Throws: ``ContractViolation``, or what the store threw.
    public func check(
        _ withStore: (ManualClock, @Sendable (any PaymentStore & RepairStore & ComparisonStore) async throws -> Void)
            async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await withStore(clock) { store in try await body(Repairing(store: store, clock: clock)) }
    }

    /// The whole contract.
    public static let all: [RepairContractCase] = writing + people + listing + discrepancies
}

extension RepairContractCase {
    private static let writing: [RepairContractCase] = [
        RepairContractCase("what is proposed and decided reads back as it was written") { it in
            let payment = try await it.quarantined("order-1")
            let unknown = "rep_" + String(repeating: "0", count: 40)
            try require(try await it.store.repair(unknown), is: nil, "an unknown one")
            let repair = try await it.propose(payment)
            try require(try await it.store.repair(repair.id), is: repair, "the proposal")
            try require(try await it.stored(payment.id).version, is: payment.version + 1, "the payment's version")
            let decided = try await it.decide(repair)
            try require(try await it.store.repair(repair.id), is: decided, "the decision")
            try require(try await it.stored(payment.id).state, is: .failed, "the payment")
            let trail = try await it.store.auditTrail(of: payment.id, after: 0, limit: 100)
            try require(trail.last { $0.type == .resolved } != nil, is: true, "the entry of the approval")
        },
        RepairContractCase("a proposal on an older version writes nothing") { it in
            let payment = try await it.quarantined("order-1")
            let (change, repair) = try it.proposal(of: payment)
            try await it.propose(payment)
            try require(try await it.store.commit(change), is: .versionConflict, "the second one")
            try require(try await it.listed().count, is: 1, "repairs")
            try require(try await it.store.repair(repair.id) != nil, is: true, "the first one, of the same name")
        },
        RepairContractCase("what is there is not proposed again, and what is not there is not decided") { it in
            let payment = try await it.quarantined("order-1")
            let unknown = try it.proposal(of: payment).repair
            let early = try await it.force(unknown.decided(it.decision(true, by: "ben")))
            try require(early, is: .repairOutOfOrder, "a decision about nothing")
            let repair = try await it.propose(payment)
            let again = try await it.force(repair)
            try require(again, is: .repairOutOfOrder, "a second proposal")
            try require(try await it.store.repair(repair.id), is: repair, "what is stored")
        },
    ]

    private static let people: [RepairContractCase] = [
        RepairContractCase("the store itself refuses an approval by the one who proposed") { it in
            let repair = try await it.propose(try await it.quarantined("order-1"))
            let before = try await it.stored(repair.payment)
            let refused = try await it.force(repair.decided(it.decision(true, by: "ann")))
            try require(refused?.code, is: .other, "how it is refused")
            try require(try await it.store.repair(repair.id), is: repair, "the repair waits")
            try require(try await it.stored(repair.payment), is: before, "the payment is as it was")
            // The same, by another person: nothing else was in the way.
            let approved = repair.decided(it.decision(true, by: "ben"))
            try require(try await it.force(approved), is: nil, "an approval by another person")
            try require(try await it.store.repair(repair.id), is: approved, "what is stored then")
        },
        RepairContractCase("who proposed it may take it back") { it in
            let repair = try await it.propose(try await it.quarantined("order-1"))
            let rejected = try await it.decide(repair, false, by: "ann")
            try require(try await it.store.repair(repair.id), is: rejected, "the rejection")
        },
        RepairContractCase("what was decided stays as it is") { it in
            let repair = try await it.propose(try await it.quarantined("order-1"))
            let rejected = try await it.decide(repair, false)
            for (isApproved, person) in [(true, "cleo"), (false, "cleo")] {
                let refused = try await it.force(repair.decided(it.decision(isApproved, by: person)))
                try require(refused, is: .repairOutOfOrder, "a second decision")
            }
            try require(try await it.store.repair(repair.id), is: rejected, "the decision")
        },
    ]

    private static let listing: [RepairContractCase] = [
        RepairContractCase("repairs are listed newest first, by what was decided, by payment and in pages") { it in
            var repairs: [Repair] = []
            for number in 0..<5 {
                it.clock.advance(by: .seconds(1))
                repairs.append(try await it.propose(try await it.quarantined("order-\(number)")))
            }
            try await it.decide(repairs[1])
            try await it.decide(repairs[3], false)
            let ids = repairs.map(\.id)
            try require(try await it.listed(), is: ids.reversed(), "all")
            var query = RepairQuery()
            query.isDecided = false
            try require(try await it.listed(query), is: [ids[4], ids[2], ids[0]], "what waits")
            query.isDecided = true
            try require(try await it.listed(query), is: [ids[3], ids[1]], "what was decided")
            query = RepairQuery()
            query.payment = repairs[2].payment
            try require(try await it.listed(query), is: [ids[2]], "of one payment")
            query = RepairQuery(limit: 2)
            var pages: [[String]] = []
            repeat {
                let page = try await it.store.repairs(query)
                pages.append(page.items.map(\.id))
                query.after = page.next
            } while query.after != nil
            try require(pages, is: [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]], "pages")
        }
    ]
}
