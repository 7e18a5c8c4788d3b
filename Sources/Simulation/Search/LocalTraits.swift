internal import PaymentCore

/// What the search asks of a row again and again, read from it once.
struct LocalTraits: Sendable {
    /// How soon the row wants to be looked at.
    enum Due: Sendable {
        case never, now, afterDeadline, afterLife, afterRetention, afterHolds
    }

    /// The slot of the attempt that is under way, by leg.
    let attempts: [ProviderLeg.Slot?]
    /// Whether a status is being asked, by leg.
    let asks: [Bool]
    /// Whether what the read will show is fixed already.
    let readBegan: [Bool]
    let due: Due
    /// 1 if the caller is told that it succeeded, 2 if that it was canceled or failed.
    let told: UInt8
    let isResting: Bool
    /// Turned back because its deadline passed.
    let isTooLate: Bool
    let isQuarantined: Bool
    /// Whether people decide about a leg.
    let quarantined: [Bool]
    /// The refunds about which people decide.
    let quarantinedRefunds: [Int]
    let isFinal: Bool
    let latch: Latch
    let latchAcknowledged: Bool
    let mayCancel: Bool
    let cancelAsked: Bool
    let nextRefund: Int?
    let deadlinePassed: Bool
    let holdsEnded: Bool
    /// What the books of the payment say was taken and not given back, by leg; nil while a refund is open.
    let books: [Int64]?

    var isBusy: Bool { asks.contains(true) || attempts.contains { $0 != nil } }
    /// What the caller hears, as bits of ``GlobalState/told``.
    var tells: UInt8 { isResting ? told | 4 : told }
    var hasAttempt: Bool { attempts.contains { $0 != nil } }

    init(_ state: LocalState, _ world: SearchWorld) {
        let payment = state.payment
        let open = payment.legs.indices.map { world.openAttempt(payment, $0)?.slot }
        attempts = payment.legs.indices.map { state.machine.busy.contains($0) ? open[$0] : nil }
        asks = payment.legs.indices.map { state.machine.busy.contains($0) && open[$0] == nil }
        readBegan = state.reading.map { $0 != nil }
        due = LocalTraits.due(state, world)
        isFinal = payment.conclusion != nil
        switch payment.conclusion?.state {
        case .succeeded: told = 1
        case .some: told = 2
        case nil: told = 0
        }
        isResting = payment.isResting
        isTooLate = payment.stopReason?.code == .deadlinePassed
        quarantined = payment.legs.map { $0.quarantine != nil }
        quarantinedRefunds = payment.refunds.indices.filter { payment.refunds[$0].state == .quarantined }
        isQuarantined = quarantined.contains(true) || !quarantinedRefunds.isEmpty
        latch = payment.latch
        latchAcknowledged = payment.latchAcknowledged
        cancelAsked = payment.cancel != nil
        mayCancel = payment.cancel == nil && payment.latch == .none && !isFinal
        let asked = payment.refunds.count
        nextRefund =
            payment.conclusion?.state == .succeeded && asked < world.scenario.refunds.count ? asked : nil
        deadlinePassed = state.now >= payment.deadline
        holdsEnded = state.now >= payment.createdAt + world.holdLife
        let isOpen = payment.refunds.contains { !$0.state.isFinal }
        books =
            isOpen
            ? nil
            : payment.legs.map { $0.capturedAmount.value - payment.refundedAmount(ofLeg: $0.index).value }
    }

    private static func due(_ state: LocalState, _ world: SearchWorld) -> Due {
        guard let due = state.payment.dueAt else { return .never }
        let ahead = due - state.now
        if ahead <= SearchWorld.soon { return .now }
        if ahead <= SearchWorld.toDeadline, world.scenario.deadlineIsNear { return .afterDeadline }
        if ahead <= world.requestLife { return .afterLife }
        if let retention = world.retention, ahead <= retention { return .afterRetention }
        return .afterHolds
    }
}
