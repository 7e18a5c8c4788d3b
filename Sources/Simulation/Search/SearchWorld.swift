internal import PaymentCore

/// What stays the same during one search: the request, the contracts, the lengths of time, and the keys.
struct SearchWorld: Sendable {
    let scenario: Scenario
    let plant: SearchPlant
    let request: CreateRequest
    let contracts: [ProviderName: ProviderContract]
    let start: Timestamp
    /// Keys by leg and slot, as their definition says.
    let keys: [[EffectKey]]
    private let policy: SettlementPolicy
    /// The contract of each leg.
    let legContracts: [ProviderContract]

    /// Time between two steps of a worker: longer than every delay of the schedules here, so that none hides a step,
    /// and so short that no sum of them reaches a limit of a contract.
    static let tick = Span.milliseconds(10)
    /// Due so soon that the worker may wake now.
    static let soon = Span.milliseconds(100)
    /// What a near deadline needs to pass; small beside the life of requests.
    static let toDeadline = Span.seconds(10)
    private static let farAway = Span.days(3_650)

    static let legAmount: Int64 = 1_000
    static let partAmount: Int64 = 700

    init(_ scenario: Scenario, _ plant: SearchPlant) throws {
        self.scenario = scenario
        self.plant = plant
        start = Timestamp(milliseconds: 1_800_000_000_000)
        legContracts = scenario.legs.map(\.contract)
        var contracts: [ProviderName: ProviderContract] = [:]
        var legs: [CreateRequest.Leg] = []
        guard let currency = Currency(code: "JPY") else { throw MalformedName(kind: "currency", allowed: "ISO 4217") }
        for (index, leg) in scenario.legs.enumerated() {
            let name = try ProviderName("provider-\(index)")
            contracts[name] = leg.contract
            legs.append(
                CreateRequest.Leg(
                    provider: name, instrument: try Instrument(token: "tok_\(index)"),
                    amount: try Money(SearchWorld.legAmount, currency)))
        }
        self.contracts = contracts
        let amount = try Money(SearchWorld.legAmount * Int64(legs.count), currency)
        let caller = try CallerID("shop")
        let key = try IdempotencyKey("order-1")
        let deadline = start + (scenario.deadlineIsNear ? SearchWorld.toDeadline : SearchWorld.farAway)
        request = try CreateRequest(
            caller: caller, key: key, amount: amount, legs: legs, captureMode: scenario.captureMode,
            deadline: deadline, contracts: contracts)
        var policy = SettlementPolicy()
        policy.plugAllowed = scenario.plugAllowed
        policy.tombstoneNeverSent = scenario.tombstonesNeverSent
        policy.inquirySchedule = try DelaySchedule([.milliseconds(1)])
        policy.resendSchedule = try DelaySchedule([.milliseconds(1)])
        self.policy = policy
        let payment = PaymentID(caller: caller, key: key)
        keys = try scenario.legs.indices.map { index in
            try ProviderLeg.Slot.allCases.map { slot in
                let contract = scenario.legs[index].contract
                let source = EffectKey.Source(
                    caller: caller, payment: payment, operation: try SearchWorld.operation(slot, scenario, key),
                    leg: index, effect: SearchWorld.kind(slot, contract))
                return EffectKey(source, format: contract.keyFormat)
            }
        }
    }

    private static func operation(
        _ slot: ProviderLeg.Slot, _ scenario: Scenario, _ key: IdempotencyKey
    ) throws -> IdempotencyKey {
        switch slot {
        case .primary, .void, .compensation: key
        case .capture: scenario.captureMode == .manual ? try IdempotencyKey("capture-1") : key
        case .firstRefund: try IdempotencyKey("refund-0")
        case .secondRefund: try IdempotencyKey("refund-1")
        }
    }

    func kind(of slot: ProviderLeg.Slot, leg: Int) -> EffectKind { SearchWorld.kind(slot, legContracts[leg]) }

    private static func kind(_ slot: ProviderLeg.Slot, _ contract: ProviderContract) -> EffectKind {
        switch slot {
        case .primary: contract.phases == .sale ? .sale : .authorize
        case .capture: .capture
        case .void: .void
        case .compensation, .firstRefund, .secondRefund: .refund
        }
    }

    /// What a machine is told.
    func context(_ now: Timestamp, mayBegin: Bool = true) -> MachineContext {
        MachineContext(
            now: now, contracts: contracts, policy: policy,
            commitsAreAcknowledged: !scenario.isReplicated || has(.latchesCalledAcknowledged),
            mayBegin: mayBegin, effectTable: plant.effectTable, paymentTable: plant.paymentTable)
    }

    func has(_ change: SearchPlant.BehaviorChange) -> Bool { plant.behaviorChanges.contains(change) }

    // MARK: Lengths of time

    /// Past this, a request that may live only so long is dead, reads show what is, and D can be proven.
    var requestLife: Span {
        let life = legContracts.map { $0.maxRequestLife + $0.proofMargin + $0.clockSkew }.max() ?? .zero
        return life + .seconds(1)
    }

    /// Past this, keys and statuses that are kept for a while are forgotten.
    var retention: Span? {
        let spans = legContracts.flatMap { [$0.keyRetention, $0.statusRetention] }.compactMap { $0 }
        return spans.max().map { $0 + requestLife }
    }

    /// Past this, every hold of a resting payment ran out.
    var holdLife: Span { (legContracts.compactMap(\.authorizationLife).max() ?? .zero) + requestLife }

    /// The window that a loss opens now.
    func window(_ now: Timestamp) -> RecoveryWindow {
        let loss: RecoveryWindow.Loss = scenario.isRestore ? .restore : .promotion
        var window = RecoveryWindow.opened(by: loss, at: now, contracts: legContracts, listingCompared: true)
        if has(.staleReadsCount) { window.readsCountFrom = now }
        if has(.lostNotAfterForgotten) { window.latestNotAfter = Timestamp(milliseconds: 0) }
        return window
    }

    // MARK: Amounts

    func money(_ value: Int64) -> Money {
        do { return try Money(value, request.amount.currency) } catch { return .zero(request.amount.currency) }
    }

    /// What is captured of a leg.
    func captured(_ leg: Int) -> Int64 {
        guard scenario.captureMode == .manual, scenario.capturesPart else { return SearchWorld.legAmount }
        return leg == 0 ? SearchWorld.partAmount : 0
    }

    /// The amounts of a manual capture, by leg.
    var captureAmounts: [Int: Money]? {
        guard scenario.capturesPart else { return nil }
        return [0: money(SearchWorld.partAmount)]
    }

    /// Whether a leg can have such an effect at all.
    func hasEffect(_ slot: ProviderLeg.Slot, leg: Int) -> Bool {
        switch slot {
        case .primary, .void, .compensation: true
        case .capture: legContracts[leg].phases == .authorizeCapture
        case .firstRefund: leg == 0 && !scenario.refunds.isEmpty
        case .secondRefund: leg == 0 && scenario.refunds.count > 1
        }
    }

    /// What a provider gave back of a leg.
    func givenBack(_ leg: ProviderLeg, _ index: Int) -> Int64 {
        var sum = leg.compensation.isDone ? captured(index) : 0
        for refundIndex in scenario.refunds.indices where leg[refund: refundIndex].isDone {
            sum += scenario.refunds[refundIndex]
        }
        return sum
    }

    /// What the provider holds of ours for a leg: taken, less what was given back.
    func net(_ leg: ProviderLeg, _ index: Int) -> Int64 {
        leg.status == .taken ? captured(index) - givenBack(leg, index) : 0
    }
}
