public import PaymentCore
public import Reconciler

/// A store under test with payments that go through the real machine.
public struct Scenario: Sendable {
    /// The store.
    public let store: any PaymentStore
    /// Its clock, which is the machine's too.
    public let clock: ManualClock
    let tamper: @Sendable (any PaymentStore, Tampering) async throws -> Void

    /// The providers of every scenario: two that hold first, one that takes at once.
    static let contracts: [String: ProviderContract] = [
        "cards": .reference, "wallet": .reference, "points": .referenceSale,
    ]

    /// A scenario over a store.
    public init(store: any PaymentStore, clock: ManualClock) {
        self.init(store: store, clock: clock, tamper: { _, _ in })
    }

    init(
        store: any PaymentStore, clock: ManualClock,
        tamper: @escaping @Sendable (any PaymentStore, Tampering) async throws -> Void
    ) {
        self.store = store
        self.clock = clock
        self.tamper = tamper
    }

    /// What the machine is asked with now.
    public func context() throws -> MachineContext {
        var contracts: [ProviderName: ProviderContract] = [:]
        for (name, contract) in Scenario.contracts { contracts[try ProviderName(name)] = contract }
        return MachineContext(now: clock.now(), contracts: contracts)
    }

    /// What a payment is asked for.
    public struct Order: Sendable {
        /// Whose it is.
        public var caller = "shop"
        /// The caller's key.
        public var key: String
        /// Provider and amount of each leg.
        public var legs: [(provider: String, amount: Int64)] = [("cards", 1_200)]
        /// When money is taken.
        public var capture = CaptureMode.automatic
        /// The caller's reference.
        public var reference: String?
        /// The caller's data.
        public var metadata: [String: String] = [:]
        /// Where its payer is sent back to.
        public var returnURL: WebAddress?

        /// An order of one leg at `cards`.
        public init(_ key: String) { self.key = key }
    }

    /// A payment that is not stored yet, and the actions of its first change.
    func draft(_ order: Order) throws -> (work: Work, actions: [PaymentAction]) {
        let currency = try require(Currency(code: "JPY"), "a currency")
        let context = try context()
        let legs = try order.legs.map { leg in
            CreateRequest.Leg(
                provider: try ProviderName(leg.provider), instrument: try Instrument(token: "tok_\(leg.provider)_1"),
                amount: try Money(leg.amount, currency))
        }
        let request = try CreateRequest(
            caller: CallerID(order.caller), key: IdempotencyKey(order.key),
            amount: Money.sum(legs.map(\.amount), in: currency), legs: legs, captureMode: order.capture,
            reference: order.reference, metadata: order.metadata, returnURL: order.returnURL,
            contracts: context.contracts)
        let created = PaymentMachine.create(request, context)
        return (Work(machine: created.machine, token: LeaseToken(0)), created.actions)
    }

    /// The record of the key under which a payment is created.
    func record(
        _ payment: Payment, key: String? = nil, _ operation: IdempotencyRecord.Operation = .create
    ) throws -> IdempotencyRecord {
        IdempotencyRecord(
            caller: payment.caller, key: try key.map { try IdempotencyKey($0) } ?? payment.key,
            operation: operation, payment: payment.id, fingerprint: Digest(of: [payment.key.text]),
            createdAt: clock.now())
    }

    /// Creates a payment, leased to `holder` for a minute.
    @discardableResult
    public func create(_ order: Order, holder: String = "worker") async throws -> Work {
        try await begin(order, holder: holder).work
    }

    func begin(
        _ order: Order, holder: String = "worker"
    ) async throws -> (work: Work, actions: [PaymentAction]) {
        var (work, actions) = try draft(order)
        let change = work.change(
            .creating(holder: holder, leaseFor: .minutes(1)), try record(work.payment))
        guard case .committed(let version, let token?) = try await store.commit(change) else {
            throw ContractViolation(description: "a new payment was not committed")
        }
        work.token = token
        work.machine.committed(version: version)
        return (work, actions)
    }

    /// Creates a payment whose lease is ended: it is due now, at the provider of its first leg.
    @discardableResult
    func createFree(_ order: Order) async throws -> Work {
        let work = try await create(order)
        try await store.release(work.payment.id, token: work.token)
        return work
    }

    /// Creates a payment whose first request is in doubt: it waits for the next moment of the inquiry schedule.
    func createInDoubt(_ order: Order) async throws -> Work {
        var work = try await create(order)
        let report = AttemptReport(.indeterminate, code: "read_timeout")
        try await save(&work, .attempted(leg: 0, effect: .primary, number: 1, report), ends: true)
        return work
    }

    /// Makes an event's change durable under the lease.
    @discardableResult
    public func save(_ work: inout Work, _ event: PaymentEvent, ends: Bool = false) async throws -> [PaymentAction] {
        let actions = work.machine.handle(event, try context())
        try await save(&work, ends: ends)
        return actions
    }

    /// Makes what the machine has done durable under the lease.
    func save(_ work: inout Work, ends: Bool = false) async throws {
        let result = try await store.commit(work.change(ends ? .releasing(work.token) : .holding(work.token)))
        guard case .committed(let version, _) = result else {
            throw ContractViolation(description: "a change was not committed: \(result)")
        }
        work.machine.committed(version: version)
    }

    /// Creates a payment and lets its providers do all that they are asked; each step is a commit.
    @discardableResult
    public func settle(_ order: Order) async throws -> Work {
        var (work, actions) = try await begin(order)
        try await answer(&work, actions)
        return work
    }

    /// Answers actions, and what follows from them, until nothing is asked any more.
    public func answer(_ work: inout Work, _ actions: [PaymentAction]) async throws {
        var waiting = actions
        while !waiting.isEmpty {
            let action = waiting.removeFirst()
            guard case .send(let order) = action else { continue }
            clock.advance(by: .milliseconds(1))
            let report = work.acceptance(of: order, at: clock.now())
            waiting += try await save(
                &work, .attempted(leg: order.leg, effect: order.effect, number: order.number, report))
        }
    }

    /// What the store has of a payment.
    func stored(_ id: PaymentID) async throws -> Payment {
        try require(try await store.payment(id), "the payment")
    }
}
