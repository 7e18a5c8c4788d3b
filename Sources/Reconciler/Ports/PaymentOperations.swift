public import PaymentCore

/// What callers may ask for: the use cases behind the caller API.
///
/// Every operation is idempotent under the caller's key: asked again, it joins what is under way or gives the first
/// settled answer.
public protocol PaymentOperations: Sendable {
    /// Creates a payment and waits until it is settled, at most `wait`.
    func create(
        _ request: CreateRequest, fingerprint: Digest, wait: Span
    ) async throws(OperationFailure) -> OperationResult

    /// Captures what is held: all of it, or the amounts by leg index.
    func capture(
        _ command: OperationCommand, amounts: [Int: Money]?
    ) async throws(OperationFailure) -> OperationResult

    /// Cancels a payment that did not go forward yet.
    func cancel(
        _ command: OperationCommand, reason: String?
    ) async throws(OperationFailure) -> OperationResult

    /// Gives back what was captured: all that remains, or the amounts by leg index.
    func refund(
        _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
    ) async throws(OperationFailure) -> OperationResult

    /// Reads the status of everything undecided now, and waits for what comes of it.
    func reconcile(
        caller: CallerID, payment: PaymentID, wait: Span
    ) async throws(OperationFailure) -> OperationResult

    /// Takes in what a provider that cannot be asked told of an effect. It returns once that is durable.
    ///
    /// - Parameter payment: The payment that the provider names; without one it is found by the key.
    /// - Returns: `false` if it is about nothing of ours.
    func take(
        _ news: EffectNews, from provider: ProviderName, of payment: PaymentID?
    ) async throws(OperationFailure) -> Bool

    /// Until when what is read here is known to be complete; `nil` where it is all there is.
    ///
    /// - Throws: ``OperationFailure/notActive(_:)`` where nobody can say: nothing is read then.
    func completeUntil() async throws(OperationFailure) -> Timestamp?

    /// Reads one payment of a caller.
    func payment(caller: CallerID, _ id: PaymentID) async throws(OperationFailure) -> Payment

    /// Lists payments. The query's caller is set by the edge, never by the request.
    func payments(_ query: PaymentQuery) async throws(OperationFailure) -> Page<Payment>

    /// Reads a payment's audit trail after a sequence number.
    func events(
        caller: CallerID, payment: PaymentID, after sequence: Int64, limit: Int
    ) async throws(OperationFailure) -> [AuditEntry]

    /// Keeps the answer that was made of a settled result; returns the one that counts.
    func keep(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(OperationFailure) -> StoredAnswer
}

extension PaymentOperations {
    /// All there is.
    public func completeUntil() async throws(OperationFailure) -> Timestamp? { nil }
}

/// Who asks for an operation on an existing payment, under which key, and how long the answer may take.
public struct OperationCommand: Sendable, Hashable {
    /// The caller.
    public var caller: CallerID
    /// The payment.
    public var payment: PaymentID
    /// The caller's key of the operation.
    public var key: IdempotencyKey
    /// The digest of method, path and canonical body.
    public var fingerprint: Digest
    /// How long to wait for the payment to settle.
    public var wait: Span

    /// A command.
    public init(caller: CallerID, payment: PaymentID, key: IdempotencyKey, fingerprint: Digest, wait: Span) {
        self.caller = caller
        self.payment = payment
        self.key = key
        self.fingerprint = fingerprint
        self.wait = wait
    }
}

/// What came of an operation.
public enum OperationResult: Sendable {
    /// It is settled. The edge renders the answer and keeps it, unless the operation has no key.
    case settled(Payment)
    /// It is settled, and this answer was kept in the same transaction.
    case answered(StoredAnswer)
    /// It was settled before; this was the answer.
    case replay(StoredAnswer)
    /// It goes on; the wait is over.
    case unsettled(Payment)
    /// The same key is under way, and the caller does not want to wait.
    case inFlight(Payment)
}

/// Why an operation was not taken.
public enum OperationFailure: Error, Sendable, Hashable {
    /// There is no such payment of this caller.
    case notFound
    /// The key was used for another request.
    case keyReused
    /// The key was used, and its answer is pruned.
    case keySpent
    /// The payment was found at a provider without being in the books, and a comparison undid it before its caller came
    /// again. It stays so.
    case undone(PaymentID)
    /// The payment does not allow it.
    case refused(OperationRefusal, PaymentID)
    /// The daemon takes nothing new: it is shutting down, or too much is waiting. Seconds until a retry makes sense.
    case notAccepting(reason: String, retryAfter: Int)
    /// This site is not the one that takes payments.
    case notActive(SiteNotActive)
    /// The store could not do it; nothing was done, and the same request may be sent again.
    case store(StoreFailure)
}

/// Why nothing is taken at this site, and where it may be.
public struct SiteNotActive: Sendable, Hashable {
    /// This site.
    public var site: SiteName
    /// The active site, as far as is known here.
    public var activeSite: SiteName?
    /// Where callers reach the active site, if the configuration says so.
    public var address: String?
    /// Why this one takes nothing.
    public var reason: String
    /// Seconds until a retry makes sense.
    public var retryAfter: Int

    /// A reason.
    public init(site: SiteName, activeSite: SiteName?, address: String?, reason: String, retryAfter: Int) {
        self.site = site
        self.activeSite = activeSite
        self.address = address
        self.reason = reason
        self.retryAfter = retryAfter
    }
}
