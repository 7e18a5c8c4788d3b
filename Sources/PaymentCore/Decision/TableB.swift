/// A durable decision of the payment. Latches move none → forward → compensate, or none → back, and nothing else.
public enum Latch: String, Sendable, Hashable, Codable, CaseIterable {
    /// Undecided.
    case none
    /// All is held; everything will be taken.
    case forward
    /// Nothing shall be taken.
    case back
    /// It went forward, and a capture could not be had.
    case compensate

    /// Whether the latch may move there.
    public func permits(_ next: Latch) -> Bool {
        switch (self, next) {
        case (.none, .forward), (.none, .back), (.forward, .compensate): true
        default: false
        }
    }
}

/// What table B looks at. Legs are in the order of the request.
public struct PaymentFacts: Sendable, Hashable {
    /// Where a leg stands, by what is known of it.
    public enum Standing: String, Sendable, Hashable, CaseIterable {
        /// Not known to be held, taken or gone.
        case open
        /// Held as asked.
        case held
        /// Taken.
        case taken
        /// Cannot be had any more, though it may yet appear and must then be undone.
        case lost
        /// Provably not there, now and for ever.
        case gone
        /// People decide.
        case quarantined
    }

    /// What the payment still wants of a leg once it went forward.
    public enum Forward: String, Sendable, Hashable, CaseIterable {
        /// Its capture, or the release of what is not to be captured.
        case wanted
        /// Nothing: captured as asked, or released.
        case done
        /// Its capture can no longer be had.
        case unattainable
    }

    /// One leg.
    public struct Leg: Sendable, Hashable {
        /// Whether it is one-phase.
        public var isOnePhase: Bool
        /// Where it stands.
        public var standing: Standing
        /// What going forward wants of it.
        public var forward: Forward
        /// Whether it was read since the recovery window allows to believe reads.
        public var freshlyRead: Bool
        /// Whether anything of it is to be captured.
        public var isAsked: Bool

        /// A leg.
        public init(
            isOnePhase: Bool, standing: Standing, forward: Forward = .wanted, freshlyRead: Bool = true,
            isAsked: Bool = true
        ) {
            self.isOnePhase = isOnePhase
            self.standing = standing
            self.forward = forward
            self.freshlyRead = freshlyRead
            self.isAsked = isAsked
        }
    }

    /// The latch.
    public var latch: Latch
    /// Whether the latch is acknowledged by every store that must keep it.
    public var latchAcknowledged: Bool
    /// The legs.
    public var legs: [Leg]
    /// Whether a cancel was asked, the deadline passed, or a hold ran out while it rested.
    public var stopAsked: Bool
    /// Whether the caller wants a hold only, until it captures.
    public var holdOnly: Bool
    /// Whether what is captured was named by a request of its own, which no key and no amount can be derived without.
    public var hasCaptureRequest: Bool
    /// Whether rows are untrusted.
    public var inRecovery: Bool

    /// Facts.
    public init(
        latch: Latch, legs: [Leg], stopAsked: Bool = false, holdOnly: Bool = false, inRecovery: Bool = false,
        latchAcknowledged: Bool = true, hasCaptureRequest: Bool = false
    ) {
        self.latch = latch
        self.legs = legs
        self.stopAsked = stopAsked
        self.holdOnly = holdOnly
        self.inRecovery = inRecovery
        self.latchAcknowledged = latchAcknowledged
        self.hasCaptureRequest = hasCaptureRequest
    }
}

/// What table B decides.
public enum PaymentDecision: Sendable, Hashable {
    /// Move the latch, durably, before anything else.
    case latch(Latch)
    /// Read every leg that was not read since reads can be believed.
    case readAll
    /// Make these legs' authorization happen.
    case authorize([Int])
    /// Make this leg's sale happen.
    case sell(Int)
    /// Capture, or release, these legs.
    case capture([Int])
    /// Undo these legs.
    case undo([Int])
    /// Everything is held, and the caller decides.
    case rest
    /// These legs were captured by a request whose row was lost: the caller must repeat it.
    case awaitCapture([Int])
    /// It is over.
    case conclude(Ending)
    /// Nothing can be done: what is left is quarantined, or waits for an acknowledgement.
    case wait

    /// How a payment ends.
    public enum Ending: String, Sendable, Hashable, Codable {
        /// Everything was taken as asked.
        case succeeded
        /// Nothing was taken: canceled, declined or too late, as the reason says.
        case undone
        /// What was taken was given back.
        case compensated
    }
}

/// Table B of the protocol: what to do about a payment. The first row that matches wins.
public struct TableB: Sendable {
    /// A decision and the row that made it.
    public struct Verdict: Sendable, Hashable {
        /// The row's name.
        public let row: String
        /// What to do.
        public let decision: PaymentDecision

        /// A verdict.
        public init(_ row: String, _ decision: PaymentDecision) {
            self.row = row
            self.decision = decision
        }
    }

    private let rule: @Sendable (PaymentFacts) -> Verdict

    /// A table that decides by `rule`; other tables than the shipped one are made only by checkers that plant a change.
    public init(deciding rule: @escaping @Sendable (PaymentFacts) -> Verdict) { self.rule = rule }

    /// The table that the daemon ships.
    public static let shipped = TableB(deciding: TableB.shippedVerdict)

    /// The first row that matches decides.
    public func decide(_ facts: PaymentFacts) -> Verdict { rule(facts) }

    private static func shippedVerdict(_ facts: PaymentFacts) -> Verdict {
        switch facts.latch {
        case .none: undecided(facts)
        case .forward: forward(facts)
        case .back: undoing(facts, row: "back", ending: .undone)
        case .compensate: undoing(facts, row: "compensate", ending: .compensated)
        }
    }

    private static func undecided(_ facts: PaymentFacts) -> Verdict {
        let legs = facts.legs
        let allRead = legs.allSatisfy(\.freshlyRead)
        let mayLatch = !facts.inRecovery || allRead
        let taken = legs.indices.filter { legs[$0].standing == .taken }
        if facts.inRecovery, allRead, facts.holdOnly, !taken.isEmpty {
            return Verdict("none.recovery-await-capture", .awaitCapture(taken))
        }
        if facts.inRecovery, allRead, !taken.isEmpty {
            let others = Set(legs.filter(\.isAsked).map(\.standing)).subtracting([.taken, .held])
            if others.isEmpty { return Verdict("none.recovery-proof-forward", .latch(.forward)) }
            // What people decide about may be what is missing for the proof.
            return others == [.quarantined]
                ? Verdict("none.quarantined", .wait) : Verdict("none.recovery-proof-back", .latch(.back))
        }
        if facts.stopAsked || legs.contains(where: { $0.standing == .lost || $0.standing == .gone }) {
            return mayLatch ? Verdict("none.stop", .latch(.back)) : Verdict("none.stop-read-first", .readAll)
        }
        let unheld = legs.indices.filter { !legs[$0].isOnePhase && legs[$0].standing == .open }
        if !unheld.isEmpty { return Verdict("none.authorize", .authorize(unheld)) }
        let sales = legs.indices.filter { legs[$0].isOnePhase }
        let othersHeld = legs.allSatisfy { $0.isOnePhase || $0.standing == .held || $0.standing == .taken }
        guard othersHeld else { return Verdict("none.quarantined", .wait) }
        if let sale = sales.first, legs[sale].standing != .taken {
            return legs[sale].standing == .open
                ? Verdict("none.sell", .sell(sale)) : Verdict("none.quarantined", .wait)
        }
        if facts.holdOnly { return Verdict("none.rest", .rest) }
        return mayLatch
            ? Verdict("none.complete", .latch(.forward)) : Verdict("none.complete-read-first", .readAll)
    }

    private static func forward(_ facts: PaymentFacts) -> Verdict {
        let legs = facts.legs
        if legs.contains(where: { $0.forward == .unattainable }) {
            return facts.inRecovery && !legs.allSatisfy(\.freshlyRead)
                ? Verdict("forward.lost-read-first", .readAll)
                : Verdict("forward.capture-lost", .latch(.compensate))
        }
        if facts.inRecovery, !legs.allSatisfy({ $0.freshlyRead || $0.forward == .done }) {
            return Verdict("forward.read-first", .readAll)
        }
        if facts.hasCaptureRequest, !facts.latchAcknowledged {
            // The keys and amounts of these captures are known from the request only: it must not be lost after them.
            return Verdict("forward.request-unacknowledged", .wait)
        }
        let wanted = legs.indices.filter { legs[$0].forward == .wanted && legs[$0].standing != .quarantined }
        if !wanted.isEmpty { return Verdict("forward.capture", .capture(wanted)) }
        guard legs.allSatisfy({ $0.forward == .done }) else { return Verdict("forward.quarantined", .wait) }
        return Verdict("forward.complete", .conclude(.succeeded))
    }

    private static func undoing(
        _ facts: PaymentFacts, row: String, ending: PaymentDecision.Ending
    ) -> Verdict {
        let legs = facts.legs
        if facts.inRecovery, !legs.allSatisfy({ $0.freshlyRead || $0.standing == .gone }) {
            return Verdict("\(row).read-first", .readAll)
        }
        let standing = legs.indices.filter {
            legs[$0].standing != .gone && legs[$0].standing != .quarantined
        }
        if !standing.isEmpty { return Verdict("\(row).undo", .undo(standing)) }
        guard legs.allSatisfy({ $0.standing == .gone }) else { return Verdict("\(row).quarantined", .wait) }
        // Told only once the latch is kept by every store that must keep it (C16, W1).
        guard facts.latchAcknowledged else { return Verdict("\(row).unacknowledged", .wait) }
        return Verdict("\(row).complete", .conclude(ending))
    }
}
