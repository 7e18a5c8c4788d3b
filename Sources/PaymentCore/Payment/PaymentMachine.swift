/// The machine of a payment: events go in, the payment changes, actions come out.
///
/// Pure: it reads no clock, draws no chance and does no I/O. Whoever steps it makes the change durable first and then
/// executes the actions; a crash in between leaves an intent without an outcome, which the next worker treats as in
/// doubt. There is no other place where a decision about money is made.
public struct PaymentMachine: Sendable {
    /// The payment as it is now.
    public internal(set) var payment: Payment
    /// Entries of the audit trail that are not durable yet.
    public internal(set) var newEntries: [AuditEntry] = []
    /// Legs of which this holder has a request or an inquiry under way. Not durable: a crash forgets it.
    public internal(set) var busy: Set<Int> = []
    /// Those of them of which it is a request, and which: an answer to a question that was asked before it says nothing
    /// of it, nor does the end of a request of an earlier holder.
    var requesting: [Int: Request] = [:]
    /// Legs of which somebody wants to know while an inquiry is under way. Its answer may be from before what they ask
    /// about, so one more follows it.
    var askedMeanwhile: Set<Int> = []
    /// What was decided last, where somebody wants to know why; see ``explain(_:_:)``.
    var considerations: Considerations?
    /// Times at which something will be due, gathered anew by each planning.
    var wakes: [Wake] = []

    struct Request: Equatable {
        let effect: EffectReference
        let number: Int
    }

    struct Wake {
        let at: Timestamp
        let provider: ProviderName?
    }

    /// A machine for a payment that was read from a store.
    public init(payment: Payment) {
        self.payment = payment
    }

    /// Takes what became durable off the list of new entries, and raises the version.
    public mutating func committed(version: Int64) {
        payment.version = version
        newEntries.removeAll(keepingCapacity: true)
    }

    /// Continues on a newer state of the payment, read again after another writer won: what is under way stays under
    /// way, what was not durable is forgotten.
    public mutating func rebase(on newer: Payment) {
        payment = newer
        newEntries.removeAll(keepingCapacity: true)
        wakes.removeAll(keepingCapacity: true)
    }

    /// Handles one event.
    public mutating func handle(_ event: PaymentEvent, _ context: MachineContext) -> [PaymentAction] {
        var actions: [PaymentAction] = []
        // Rows of versions that did not note it: what rests now has met its deadline.
        if payment.isResting, payment.heldAt == nil { payment.heldAt = payment.updatedAt }
        switch event {
        case .woke: break
        case .claimed: takeOver(context)
        case .claimedAfterLoss(let window):
            takeOver(context)
            openRecovery(window, context)
        case .attempted(let leg, let effect, let number, let report):
            actions += attempted(leg: leg, effect: effect, number: number, report, context)
        case .inquired(let leg, let observation):
            actions += inquired(leg: leg, observation, context)
        case .notified(let leg, let news): actions += notified(leg: leg, news, context)
        case .inquireNow: askNow(context)
        case .callerRepeated: callerRepeated(context)
        case .providerReturned(let provider): providerReturned(provider, context)
        case .latchAcknowledged(let latch):
            // An acknowledgement of an earlier latch says nothing of the present one.
            if latch == payment.latch { payment.latchAcknowledged = true }
        case .recoveryOpened(let window): openRecovery(window, context)
        case .repairProposed(let repair): noteProposal(of: repair, context)
        case .repairDecided(let repair, let decision): decided(repair, decision, context)
        case .compared(let difference): actions += compared(difference, context)
        case .disputed(let leg, let disputes): actions += disputed(leg: leg, disputes, context)
        case .unbooked(let transaction): actions += foundUnbooked(transaction, context)
        }
        actions += plan(context)
        return actions
    }

    mutating func record(
        _ type: AuditType, leg: Int? = nil, _ fields: [AuditField], _ context: MachineContext
    ) {
        let entry = AuditEntry(
            after: payment.auditHead, payment: payment.id, at: context.now, type: type, leg: leg,
            fields: fields)
        payment.auditHead = AuditHead(sequence: entry.sequence, hash: entry.hash)
        payment.updatedAt = context.now
        newEntries.append(entry)
    }

    /// The contract of a leg's provider; `nil` if it is not configured, or keeps other keys than the leg's: nothing is
    /// sent there for the leg, and nothing is believed that it says of the leg.
    func contract(of leg: Leg, _ context: MachineContext) -> ProviderContract? {
        payment.missingProvider(of: leg, context.contracts) == nil ? context.contracts[leg.provider] : nil
    }
}

extension PaymentMachine {
    /// A new payment, planned: its first intents are part of the first durable change.
    public static func create(
        _ request: CreateRequest, _ context: MachineContext, recovery: RecoveryWindow? = nil
    ) -> (machine: PaymentMachine, actions: [PaymentAction]) {
        let id = PaymentID(caller: request.caller, key: request.key)
        let legs = request.legs.enumerated().map { index, leg in
            Leg(index: index, leg, of: request, payment: id, contract: context.contracts[leg.provider])
        }
        var payment = Payment(
            id: id, caller: request.caller, key: request.key, amount: request.amount,
            captureMode: request.captureMode, reference: request.reference, metadata: request.metadata,
            deadline: request.deadline ?? context.now + context.policy.defaultDeadline,
            createdAt: context.now, updatedAt: context.now, version: 0, legs: legs, latch: .none,
            latchAcknowledged: context.commitsAreAcknowledged, stopReason: nil, cancel: nil, capture: nil,
            refunds: [], conclusion: nil, recovery: recovery?.heard, dueAt: nil, dueProvider: nil,
            auditHead: .empty(id))
        payment.returnURL = request.returnURL
        var machine = PaymentMachine(payment: payment)
        machine.record(
            .created,
            [
                AuditField("amount", request.amount.description),
                AuditField("legs", legs.map { "\($0.provider) \($0.amount)" }.joined(separator: ", ")),
                AuditField("capture", request.captureMode.rawValue),
                AuditField("deadline", payment.deadline.rfc3339),
            ], context)
        let actions = machine.plan(context)
        return (machine, actions)
    }
}

extension Leg {
    init(
        index: Int, _ leg: CreateRequest.Leg, of request: CreateRequest, payment: PaymentID,
        contract: ProviderContract?
    ) {
        let isOnePhase = contract?.phases == .sale
        let kind: EffectKind = isOnePhase ? .sale : .authorize
        let source = EffectKey.Source(
            caller: request.caller, payment: payment, operation: request.key, leg: index, effect: kind)
        self.init(
            index: index, provider: leg.provider, instrument: leg.instrument, amount: leg.amount,
            isOnePhase: isOnePhase,
            primary: Effect(
                kind: kind, key: EffectKey(source, format: contract?.keyFormat ?? .hex40), amount: leg.amount),
            capture: nil, void: nil, compensation: nil, knowledge: nil, conclusiveReads: 0, inquiries: 0,
            notBefore: nil, loss: nil, gone: nil, capturedAmount: .zero(leg.amount.currency), quarantine: nil)
    }
}
