public import PaymentCore

/// One transaction in a simulated provider's books: a hold or a sale under one key, and what was done to it
/// since.
public struct SimulatedTransaction: Sendable {
    /// A capture or a refund in the books.
    public struct Movement: Sendable {
        /// Its key.
        public let key: EffectKey
        /// Its amount.
        public let amount: Money
        /// When its key was used first; the key may be forgotten some time after.
        public let firstUse: Timestamp
        /// Its state.
        public internal(set) var state: Observation.Movement.State
        /// Until when it is undecided.
        var undecidedUntil: Timestamp?
        /// Whether somebody made it at the provider's own console.
        public let isOutside: Bool
    }

    /// What changes of a transaction, and what a status read shows.
    struct VisibleState: Sendable {
        var status: Observation.Status
        var captures: [Movement] = []
        var refunds: [Movement] = []
        var disputes: [Dispute] = []
        var reason: String?
        /// Since when it is so.
        var since: Timestamp
    }

    /// The key under which the provider knows it.
    public let key: EffectKey
    /// A hold or a sale; what a tombstone keeps from being made.
    public let kind: EffectKind
    /// The amount asked for.
    public let amount: Money
    /// Whose it is.
    public let payment: PaymentID
    /// Which leg of it.
    public let leg: Int
    /// When the key was used first.
    public let firstUse: Timestamp
    /// When it was taken, for the deadline of a reversal.
    var takenAt: Timestamp?
    /// Until when a hold lasts.
    var authorizedUntil: Timestamp?
    /// Until when it is undecided.
    var undecidedUntil: Timestamp?
    /// When the dispute that is open is decided, and how.
    var disputeEnds: (at: Timestamp, as: Dispute.State)?
    /// How a transaction that is undecided ends.
    var ending = ProviderChoices.Ending.done
    /// Whether it is undecided because its payer has to act: nothing is held yet, and a cancel ends it.
    var asksPayer = false
    /// Whether its status shows another amount than was asked for.
    public internal(set) var contradicts = false
    /// Whether somebody changed it at the provider's own console.
    public internal(set) var changedOutside = false
    /// Whether somebody else made it, whomever it names.
    var isStranger = false
    /// Whether it names nobody.
    var isForeign = false
    /// The store that it names.
    public internal(set) var store: StoreID? = SimulatedProvider.ours
    /// By how much the books have more than was done by us, because somebody took something out of them; less, where
    /// it is below zero.
    var removedOutside: Int64 = 0
    /// How often a void, a reversal or a refund of it was declined.
    public internal(set) var undoDeclines = 0
    /// The first answer under its key, where the provider replays that one.
    var firstAnswer: AttemptReport?
    /// What it is now.
    private(set) var visibleState: VisibleState
    /// What it was, and until when, as far back as a status read may be stale.
    private(set) var earlier: [(until: Timestamp, visibleState: VisibleState)] = []
    /// When it changed last.
    public var changedAt: Timestamp { visibleState.since }

    /// One that nobody here sent.
    init(
        stranger key: EffectKey, kind: EffectKind, amount: Money, payment: PaymentID, leg: Int, at now: Timestamp
    ) {
        self.key = key
        self.kind = kind
        self.amount = amount
        self.payment = payment
        self.leg = leg
        firstUse = now
        isStranger = true
        visibleState = VisibleState(status: kind == .sale ? .captured : .authorized, since: now)
        takenAt = kind == .sale ? now : nil
    }

    init(_ order: SendOrder, at now: Timestamp, status: Observation.Status) {
        key = order.transactionKey
        kind = order.kind == .sale ? .sale : .authorize
        amount = order.amount
        payment = order.payment
        leg = order.leg
        firstUse = now
        visibleState = VisibleState(status: status, since: now)
        takenAt = status == .captured ? now : nil
    }

    /// The status.
    public var status: Observation.Status { visibleState.status }
    /// Whether its provider lost it: it shows nowhere, and its key is as free as if it had never been used.
    var isLost: Bool { visibleState.status == .notFound }
    /// The captures.
    public var captures: [Movement] { visibleState.captures }
    /// The refunds.
    public var refunds: [Movement] { visibleState.refunds }

    /// The disputes of its charge.
    var disputes: [Dispute] { visibleState.disputes }

    /// What was taken, in minor units.
    public var captured: Int64 {
        guard visibleState.status == .captured else { return 0 }
        return kind == .sale ? amount.value : Self.succeeded(visibleState.captures)
    }

    /// What was given back, in minor units.
    public var refunded: Int64 { visibleState.status == .captured ? Self.succeeded(visibleState.refunds) : 0 }
    /// What was given back at the provider's own console, in minor units.
    public var refundedOutside: Int64 {
        guard visibleState.status == .captured else { return 0 }
        return Self.succeeded(visibleState.refunds.filter(\.isOutside))
    }
    /// Whether its payer disputes it, and nobody has decided.
    var isDisputed: Bool { disputes.contains { $0.state == .open } }
    /// Whether an amount is held, or taken and not given back.
    public var isLive: Bool { visibleState.status == .authorized || captured - refunded > 0 }
    /// Whether anything of it is undecided.
    var isUndecided: Bool {
        undecidedUntil != nil || visibleState.captures.contains { $0.state == .pending }
            || visibleState.refunds.contains { $0.state == .pending }
    }

    static func succeeded(_ movements: [Movement]) -> Int64 {
        var sum: Int64 = 0
        for movement in movements where movement.state == .succeeded { sum += movement.amount.value }
        return sum
    }

    /// Changes it; what it was stays readable for `lag`, the longest time that a status read may be stale.
    mutating func change(at now: Timestamp, lag: Span, _ body: (inout VisibleState) -> Void) {
        if lag > .zero {
            let oldest = now + (Span.zero - lag)
            earlier.removeAll { $0.until < oldest }
            earlier.append((now, visibleState))
        }
        body(&visibleState)
        visibleState.since = max(visibleState.since, now)
    }

    /// What it was at a moment that is not longer ago than the lag.
    func visibleState(at moment: Timestamp) -> VisibleState {
        earlier.first { $0.until > moment }?.visibleState ?? visibleState
    }
}

extension SimulatedTransaction {
    /// Whether time alone changes something by `now`.
    func isDue(at now: Timestamp) -> Bool {
        if let undecidedUntil, now >= undecidedUntil { return true }
        if let disputeEnds, now >= disputeEnds.at { return true }
        if visibleState.status == .authorized {
            if let authorizedUntil, now >= authorizedUntil { return true }
            if visibleState.captures.contains(where: { $0.isDue(at: now) }) { return true }
        }
        return visibleState.status == .captured && visibleState.refunds.contains { $0.isDue(at: now) }
    }

    /// Time passes: what is undecided is decided, holds run out.
    mutating func settle(at now: Timestamp, lag: Span) {
        guard isDue(at: now) else { return }
        if let until = undecidedUntil, now >= until {
            undecidedUntil = nil
            let decided: Observation.Status =
                switch ending {
                case .done: kind == .sale ? .captured : .authorized
                case .declined: .declined
                case .lost: .notFound
                }
            let reason = ending == .declined ? "declined_later" : nil
            takenAt = decided == .captured ? until : nil
            change(at: until, lag: lag) {
                $0.status = decided
                $0.reason = reason
            }
        }
        settleMovements(at: now, lag: lag)
        if let (until, state) = disputeEnds, now >= until { decideDispute(state, at: until, lag: lag) }
        // A capture under way keeps the hold.
        if visibleState.status == .authorized, let until = authorizedUntil, now >= until,
            !visibleState.captures.contains(where: { $0.state == .pending })
        {
            change(at: until, lag: lag) { $0.status = .expired }
        }
    }

    private mutating func settleMovements(at now: Timestamp, lag: Span) {
        for index in visibleState.captures.indices {
            guard let until = visibleState.captures[index].undecidedUntil, now >= until else { continue }
            takenAt = until
            change(at: until, lag: lag) {
                $0.captures[index].undecidedUntil = nil
                $0.captures[index].state = .succeeded
                $0.status = .captured
            }
        }
        for index in visibleState.refunds.indices {
            guard let until = visibleState.refunds[index].undecidedUntil, now >= until else { continue }
            change(at: until, lag: lag) {
                $0.refunds[index].undecidedUntil = nil
                $0.refunds[index].state = .succeeded
            }
        }
    }

    /// As it is at `now`, for whoever only looks.
    func settled(at now: Timestamp) -> SimulatedTransaction {
        guard isDue(at: now) else { return self }
        var copy = self
        copy.settle(at: now, lag: .zero)
        return copy
    }
}

extension SimulatedTransaction.Movement {
    /// What a status read or an answer shows of it.
    var shown: Observation.Movement { Observation.Movement(key: key, amount: amount, state: state) }

    func isDue(at now: Timestamp) -> Bool {
        guard let undecidedUntil else { return false }
        return now >= undecidedUntil
    }
}
