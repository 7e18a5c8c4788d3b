import PaymentCore
import SeededChance

/// One payment on stage: its holder, the wire and the providers, in virtual time. It executes what the machine asks
/// for, as a runner does, with the faults that the script names, and judges every step.
struct Stage {
    /// What happens to a request on its way.
    enum SendFault: Hashable {
        case none, lostRequest, lostAnswer, unsent, throttled, refused, credentialsRefused
        /// It is turned away, and a copy of it is executed so much later.
        case throttledBeforeCopy(Span)
        /// It is executed, and answered by a refusal that names no key.
        case strayRefusal
        /// It arrives so much later, and the holder gave up waiting.
        case late(Span)
        /// A second copy arrives so much later.
        case duplicated(Span)
        /// The holder stops after the intent is durable and before anything is sent.
        case crashBefore
        /// The holder stops while the request is under way.
        case crashAfter
    }

    /// What happens to an inquiry.
    enum ReadFault: Hashable {
        case none, unavailable, crash
        /// It shows the books as they were so much earlier.
        case stale(Span)
    }

    struct Copy {
        let at: Timestamp
        let order: SendOrder
        /// The holder that waits for the answer, if one does.
        let holder: Int?
        /// Where it was sent, at providers with several regions.
        var region: KeySpace?
    }

    struct Result {
        let at: Timestamp
        let event: PaymentEvent
    }

    /// What the holder wrote of one event, and what it would have written under the other contracts.
    struct Step {
        let written: [AuditEntry]
        let other: [AuditEntry]
    }

    /// What a store keeps.
    struct Rows {
        var payment: Payment?
        var trail: [AuditEntry] = []
    }

    /// Draws what happens next; a scripted story leaves it out.
    struct Faults {
        var chance: SeededChance
        var percent: Int
        var mayCrash = true
        var mayFailReads = true
        /// None after so many actions: then everything must come to rest.
        var actionsLeft = 60
    }

    var now: Timestamp
    var policy = SettlementPolicy()
    var contracts: [ProviderName: ProviderContract]
    var ledgers: [ProviderName: Ledger] = [:]
    var regions: Regions?
    var history: [ProviderName: [(at: Timestamp, ledger: Ledger)]] = [:]
    var commitsAreAcknowledged = true
    /// Contracts under which each event is handled once more, on a copy; only tests of trials have some.
    var otherContracts: [ProviderName: ProviderContract]?
    var steps: [Step] = []
    /// Only a test that plants a bug has another.
    var repairTable = RepairTable.shipped
    /// The rows as a standby has them, where one follows.
    var standby: Rows?
    /// The window that is open after rows were lost.
    var window: RecoveryWindow?

    var durable: Payment
    var holder: PaymentMachine?
    var holderNumber = 1
    var trail: [AuditEntry] = []
    var inbox: [Result] = []
    var wire: [Copy] = []
    /// What providers tell of their own accord: delivered again until somebody takes it in.
    var news: [Result] = []

    var sendScript: [SendFault] = []
    var readScript: [ReadFault] = []
    var faults: Faults?

    var judge = Judge()
    var actions = 0
    var sent: [SendOrder] = []
    var alerts: [Alert] = []

    /// Creates the payment, durably, and executes its first actions.
    init(
        _ request: CreateRequest, contracts: [ProviderName: ProviderContract], at start: Timestamp,
        policy: SettlementPolicy = SettlementPolicy(), commitsAreAcknowledged: Bool = true,
        send: [SendFault] = [], read: [ReadFault] = [], faults: Faults? = nil,
        prepare: (inout Ledger) -> Void = { _ in }
    ) {
        now = start
        self.policy = policy
        self.contracts = contracts
        self.commitsAreAcknowledged = commitsAreAcknowledged
        sendScript = send
        readScript = read
        self.faults = faults
        for (index, leg) in request.legs.enumerated() {
            guard let contract = contracts[leg.provider] else { continue }
            var ledger = Ledger(contract, name: index)
            prepare(&ledger)
            ledgers[leg.provider] = ledger
        }
        let context = MachineContext(
            now: start, contracts: contracts, policy: policy, commitsAreAcknowledged: commitsAreAcknowledged)
        let created = PaymentMachine.create(request, context)
        durable = created.machine.payment
        commit(created.machine, created.actions, before: nil)
    }

    var context: MachineContext {
        MachineContext(
            now: now, contracts: contracts, policy: policy, commitsAreAcknowledged: commitsAreAcknowledged,
            recovery: window, repairTable: repairTable)
    }

    // MARK: Steps of the holder

    /// Hands an event to the holder, as a runner does: on a newer state if another writer was first.
    mutating func handle(_ event: PaymentEvent) {
        guard var machine = current() else { return }
        var other = machine
        let made = machine.handle(event, context)
        if let otherContracts {
            var changed = context
            changed.contracts = otherContracts
            _ = other.handle(event, changed)
            steps.append(Step(written: machine.newEntries, other: other.newEntries))
        }
        commit(machine, made, before: durable)
    }

    /// An operation of the caller, taken by the holder.
    mutating func operate(
        _ operation: (inout PaymentMachine, MachineContext) throws(OperationRefusal) -> [PaymentAction]
    ) throws(OperationRefusal) {
        guard var machine = current() ?? restarted() else { return }
        let made = try operation(&machine, context)
        commit(machine, made, before: durable)
    }

    /// An operation taken beside the holder: it may write, but begin nothing.
    mutating func operateBeside(
        _ operation: (inout PaymentMachine, MachineContext) throws(OperationRefusal) -> [PaymentAction]
    ) throws(OperationRefusal) {
        var machine = PaymentMachine(payment: durable)
        var context = context
        context.mayBegin = false
        let made = try operation(&machine, context)
        judge.require(
            !made.contains { if case .alert = $0 { false } else { true } }, "a writer beside the holder began something"
        )
        store(machine)
    }

    private func current() -> PaymentMachine? {
        guard var machine = holder else { return nil }
        if machine.payment.version != durable.version { machine.rebase(on: durable) }
        return machine
    }

    mutating func restarted() -> PaymentMachine? {
        holderNumber += 1
        inbox.removeAll()
        holder = PaymentMachine(payment: durable)
        handle(.claimed)
        return current()
    }

    /// The holder stops; what it waited for is lost, what is on the wire is not.
    mutating func crash() {
        holder = nil
        inbox.removeAll()
    }

    /// The standby catches up, and whoever waits for that is told.
    mutating func replicate() {
        standby = Rows(payment: durable, trail: trail)
        if !durable.latchAcknowledged { inbox.append(Result(at: now, event: .latchAcknowledged(durable.latch))) }
    }

    /// The standby takes over with the rows that it has; where it has none, the caller creates the payment again.
    ///
    /// - Parameter repetition: `awaited` where acknowledged rows may be missing.
    mutating func failOver(_ request: CreateRequest, repetition: RecoveryWindow.Repetition? = nil) {
        crash()
        judge.rowsWereLost()
        let window = RecoveryWindow(readsCountFrom: now, latestNotAfter: now + .minutes(2), repetition: repetition)
        self.window = window
        guard let rows = standby, let payment = rows.payment else {
            trail = []
            holderNumber += 1
            let created = PaymentMachine.create(request, context, recovery: window)
            durable = created.machine.payment
            return commit(created.machine, created.actions, before: nil)
        }
        durable = payment
        trail = rows.trail
        holderNumber += 1
        inbox.removeAll()
        holder = PaymentMachine(payment: durable)
        handle(self.window.claim(of: durable))
    }

    mutating func store(_ machine: PaymentMachine) {
        judge.step(from: durable, to: machine.payment, entries: machine.newEntries)
        trail += machine.newEntries
        var next = machine
        next.committed(version: durable.version + 1)
        durable = next.payment
        judge.explained(PaymentMachine.explain(durable, context))
    }

    private mutating func commit(_ machine: PaymentMachine, _ made: [PaymentAction], before: Payment?) {
        var next = machine
        if let before, machine.payment == before {
            judge.require(machine.newEntries.isEmpty, "entries without a change")
        } else {
            let acknowledged = machine.payment.latchAcknowledged
            store(machine)
            next.committed(version: durable.version)
            if !acknowledged, standby == nil {
                inbox.append(Result(at: now + .seconds(3), event: .latchAcknowledged(durable.latch)))
            }
        }
        holder = next
        for action in made {
            guard holder != nil else { return }
            actions += 1
            faults?.actionsLeft -= 1
            switch action {
            case .send(let order): send(order, before: before?.latch ?? .none)
            case .inquire(let order): inquire(order)
            case .alert(let alert): alerts.append(alert)
            }
        }
    }
}
