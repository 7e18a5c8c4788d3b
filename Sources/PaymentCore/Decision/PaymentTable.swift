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

/// What the payment table looks at. Legs are in the order of the request.
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
        /// Whether it was read as captured, and people decide about it.
        public var isCapturedWithPeople: Bool
        /// Whether it is open, and its provider denied it when it was read.
        public var isDenied: Bool

        /// A leg.
        public init(
            isOnePhase: Bool, standing: Standing, forward: Forward = .wanted, freshlyRead: Bool = true,
            isAsked: Bool = true, isCapturedWithPeople: Bool = false, isDenied: Bool = false
        ) {
            self.isOnePhase = isOnePhase
            self.standing = standing
            self.forward = forward
            self.freshlyRead = freshlyRead
            self.isAsked = isAsked
            self.isCapturedWithPeople = isCapturedWithPeople
            self.isDenied = isDenied
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
    /// Whether requests were perhaps carried out whose rows are lost: acknowledged ones may be missing.
    public var mayHaveLostRequests: Bool

    /// Facts.
    public init(
        latch: Latch, legs: [Leg], stopAsked: Bool = false, holdOnly: Bool = false, inRecovery: Bool = false,
        mayHaveLostRequests: Bool = false, latchAcknowledged: Bool = true, hasCaptureRequest: Bool = false
    ) {
        self.latch = latch
        self.legs = legs
        self.stopAsked = stopAsked
        self.holdOnly = holdOnly
        self.inRecovery = inRecovery
        self.mayHaveLostRequests = mayHaveLostRequests
        self.latchAcknowledged = latchAcknowledged
        self.hasCaptureRequest = hasCaptureRequest
    }
}

/// What the payment table decides.
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
    /// Every leg was captured, by a request whose row was lost: it is taken into the rows as it is found.
    case adoptCapture
    /// These legs were captured by a request whose row was lost: the caller must repeat it.
    case awaitCapture([Int])
    /// These legs were captured by nobody that the rows know: people decide, or the caller repeats its capture.
    case leaveToPeople([Int])
    /// These legs are denied by their providers, although another one was captured: people decide.
    case missing([Int])
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

/// The payment table (table B in docs/protocol.md): what to do about a payment. The first row that matches wins.
public struct PaymentTable: Sendable {
    /// One row of the table.
    public struct Row: Sendable {
        /// The name under which the audit trail and the documentation know it.
        public let name: String
        let matches: @Sendable (PaymentFacts) -> Bool
        let decision: @Sendable (PaymentFacts) -> PaymentDecision

        /// A row; other tables than the shipped one are made only by checkers that plant a change.
        public init(
            _ name: String, when matches: @escaping @Sendable (PaymentFacts) -> Bool,
            then decision: @escaping @Sendable (PaymentFacts) -> PaymentDecision
        ) {
            self.name = name
            self.matches = matches
            self.decision = decision
        }

        /// A row that always decides the same.
        init(
            _ name: String, _ decision: PaymentDecision, when matches: @escaping @Sendable (PaymentFacts) -> Bool
        ) {
            self.init(name, when: matches, then: { _ in decision })
        }

        /// Whether the row is for these facts.
        public func applies(to facts: PaymentFacts) -> Bool { matches(facts) }

        /// What it decides about them.
        public func decides(_ facts: PaymentFacts) -> PaymentDecision { decision(facts) }
    }

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

    /// The rows, in order.
    public let rows: [Row]

    /// A table of the given rows.
    public init(rows: [Row]) { self.rows = rows }

    /// The table that the daemon ships.
    public static let shipped = PaymentTable(
        rows: undecidedRows + forwardRows + undoingRows(.back, "back", .undone)
            + undoingRows(.compensate, "compensate", .compensated))

    /// The first row that matches decides. What no row knows waits: a table with a hole moves no money. (A test shows
    /// that the shipped table has none.)
    public func decide(_ facts: PaymentFacts) -> Verdict {
        for row in rows where row.matches(facts) { return Verdict(row.name, row.decision(facts)) }
        return Verdict("no-row", .wait)
    }
}
