import Foundation
import MemoryStore
import PaymentCore
import Reconciler
import Simulation

/// One payment, its machine and its providers, without a network or a store that fail: what the judges are
/// shown.
struct Story {
    /// The rows of a story.
    struct Rows: StoredRows {
        var payments: [Payment] = []
        var trails: [PaymentID: [AuditEntry]] = [:]
        var comparisons = StoredComparisons()
        var repairs: [String: Repair] = [:]

        func payment(_ id: PaymentID) -> Payment? { payments.first { $0.id == id } }
        func repair(_ id: String) -> Repair? { repairs[id] }
        func everyPayment() -> [Payment] { payments }
        func trail(of payment: PaymentID) -> [AuditEntry] { trails[payment] ?? [] }
    }

    /// Something that a test relies on is not there.
    struct Missing: Error {
        let what: String
    }

    var now = Timestamp(milliseconds: 1_800_000_000_000)
    var machine: PaymentMachine
    var providers: [SimulatedProvider]
    var rows = Rows()
    var happenings: [(happening: Happening, evidence: Evidence)] = []
    var policy = SettlementPolicy()
    var keepsAcknowledgedRows = true
    /// Actions that were decided and not carried out yet.
    var actions: [PaymentAction] = []
    /// What the providers do of their own mind, by effect.
    var choices: [EffectKind: ProviderChoices] = [:]
    let contracts: [ProviderName: ProviderContract]

    /// A payment of 1000, 1100, … yen at one provider for each contract.
    init(
        _ contracts: [ProviderContract] = [.reference], _ mode: CaptureMode = .automatic,
        caller: String = "shop",
        key: String = "order-1", policy: SettlementPolicy = SettlementPolicy()
    ) throws {
        guard let yen = Currency(code: "JPY") else { throw Missing(what: "JPY") }
        let named = try contracts.enumerated().map { (try ProviderName("provider-\($0)"), $1) }
        self.contracts = Dictionary(uniqueKeysWithValues: named)
        self.policy = policy
        providers = named.map { SimulatedProvider(name: $0.0, contract: $0.1) }
        let legs = try named.enumerated().map {
            CreateRequest.Leg(
                provider: $1.0, instrument: try Instrument(token: "tok_story_\($0)"),
                amount: try Money(1_000 + 100 * Int64($0), yen))
        }
        let request = try CreateRequest(
            caller: try CallerID(caller), key: try IdempotencyKey(key),
            amount: try Money.sum(legs.map(\.amount), in: yen), legs: legs, captureMode: mode,
            contracts: self.contracts)
        let context = MachineContext(now: now, contracts: self.contracts, policy: policy)
        (machine, actions) = PaymentMachine.create(request, context)
        commit(before: nil)
    }

    var payment: Payment { machine.payment }
    var context: MachineContext { MachineContext(now: now, contracts: contracts, policy: policy) }
    var evidence: Evidence {
        Evidence(
            now: now, providers: providers, rows: rows, policy: policy,
            keepsAcknowledgedRows: keepsAcknowledgedRows)
    }

    mutating func note(_ what: Happening.What) { happenings.append((Happening(at: now, what), evidence)) }

    private mutating func commit(before: Payment?) {
        guard before != machine.payment else { return }
        let entries = machine.newEntries
        machine.committed(version: machine.payment.version + 1)
        replace(with: payment)
        rows.trails[payment.id, default: []] += entries
        note(
            .committed(
                Commit(
                    site: 0, replica: 0, token: nil, epoch: 1, before: before, after: payment,
                    entries: entries)))
    }

    mutating func handle(_ event: PaymentEvent) {
        let before = machine.payment
        actions += machine.handle(event, context)
        commit(before: before)
    }

    mutating func operate(_ body: (inout PaymentMachine, MachineContext) throws -> [PaymentAction]) throws {
        let before = machine.payment
        actions += try body(&machine, context)
        commit(before: before)
    }

    /// The next request, which leaves now.
    mutating func nextSend() throws -> SendOrder {
        guard let index = actions.firstIndex(where: { if case .send = $0 { true } else { false } }),
            case .send(let order) = actions.remove(at: index)
        else { throw Missing(what: "a request") }
        note(.sent(replica: 0, token: LeaseToken(1), order))
        return order
    }

    /// A request is executed now.
    @discardableResult
    mutating func deliver(_ order: SendOrder, choices: ProviderChoices = .none) throws -> Execution {
        guard let index = providers.firstIndex(where: { $0.name == order.provider }) else {
            throw Missing(what: "a provider")
        }
        let execution = providers[index].execute(order, at: now, began: now, choices: choices)
        note(.arrived(order, outcome: execution.report.outcome, code: execution.report.code))
        return execution
    }

    mutating func answer(_ order: SendOrder, _ report: AttemptReport) {
        let ended = PaymentEvent.attempted(leg: order.leg, effect: order.effect, number: order.number, report)
        note(.learned(replica: 0, token: LeaseToken(1), ended, payment: order.payment))
        handle(ended)
    }

    /// Carries out everything that is asked for, and lets time pass, until the payment rests or is due no
    /// more.
    mutating func settle(until horizon: Span = .days(3)) throws {
        let end = now + horizon
        while now < end {
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .send(let order):
                    note(.sent(replica: 0, token: LeaseToken(1), order))
                    let execution = try deliver(order, choices: choices[order.kind] ?? .none)
                    answer(order, execution.report)
                case .inquire(let order): try inquire(order)
                case .alert(let alert): note(.alerted(alert))
                }
            }
            guard let due = payment.dueAt, due < end else { return }
            now = max(now, due) + .milliseconds(1)
            handle(.woke)
        }
    }

    mutating func inquire(_ order: InquiryOrder) throws {
        guard let index = providers.firstIndex(where: { $0.name == order.provider }) else {
            throw Missing(what: "a provider")
        }
        note(.inquiring(replica: 0, token: LeaseToken(1), order, payment: order.payment))
        let seen = providers[index].read(order.transactionKey, began: now, at: now)
        note(.learned(replica: 0, token: LeaseToken(1), .inquired(leg: order.leg, seen), payment: order.payment))
        handle(.inquired(leg: order.leg, seen))
    }

    /// The same payment with something changed that its machine would never change.
    func altered(_ change: (inout [String: Any]) -> Void) throws -> Payment {
        try Story.altered(payment, change)
    }

    static func altered(_ payment: Payment, _ change: (inout [String: Any]) -> Void) throws -> Payment {
        let text = try JSONEncoder().encode(payment)
        guard var fields = try JSONSerialization.jsonObject(with: text) as? [String: Any] else {
            throw Missing(what: "an object")
        }
        change(&fields)
        return try JSONDecoder().decode(Payment.self, from: JSONSerialization.data(withJSONObject: fields))
    }

    /// Puts a payment in the place of the one that is stored.
    mutating func replace(with payment: Payment) {
        rows.payments.removeAll { $0.id == payment.id }
        rows.payments.append(payment)
    }
}

extension Invariant {
    /// Judges all that happened in a story.
    mutating func judge(_ story: Story) {
        for (happening, evidence) in story.happenings { observe(happening, evidence) }
    }

    /// Judges one change.
    mutating func judge(
        from before: Payment?, to after: Payment, entries: [AuditEntry] = [], token: Int64? = nil,
        epoch: Int64 = 1,
        site: Int = 0, _ story: Story
    ) {
        let commit = Commit(
            site: site, replica: 0, token: token.map { LeaseToken($0) }, epoch: epoch, before: before,
            after: after,
            entries: entries)
        observe(Happening(at: story.now, .committed(commit)), story.evidence)
    }

    /// Judges something else that happened.
    mutating func judge(_ what: Happening.What, _ story: Story) {
        observe(Happening(at: story.now, what), story.evidence)
    }

    var words: [String] { findings.violations.map(\.words) }
}
