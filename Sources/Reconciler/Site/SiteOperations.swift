public import PaymentCore

/// The use cases of callers at one of several sites: what only the active site does is refused where it is not, with
/// the name of the one that is.
///
/// A standby that follows answers reads, and says until when it is complete. Any other site that is not active answers
/// none: it would say of payments that it has not that they do not exist, and of others what they were once.
public struct SiteOperations: PaymentOperations {
    /// A site that may be active instead.
    public struct Peer: Sendable, Hashable {
        /// Its name.
        public var name: SiteName
        /// Where callers reach it.
        public var address: String?

        /// A peer.
        public init(name: SiteName, address: String?) {
            self.name = name
            self.address = address
        }
    }

    private let operations: any PaymentOperations
    private let gate: SiteGate
    private let site: SiteName
    private let peer: Peer?
    private let store: any SiteStore
    private let standby: StandbyWatch?

    /// The use cases behind a gate.
    ///
    /// - Parameter standby: tells whether a standby confirms what is written, where one is counted on.
    public init(
        _ operations: any PaymentOperations, store: any SiteStore, gate: SiteGate, site: SiteName, peer: Peer?,
        standby: StandbyWatch? = nil
    ) {
        self.operations = operations
        self.store = store
        self.gate = gate
        self.site = site
        self.peer = peer
        self.standby = standby
    }

    /// A promotion, or the end of a partition, takes at least some seconds.
    private static let retryAfter = 5

    private func refusal(_ standing: SiteStanding) -> OperationFailure {
        let active = standing.activeSite == site ? nil : standing.activeSite
        return .notActive(
            SiteNotActive(
                site: site, activeSite: active, address: active == peer?.name ? peer?.address : nil,
                reason: EngineMachine.reason(standing), retryAfter: SiteOperations.retryAfter))
    }

    /// Does what changes something, if the site may.
    private func acting<Result: Sendable>(
        _ body: () async throws(OperationFailure) -> Result
    ) async throws(OperationFailure) -> Result {
        let standing = gate.standing
        guard standing.refusal == nil, !standing.isDraining else { throw refusal(standing) }
        guard standing.mode != .readOnly else {
            throw .notAccepting(reason: EngineMachine.reason(standing), retryAfter: SiteOperations.retryAfter)
        }
        if let reason = standby?.refusal {
            throw .notAccepting(reason: reason, retryAfter: SiteOperations.retryAfter)
        }
        let result = try await writing(body)
        // A process that stood still meanwhile may have written where nobody goes on.
        let after = gate.standing
        guard after.mayTell else { throw refusal(after) }
        return result
    }

    /// Does what the store refuses if the role was lost meanwhile.
    private func writing<Result: Sendable>(
        _ body: () async throws(OperationFailure) -> Result
    ) async throws(OperationFailure) -> Result {
        do throws(OperationFailure) {
            return try await body()
        } catch .store(let failure) where failure.code == .inactive {
            throw refusal(gate.standing)
        }
    }

    /// Creates a payment, at the active site.
    public func create(
        _ request: CreateRequest, fingerprint: Digest, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        try await acting { () async throws(OperationFailure) in
            try await operations.create(request, fingerprint: fingerprint, wait: wait)
        }
    }

    /// Captures what is held, at the active site.
    public func capture(
        _ command: OperationCommand, amounts: [Int: Money]?
    ) async throws(OperationFailure) -> OperationResult {
        try await acting { () async throws(OperationFailure) in
            try await operations.capture(command, amounts: amounts)
        }
    }

    /// Cancels a payment, at the active site.
    public func cancel(
        _ command: OperationCommand, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await acting { () async throws(OperationFailure) in
            try await operations.cancel(command, reason: reason)
        }
    }

    /// Gives back what was captured, at the active site.
    public func refund(
        _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
    ) async throws(OperationFailure) -> OperationResult {
        try await acting { () async throws(OperationFailure) in
            try await operations.refund(command, amounts: amounts, reason: reason)
        }
    }

    /// Reads every undecided status now, at the active site.
    public func reconcile(
        caller: CallerID, payment: PaymentID, wait: Span
    ) async throws(OperationFailure) -> OperationResult {
        try await acting { () async throws(OperationFailure) in
            try await operations.reconcile(caller: caller, payment: payment, wait: wait)
        }
    }

    /// Takes in a provider's news, at the active site: a standby may not have the payment yet.
    public func take(
        _ news: EffectNews, from provider: ProviderName, of payment: PaymentID?
    ) async throws(OperationFailure) -> Bool {
        try await acting { () async throws(OperationFailure) in
            try await operations.take(news, from: provider, of: payment)
        }
    }

    /// Keeps the first settled answer, also at a site that is being drained.
    public func keep(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(OperationFailure) -> StoredAnswer {
        // Also of a site that is being drained: it is the end of what began before.
        try await writing { () async throws(OperationFailure) in
            try await operations.keep(answer, caller: caller, key: key)
        }
    }

    /// A standby counts as one that follows for so long after the last message of the active site's database.
    private static let silence = Span.seconds(10)

    /// Until when a standby is complete; `nil` at the active site.
    public func completeUntil() async throws(OperationFailure) -> Timestamp? {
        let standing = gate.standing
        guard standing.refusal != nil else { return nil }
        let reading: SiteReading
        do throws(StoreFailure) {
            reading = try await store.siteReading()
        } catch {
            throw .store(error)
        }
        guard !reading.database.isWritable, reading.database.isStreaming, let lag = reading.database.lag else {
            throw refusal(standing)
        }
        return reading.now + (Span.zero - lag - SiteOperations.silence)
    }

    /// Reads one payment, at the active site or a standby. What a standby has not, it does not know.
    public func payment(caller: CallerID, _ id: PaymentID) async throws(OperationFailure) -> Payment {
        do throws(OperationFailure) {
            return try await operations.payment(caller: caller, id)
        } catch .notFound {
            let standing = gate.standing
            throw standing.refusal == nil ? .notFound : refusal(standing)
        }
    }

    /// Lists payments, at the active site or a standby.
    public func payments(_ query: PaymentQuery) async throws(OperationFailure) -> Page<Payment> {
        try await operations.payments(query)
    }

    /// Reads an audit trail, at the active site or a standby.
    public func events(
        caller: CallerID, payment: PaymentID, after sequence: Int64, limit: Int
    ) async throws(OperationFailure) -> [AuditEntry] {
        do throws(OperationFailure) {
            return try await operations.events(caller: caller, payment: payment, after: sequence, limit: limit)
        } catch .notFound {
            let standing = gate.standing
            throw standing.refusal == nil ? .notFound : refusal(standing)
        }
    }
}
