public import PaymentCore

/// Where repairs live. They are written with the change of their payment (``PaymentChange/repair``), or of their
/// discrepancy.
///
/// A store keeps by itself that nobody approves what they proposed, and that what was decided stays as it is.
public protocol RepairStore: Sendable {
    /// Reads a repair.
    func repair(_ id: String) async throws(StoreFailure) -> Repair?

    /// Reads repairs, newest first by (proposed_at, id), 1 to 200 at a time.
    func repairs(_ query: RepairQuery) async throws(StoreFailure) -> CursorPage<Repair, RepairCursor>

    /// Makes a proposal about a discrepancy, or a decision about one, durable with the discrepancy's next version.
    ///
    /// - Parameter discrepancy: After the change; its `version` is the one that was read.
    /// - Returns: The discrepancy as it is stored; `nil`, and nothing is written, if another was first or it does not
    ///   exist.
    /// - Throws: ``StoreFailure/repairOutOfOrder`` for what was proposed, or decided, before.
    func change(_ discrepancy: Discrepancy, with repair: Repair) async throws(StoreFailure) -> Discrepancy?
}

/// Which repairs are wanted.
public struct RepairQuery: Sendable, Hashable {
    /// Only those that nobody decided about, or only the others; `nil` for all.
    public var isDecided: Bool?
    /// Only of this payment.
    public var payment: PaymentID? {
        get { subject.flatMap { PaymentID(text: $0) } }
        set { subject = newValue?.text }
    }
    /// Only of this discrepancy.
    public var discrepancy: DiscrepancyID? {
        get { subject.flatMap { DiscrepancyID(text: $0) } }
        set { subject = newValue?.text }
    }
    /// Only of the payment or the discrepancy with this identifier, see ``Repair/subject``.
    public private(set) var subject: String?
    /// Continue after this place.
    public var after: RepairCursor?
    /// At most so many, 1 to 200.
    public var limit: Int

    /// All repairs, newest first.
    public init(limit: Int = 50) { self.limit = limit }

    /// The limit that counts.
    public var boundedLimit: Int { min(max(limit, 1), 200) }
}

extension CursorPage where Item == Repair, Cursor == RepairCursor {
    /// A page of what was found, of which one more than `limit` was asked for.
    public init(_ found: [Repair], limit: Int) {
        self.init(found, limit: limit) { RepairCursor(proposedAt: $0.proposedAt, id: $0.id) }
    }
}

/// A place in the listing of repairs, newest first.
public struct RepairCursor: Sendable, Hashable {
    /// When the last repair seen was proposed.
    public var proposedAt: Timestamp
    /// Its identifier.
    public var id: String

    /// A place.
    public init(proposedAt: Timestamp, id: String) {
        self.proposedAt = proposedAt
        self.id = id
    }
}

extension StoreFailure {
    /// A repair was to be proposed that is there, or decided that does not wait. Nothing was written.
    public static let repairOutOfOrder = StoreFailure(
        .other, operation: "commit", cause: "the repair is stored otherwise than it was read")
}
