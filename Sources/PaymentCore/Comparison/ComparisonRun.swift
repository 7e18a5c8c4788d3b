/// One run of the comparison over one window of one provider: what is compared, how far it is, and what came of it.
public struct ComparisonRun: Sendable, Hashable, Codable {
    /// Why it runs.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The schedule: its windows form a chain without a gap.
        case scheduled
        /// Somebody asked; it does not move the chain.
        case asked
    }

    /// Where it stands.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody began it.
        case planned
        /// It was begun and is not finished; nobody may be working at it.
        case running
        /// It is finished.
        case completed
        /// Somebody gave it up; the schedule tries the window again under the next attempt.
        case abandoned

        /// Whether it never changes again.
        public var isFinal: Bool { self == .completed || self == .abandoned }
    }

    /// What it does at present.
    public enum Phase: String, Sendable, Hashable, Codable, CaseIterable {
        /// What stands before it is read.
        case opening
        /// The provider's listing is read.
        case listing
        /// Our legs that changed in the window are read.
        case ours
        /// What earlier runs left unsettled is asked about again.
        case unsettled
        /// The money is added up.
        case proof
        /// Nothing is left.
        case done
    }

    /// Where a phase goes on after a crash; `nil` members for its beginning.
    public struct Checkpoint: Sendable, Hashable, Codable {
        /// The phase.
        public var phase: Phase
        /// The provider's cursor of the next page of its listing.
        public var cursor: String?
        /// Up to where the listing was read, by when transactions changed last.
        public var listedUpTo: Timestamp?
        /// The last of our legs that was compared.
        public var lastLeg: BookedPlace?
        /// The last unsettled key that was looked at.
        public var key: EffectKey?

        /// The names under which it is stored, in the order in which they are written.
        private enum CodingKeys: String, CodingKey {
            case phase, cursor, listedUpTo
            case lastLeg = "place"
            case key
        }

        /// The beginning of a phase.
        public init(_ phase: Phase) { self.phase = phase }
    }

    /// Why it does not get on: its provider's listing cannot be read.
    public struct Trouble: Sendable, Hashable, Codable {
        /// The code of the last failure.
        public let code: String
        /// Whether time alone does not help.
        public let needsPerson: Bool
        /// Since when it does not get on.
        public let since: Timestamp
        /// When it was tried last.
        public let at: Timestamp
        /// How often in a row it failed in this way.
        public let times: Int
    }

    /// What it counted so far.
    public struct Counts: Sendable, Hashable, Codable {
        /// Transactions that the listing showed, those of the overlap included.
        public var listed = 0
        /// Legs of ours that changed in the window.
        public var booked = 0
        /// Unsettled positions of earlier runs that were looked at again.
        public var revisited = 0
        /// Keys that the provider was asked for.
        public var asked = 0
        /// Keys that it was asked for in vain: it could not be reached, or does not say.
        public var unanswered = 0
        /// Discrepancies that were opened, those that came back included.
        public var opened = 0
        /// Discrepancies that closed by themselves.
        public var closed = 0
        /// What was found, by class. What both phases look at is counted once.
        public var byClass: [String: Int] = [:]

        /// Nothing.
        public init() {}

        /// How often a class was found.
        public subscript(found: ComparisonClass) -> Int {
            get { byClass[found.rawValue] ?? 0 }
            set { byClass[found.rawValue] = newValue }
        }
    }

    /// The identifier.
    public let id: ComparisonRunID
    /// The provider.
    public let provider: ProviderName
    /// What is compared.
    public let window: ComparedWindow
    /// Why.
    public let kind: Kind
    /// Which attempt at the window it is, from 0.
    public let attempt: Int
    /// Whether it only says what would happen: it writes nothing but its own record and findings.
    public let isDry: Bool
    /// Whether it was planned over a loss that may have taken acknowledged rows; `nil` if not.
    public let isOverLostRows: Bool?
    /// When it was planned, by the store's clock.
    public let createdAt: Timestamp
    /// What changed at or after this moment is too young to be judged. Fixed, so that a resumed run judges alike.
    public let horizon: Timestamp
    /// Since when the chain covers the provider's listing without a gap: what was updated earlier was never to be seen.
    public let coveredFrom: Timestamp
    /// How far before the window the listing is read, because it shows some changes late.
    public let overlap: Span
    /// How far the clocks may differ: our legs are read for the window moved back by so much.
    public let clockMargin: Span

    /// Where it stands.
    public internal(set) var state: State
    /// When it was begun.
    public internal(set) var startedAt: Timestamp?
    /// When it ended.
    public internal(set) var finishedAt: Timestamp?
    /// Where it goes on.
    public internal(set) var checkpoint: Checkpoint
    /// What it counted.
    public internal(set) var counts: Counts
    /// What stood before it.
    public internal(set) var opening: NetSums
    /// What it moved.
    public internal(set) var moved: NetSums
    /// The proof, in order of currency, once it is completed. Empty for a dry run.
    public internal(set) var proofs: [BalanceProof]
    /// Why it does not get on; `nil` once a step of it was recorded again. Kept where the run was given up for it.
    public internal(set) var trouble: Trouble?
    /// Raised by one with every step; a step names the version that it read.
    public internal(set) var version: Int64

    /// A run that nobody began.
    public init(
        provider: ProviderName, window: ComparedWindow, kind: Kind, attempt: Int = 0, isDry: Bool = false,
        isOverLostRows: Bool? = nil, createdAt: Timestamp, horizon: Timestamp, coveredFrom: Timestamp, overlap: Span,
        clockMargin: Span
    ) {
        id = ComparisonRunID(provider: provider, window: window, kind: kind, attempt: attempt, isDry: isDry)
        self.provider = provider
        self.window = window
        self.kind = kind
        self.attempt = attempt
        self.isDry = isDry
        self.isOverLostRows = isOverLostRows
        self.createdAt = createdAt
        self.horizon = horizon
        self.coveredFrom = coveredFrom
        self.overlap = overlap
        self.clockMargin = clockMargin
        state = .planned
        startedAt = nil
        finishedAt = nil
        checkpoint = Checkpoint(.opening)
        counts = Counts()
        opening = NetSums()
        moved = NetSums()
        proofs = []
        trouble = nil
        version = 0
    }

    /// What the listing is read for: the window and the overlap before it.
    public var listingWindow: ComparedWindow {
        ComparedWindow(from: window.from + (Span.zero - overlap), to: window.to) ?? window
    }

    /// What our legs are read for, by the store's clock: the window, moved back by how far the clocks may differ. What
    /// changed here before its end had changed there before the window's end.
    public var booksWindow: ComparedWindow {
        let back = Span.zero - clockMargin
        return ComparedWindow(from: window.from + back, to: window.to + back) ?? window
    }

    /// Whether all money is proven; `nil` while it is not completed, and for a dry run.
    public var isProven: Bool? { state == .completed && !isDry ? proofs.allSatisfy(\.isProven) : nil }

    /// Runs of one lane follow each other: a lane belongs to a run from its first claim until it is finished. A dry run
    /// has a lane of its own.
    public var lane: String { isDry ? "dry:\(id.text)" : provider.name }

    /// Gives up a run that is not finished.
    public mutating func abandon(at now: Timestamp) {
        guard !state.isFinal else { return }
        state = .abandoned
        finishedAt = now
    }

    /// So often in a row a run that somebody asked for may fail for want of a person, before it is given up.
    public static let mostTroubles = 12

    /// The run after its listing could not be read. One that somebody asked for is given up after a number of times
    /// that need a person: whoever asked is told by its state. The schedule's windows are never given up.
    public func held(upBy code: String, needsPerson: Bool, at now: Timestamp) -> ComparisonRun {
        var run = self
        let isSame = trouble?.needsPerson == needsPerson
        run.trouble = Trouble(
            code: code, needsPerson: needsPerson, since: trouble?.since ?? now, at: now,
            times: isSame ? (trouble?.times ?? 0) + 1 : 1)
        if kind == .asked, needsPerson, run.trouble?.times ?? 0 >= ComparisonRun.mostTroubles { run.abandon(at: now) }
        return run
    }

    /// What a store writes of a step: the next version.
    public func stored(version: Int64) -> ComparisonRun {
        var run = self
        run.version = version
        return run
    }
}

/// A place among our legs in order of (payment's last change, payment, leg).
public struct BookedPlace: Sendable, Hashable, Codable, Comparable {
    /// When the payment changed last.
    public let updatedAt: Timestamp
    /// The payment.
    public let payment: PaymentID
    /// The leg's index.
    public let leg: Int

    /// A place.
    public init(updatedAt: Timestamp, payment: PaymentID, leg: Int) {
        self.updatedAt = updatedAt
        self.payment = payment
        self.leg = leg
    }

    /// A position's place.
    public init(_ position: BookedPosition) {
        self.init(updatedAt: position.updatedAt, payment: position.payment, leg: position.leg)
    }

    public static func < (left: BookedPlace, right: BookedPlace) -> Bool {
        (left.updatedAt, left.payment, left.leg) < (right.updatedAt, right.payment, right.leg)
    }
}
