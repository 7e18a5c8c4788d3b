public import PaymentCore

/// What people may ask for about payments that wait for them, and about discrepancies: one proposes, another decides.
///
/// The rules are ``RepairTable``'s, and the machine's; the store keeps by itself that nobody approves what they
/// proposed. What an approval makes due is done by whoever holds the payment next, or by the next comparison.
public struct RepairDesk: Sendable {
    private let store: any PaymentStore & RepairStore & ComparisonStore
    private let context: @Sendable (Timestamp) -> MachineContext
    private let compared: Set<ProviderName>?
    private let approved: @Sendable (Repair) async -> Void

    /// A desk over a store.
    ///
    /// - Parameters:
    ///   - context: By what payments are decided at a moment of the store's clock.
    ///   - compared: The providers that are compared, so that an order to undo is begun; `nil` for all.
    ///   - approved: Is told of each approval: something may be due.
    public init(
        store: any PaymentStore & RepairStore & ComparisonStore,
        context: @escaping @Sendable (Timestamp) -> MachineContext,
        compared: Set<ProviderName>? = nil,
        approved: @escaping @Sendable (Repair) async -> Void = { _ in }
    ) {
        self.store = store
        self.context = context
        self.compared = compared
        self.approved = approved
    }

    /// The store's time, by which a proposal ends.
    public func now() async throws(RepairFailure) -> Timestamp {
        try await reading { () async throws(StoreFailure) in try await store.now() }
    }

    /// Reads a repair.
    public func repair(_ id: String) async throws(RepairFailure) -> Repair {
        let found = try await reading { () async throws(StoreFailure) in try await store.repair(id) }
        guard let found else { throw .noSuchRepair }
        return found
    }

    /// Reads repairs, newest first.
    public func repairs(_ query: RepairQuery) async throws(RepairFailure) -> CursorPage<Repair, RepairCursor> {
        try await reading { () async throws(StoreFailure) in try await store.repairs(query) }
    }

    /// What a repair is about, by the leg's index and a refund's identifier.
    public func target(
        _ payment: PaymentID, leg: Int, refund: String?
    ) async throws(RepairFailure) -> Repair.Target {
        guard let refund else { return .leg(leg) }
        let payment = try await self.payment(payment)
        guard let index = payment.refunds.firstIndex(where: { $0.id(of: payment) == refund }) else {
            throw .noSuchRefund
        }
        return .refund(index, leg: leg)
    }

    /// Proposes a repair. Nothing moves by it.
    ///
    /// - Throws: ``RepairFailure/refused(_:)`` where nobody could approve it as it is proposed.
    public func propose(_ request: RepairRequest) async throws(RepairFailure) -> Repair {
        if case .discrepancy(let id) = request.target { return try await propose(request, about: id) }
        guard let id = request.payment else { throw .noSuchPayment }
        let payment = try await payment(id)
        let context = context(try await now())
        let (machine, repair): (PaymentMachine, Repair)
        do {
            (machine, repair) = try PaymentMachine.propose(request, of: payment, context)
        } catch {
            throw .refused(error)
        }
        guard try await commit(machine, repair) else { throw .refused(.changed) }
        return repair
    }

    /// Approves or rejects a repair. An approval is carried out with the same change that stores it.
    ///
    /// - Throws: ``RepairFailure/refused(_:)`` where it is not carried out; nothing has changed then.
    public func decide(
        _ id: String, approves: Bool, by person: String, reason: String
    ) async throws(RepairFailure) -> Repair {
        for _ in 0..<RepairDesk.tries {
            let repair = try await repair(id)
            let context = context(try await now())
            let decision = Repair.Decision(isApproved: approves, by: person, at: context.now, reason: reason)
            let isKept: Bool
            if case .discrepancy(let id) = repair.target {
                isKept = try await decide(repair, decision, of: try await discrepancy(id), context)
            } else {
                isKept = try await decide(repair, decision, context)
            }
            guard isKept else { continue }
            if approves { await approved(repair) }
            return repair.decided(decision)
        }
        let cause = "what it is about is changed all the time"
        throw .store(StoreFailure(.serialization, operation: "decide about a repair", cause: cause))
    }

    private func decide(
        _ repair: Repair, _ decision: Repair.Decision, _ context: MachineContext
    ) async throws(RepairFailure) -> Bool {
        guard let id = repair.payment else { throw .noSuchPayment }
        let payment = try await payment(id)
        let (machine, decided): (PaymentMachine, Repair)
        do {
            (machine, decided) = try PaymentMachine.decide(repair, decision, of: payment, context)
        } catch {
            throw .refused(error)
        }
        return try await commit(machine, decided)
    }

    private func propose(
        _ request: RepairRequest, about id: DiscrepancyID
    ) async throws(RepairFailure) -> Repair {
        let known = try await discrepancy(id)
        let isCompared = compared?.contains(known.provider) ?? true
        guard request.action != .undo || isCompared else { throw .refused(.notCompared) }
        let context = context(try await now())
        let (changed, repair): (Discrepancy, Repair)
        do {
            (changed, repair) = try known.proposing(request, context.repairTable, at: context.now)
        } catch {
            throw .refused(error)
        }
        guard try await commit(changed, repair) else { throw .refused(.changed) }
        return repair
    }

    private func decide(
        _ repair: Repair, _ decision: Repair.Decision, of discrepancy: Discrepancy, _ context: MachineContext
    ) async throws(RepairFailure) -> Bool {
        let (changed, decided): (Discrepancy, Repair)
        do {
            (changed, decided) = try discrepancy.deciding(repair, decision, context.repairTable)
        } catch {
            throw .refused(error)
        }
        return try await commit(changed, decided)
    }

    private func discrepancy(_ id: DiscrepancyID) async throws(RepairFailure) -> Discrepancy {
        let found = try await reading { () async throws(StoreFailure) in try await store.discrepancies([id]) }
        guard let discrepancy = found.first else { throw .noSuchDiscrepancy }
        return discrepancy
    }

    /// Whether nobody else was first.
    private func commit(_ discrepancy: Discrepancy, _ repair: Repair) async throws(RepairFailure) -> Bool {
        do {
            return try await store.change(discrepancy, with: repair) != nil
        } catch .repairOutOfOrder {
            return false  // Somebody else decided, or proposed, between two reads.
        } catch {
            throw .store(error)
        }
    }

    private func payment(_ id: PaymentID) async throws(RepairFailure) -> Payment {
        let found = try await reading { () async throws(StoreFailure) in try await store.payment(id) }
        guard let found else { throw .noSuchPayment }
        return found
    }

    /// Whether nobody else was first.
    private func commit(_ machine: PaymentMachine, _ repair: Repair) async throws(RepairFailure) -> Bool {
        let change = PaymentChange(
            payment: machine.payment, entries: machine.newEntries, lease: .none, repair: repair)
        let result = try await reading { () async throws(StoreFailure) in try await store.commit(change) }
        switch result {
        case .committed: return true
        case .versionConflict, .leaseLost, .duplicate: return false
        }
    }

    private func reading<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(RepairFailure) -> Value {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }

    private static let tries = 5
}

/// Why a person's repair was not taken.
public enum RepairFailure: Error, Sendable, Hashable {
    /// There is no such payment.
    case noSuchPayment
    /// The payment has no such refund.
    case noSuchRefund
    /// There is no such discrepancy.
    case noSuchDiscrepancy
    /// There is no such repair.
    case noSuchRepair
    /// The rules do not permit it.
    case refused(RepairRefusal)
    /// The store could not do it. It may have been done if the code is `indeterminate`.
    case store(StoreFailure)
}
