public import PaymentCore

/// One world that the search explores completely: contracts, what may go wrong, and what the caller may do.
public struct Scenario: Sendable {
    /// How rows can be lost.
    public enum Losses: Sendable, Hashable {
        /// Never: a single durable store, or a standby that has every acknowledged row.
        case none
        /// So many failovers, each to the rows that had reached the standby, at any moment.
        case failovers(Int)
        /// So many restores, which lose every row, acknowledged or not.
        case restores(Int)
    }

    /// How old requests may grow before they are executed.
    public enum RequestLife: Sendable, Hashable {
        /// For ever: the strongest network there is.
        case unbounded
        /// At most the contract's `maxRequestLife`, as the assumption says in words.
        case bounded
    }

    /// What providers may do besides accepting.
    public struct Refusals: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int
        /// A set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Authorizations and sales.
        public static let primary = Refusals(rawValue: 1)
        /// Captures.
        public static let capture = Refusals(rawValue: 2)
        /// Voids.
        public static let void = Refusals(rawValue: 4)
        /// Refunds.
        public static let refund = Refusals(rawValue: 8)
        /// Everything that the models let be declined.
        public static let ofTheModels: Refusals = [.primary, .capture]
    }

    /// What a worker may be told of its own request.
    public struct Answers: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int
        /// A set of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The answer with the transaction.
        public static let transaction = Answers(rawValue: 1)
        /// Provably not sent.
        public static let unsent = Answers(rawValue: 2)
        /// Asked to slow down.
        public static let throttled = Answers(rawValue: 4)
        /// The request is called wrong.
        public static let refused = Answers(rawValue: 8)
        /// Our credentials are refused.
        public static let credentials = Answers(rawValue: 16)
        /// An answer that names no key calls the request wrong, whatever became of it.
        public static let stray = Answers(rawValue: 32)
        /// None: every answer is lost. The reduction of the models.
        public static let none: Answers = []
        /// All.
        public static let all: Answers = [.transaction, .unsent, .throttled, .refused, .credentials]
    }

    /// Who decides about what is in quarantine.
    public enum People: Sendable, Hashable {
        /// Nobody: a quarantine is an end.
        case none
        /// Two people who say what the provider's books show once nothing is on its way, or leave it to the daemon.
        case careful
        /// Two people who say anything, at any time.
        case anybody
    }

    /// The name, as it is printed.
    public var name: String
    /// The contract of each leg, by a name for the reader.
    public var legs: [(name: String, contract: ProviderContract)]
    /// When money is taken.
    public var captureMode: CaptureMode = .automatic
    /// With manual capture: only a part of the first leg, nothing of the others.
    public var capturesPart = false
    /// Refunds that the caller may ask for, of the first leg, in minor units (the leg is 1,000).
    public var refunds: [Int64] = []
    /// Whether a key may be sent again to undo it.
    public var plugAllowed = false
    /// Whether legs of which nothing was sent are tombstoned as well.
    public var tombstonesNeverSent = false
    /// How rows can be lost.
    public var losses: Losses = .none
    /// How long requests live.
    public var requestLife: RequestLife = .unbounded
    /// What may be declined.
    public var refusals: Refusals = .ofTheModels
    /// What may be answered.
    public var answers: Answers = .none
    /// Whether inquiries may fail.
    public var readsMayFail = false
    /// Whether anything may happen between the beginning of a read and the arrival of its answer.
    public var readsTakeTime = false
    /// Whether a transaction may stay undecided for a while.
    public var mayBePending = false
    /// Whether what is undecided waits for its payer.
    public var asksPayers = false
    /// Whether somebody may void or refund at the provider's own console.
    public var changesOutside = false
    /// Whether somebody may capture at the provider's own console.
    public var capturesOutside = false
    /// Whether a comparison may find at any time that the sides differ.
    public var isCompared = false
    /// Whether a read of what the caller was told is held may show a decline that is none.
    public var readsMayErr = false
    /// Whether a provider may show another amount than it was asked for.
    public var mayContradict = false
    /// Whether a provider that cannot be asked tells by itself what became of an effect, and also what is about another
    /// payment or another amount.
    public var tells = false
    /// Whether the payment's deadline may pass while its requests are young.
    public var deadlineIsNear = false
    /// Whether a worker that could wait does not: an attempt is over as soon as its request is on the wire, and what is
    /// due is looked at at once. Where no answer is believed (``answers`` is empty) nothing is lost by that: a request
    /// may arrive at any later time anyway, and a status that is being asked is read at any later time. It makes two
    /// legs on lost rows small enough to be searched completely.
    public var hurries = false
    /// Who decides about what is in quarantine.
    public var people: People = .none
    /// Whether a quarantine is a right end here; elsewhere a safe way is always left, and one is a finding.
    public var quarantineExpected = false

    /// A scenario with the models' usual freedom.
    public init(_ name: String, _ legs: [(name: String, contract: ProviderContract)]) {
        self.name = name
        self.legs = legs
    }

    /// The number of failovers or restores.
    var lossCount: Int {
        switch losses {
        case .none: 0
        case .failovers(let count), .restores(let count): count
        }
    }

    /// Whether a standby must acknowledge latches. A single store does that by itself, and loses rows by restores only.
    var isReplicated: Bool {
        if case .failovers = losses { return true }
        return false
    }

    var isRestore: Bool {
        if case .restores = losses { return true }
        return false
    }
}
