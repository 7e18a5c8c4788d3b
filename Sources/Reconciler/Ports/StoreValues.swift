public import PaymentCore

/// Why a store could not do what was asked. Nothing was written unless the code says otherwise.
public struct StoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// Another writer held the store for too long.
        case busy
        /// The disk or the quota is full.
        case full
        /// Transactions collided; the same change may succeed at once.
        case serialization
        /// The store cannot be reached.
        case unavailable
        /// It is not known whether the change was written.
        case indeterminate
        /// The store's content is damaged.
        case corrupted
        /// The store belongs to another version, or migrations are missing.
        case incompatible
        /// This site is no longer active: the term under which the write was to be made is over. Nothing was written.
        case inactive
        /// Anything else.
        case other
    }

    /// The kind.
    public let code: Code
    /// What was attempted, constant text.
    public let operation: String
    /// The cause in words, without data of payments.
    public let cause: String

    /// A failure.
    public init(_ code: Code, operation: String, cause: String) {
        self.code = code
        self.operation = operation
        self.cause = cause
    }

    /// Whether the same call may succeed a little later.
    public var isPassing: Bool {
        switch code {
        case .busy, .full, .serialization, .unavailable, .indeterminate: true
        case .corrupted, .incompatible, .inactive, .other: false
        }
    }

    public var description: String { "\(operation): \(code.rawValue): \(cause)" }
}

/// One key that a caller used, for ever.
public struct IdempotencyRecord: Sendable, Hashable {
    /// What was asked under the key.
    public enum Operation: String, Sendable, Hashable, Codable, CaseIterable {
        /// `POST /v1/payments`
        case create
        /// `POST …/capture`
        case capture
        /// `POST …/cancel`
        case cancel
        /// `POST …/refunds`
        case refund
    }

    /// Whose key.
    public var caller: CallerID
    /// The key.
    public var key: IdempotencyKey
    /// The operation.
    public var operation: Operation
    /// The payment that it is about.
    public var payment: PaymentID
    /// The digest of method, path and canonical body.
    public var fingerprint: Digest
    /// When it was used first.
    public var createdAt: Timestamp
    /// The first settled answer.
    public var answer: StoredAnswer?
    /// The answer was pruned: the key is spent for ever.
    public var isPruned: Bool

    /// A record without an answer.
    public init(
        caller: CallerID, key: IdempotencyKey, operation: Operation, payment: PaymentID, fingerprint: Digest,
        createdAt: Timestamp, answer: StoredAnswer? = nil, isPruned: Bool = false
    ) {
        self.caller = caller
        self.key = key
        self.operation = operation
        self.payment = payment
        self.fingerprint = fingerprint
        self.createdAt = createdAt
        self.answer = answer
        self.isPruned = isPruned
    }
}

/// An answer that is replayed byte for byte.
public struct StoredAnswer: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The media type.
    public var contentType: String
    /// The `Location`, if there was one.
    public var location: String?
    /// The body.
    public var body: [UInt8]

    /// An answer.
    public init(status: Int, contentType: String, location: String?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.location = location
        self.body = body
    }
}

/// Which payments are wanted.
public struct PaymentQuery: Sendable, Hashable {
    /// Only this caller's; `nil` for an operator, who sees all.
    public var caller: CallerID?
    /// Only with this reference.
    public var reference: String?
    /// Only what is known under this key: an idempotency key of its caller's requests, or a key under which a provider
    /// knows one of its effects. Every key of an effect has the form of an idempotency key.
    public var key: IdempotencyKey?
    /// Only in this state.
    public var state: PaymentState?
    /// Only with an operation that waits for this: a payment that succeeded is found by a refund that waits.
    public var waitsFor: WaitsFor?
    /// Only with a leg at this provider.
    public var provider: ProviderName?
    /// Only created after this moment.
    public var createdAfter: Timestamp?
    /// Continue after this place.
    public var after: PageCursor?
    /// At most so many, 1 to 200.
    public var limit: Int

    /// All payments, newest first.
    public init(limit: Int = 50) { self.limit = limit }

    /// What is filtered by, as text, each `nil` where it is not: the same for two queries that list the same payments.
    public var filters: [String?] {
        [
            caller?.name, reference, state?.rawValue, provider?.name, createdAfter.map { String($0.milliseconds) },
            waitsFor?.rawValue, key?.text,
        ]
    }
}

/// A place in a listing that is ordered by (created_at, id), newest first.
public struct PageCursor: Sendable, Hashable {
    /// The creation time of the last item seen.
    public var createdAt: Timestamp
    /// The id of the last item seen.
    public var id: PaymentID

    /// A place.
    public init(createdAt: Timestamp, id: PaymentID) {
        self.createdAt = createdAt
        self.id = id
    }
}

/// A part of a listing.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// Where the next part begins; `nil` at the end.
    public var next: PageCursor?

    /// A page.
    public init(items: [Item], next: PageCursor?) {
        self.items = items
        self.next = next
    }
}

/// One link of the chain that seals the heads of the audit trails.
public struct Seal: Sendable, Hashable {
    /// Its number, from 1.
    public let number: Int64
    /// When it was made.
    public let at: Timestamp
    /// How many trails changed since the seal before.
    public let heads: Int
    /// The hash of the seal before it.
    public let previous: Digest
    /// Its hash, over its number, time, the heads in order of payment id, and the hash before.
    public let hash: Digest

    /// A seal over heads, which must be in ascending order of payment id.
    public init(number: Int64, at: Timestamp, previous: Digest, heads: [(payment: PaymentID, head: AuditHead)]) {
        self.number = number
        self.at = at
        self.heads = heads.count
        self.previous = previous
        var parts = ["reconciled.seal.1", String(number), String(at.milliseconds), previous.hex, String(heads.count)]
        for (payment, head) in heads {
            parts += [payment.text, String(head.sequence), head.hash.hex]
        }
        hash = Digest(of: parts)
    }

    /// What comes before the first seal.
    public static let genesis = Digest(of: ["reconciled.seal.0"])
}

/// What is wrong with the seals.
public enum SealBreak: Sendable, Hashable, CustomStringConvertible {
    /// A seal is missing.
    case missing(number: Int64)
    /// A seal's hash is not that of its content, or does not follow from the one before.
    case altered(number: Int64)
    /// A trail does not have an entry that was sealed, or has another in its place.
    case headMissing(number: Int64, payment: PaymentID)
    /// A trail is broken in itself.
    case trailBroken(payment: PaymentID, detail: String)
    /// A payment says something else than its trail.
    case paymentDiffers(payment: PaymentID, detail: String)

    public var description: String {
        switch self {
        case .missing(let number): "seal \(number) is missing"
        case .altered(let number): "seal \(number) was altered, or does not follow from the one before"
        case .headMissing(let number, let payment):
            "the trail of \(payment) lacks an entry that seal \(number) covers, or has another in its place"
        case .trailBroken(let payment, let detail): "the trail of \(payment) is broken: \(detail)"
        case .paymentDiffers(let payment, let detail): "\(payment) says something else than its trail: \(detail)"
        }
    }
}

/// Counts.
public struct StoreStatistics: Sendable, Hashable {
    /// Payments by state.
    public var paymentsByState: [PaymentState: Int]
    /// Payments that are due and not leased.
    public var due: Int
    /// Creation time of the oldest payment that is neither final nor resting in `authorized`.
    public var oldestUnsettled: Timestamp?
    /// Payments by what an operation of theirs waits for; nothing where none waits.
    public var waiting: [WaitingOperation: Int]
    /// When the oldest entry of an audit trail was written that no seal covers.
    public var oldestUnsealed: Timestamp?

    /// Counts.
    public init(
        paymentsByState: [PaymentState: Int], due: Int, oldestUnsettled: Timestamp?, waiting: [WaitingOperation: Int],
        oldestUnsealed: Timestamp?
    ) {
        self.paymentsByState = paymentsByState
        self.due = due
        self.oldestUnsettled = oldestUnsettled
        self.waiting = waiting
        self.oldestUnsealed = oldestUnsealed
    }
}
