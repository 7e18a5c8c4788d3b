public import HTTPEdge
public import PaymentCore
public import Reconciler
internal import StrictJSON

/// Reads the webhook of a payment; `nil` if nothing of it was ever reported.
package typealias WebhookReading = @Sendable (PaymentID) async throws(StoreFailure) -> Webhook?

/// Reads payments and writes them as the published schemas have them: the one place where payments become
/// answers to reads, for callers, who see their own, and for operators, who see all.
public struct PaymentReader: Sendable {
    typealias Listing = @Sendable (PaymentQuery) async throws(OperationFailure) -> Page<Payment>
    typealias Finding = @Sendable (PaymentID) async throws(OperationFailure) -> Payment
    typealias Trail = @Sendable (PaymentID, Int64, Int) async throws(OperationFailure) -> [AuditEntry]

    private let caller: CallerID?
    private let listing: Listing
    private let finding: Finding
    private let trail: Trail
    /// Until when what is read is known to be complete, where it is not all there is.
    private let completeUntil: Timestamp?
    /// The parameters that may hold a card number.
    private let unsearched: Set<String>
    /// By what a payment would be decided now; `nil` for whoever is told no reasons.
    private let deciding: (@Sendable () async throws(OperationFailure) -> MachineContext)?

    /// Reads what one caller may see.
    init(
        operations: any PaymentOperations, caller: CallerID, completeUntil: Timestamp?, cardNumbers: CardNumberFields
    ) {
        self.caller = caller
        unsearched = PaymentReader.unsearched(cardNumbers)
        self.completeUntil = completeUntil
        deciding = nil
        listing = { query throws(OperationFailure) in try await operations.payments(query) }
        finding = { id throws(OperationFailure) in try await operations.payment(caller: caller, id) }
        trail = { id, sequence, limit throws(OperationFailure) in
            try await operations.events(caller: caller, payment: id, after: sequence, limit: limit)
        }
    }

    /// Reads the payments of all callers, for operators.
    ///
    /// - Parameters:
    ///   - cardNumbers: What callers may send, so that it can be looked for.
    ///   - context: By what payments are decided at a moment of the store's clock. Without it, no provider is known.
    public init(
        store: any PaymentStore, cardNumbers: CardNumberFields = CardNumberFields(),
        context: @escaping @Sendable (Timestamp) -> MachineContext = { MachineContext(now: $0, contracts: [:]) }
    ) {
        deciding = { () throws(OperationFailure) in
            do throws(StoreFailure) {
                return context(try await store.now())
            } catch {
                throw .store(error)
            }
        }
        caller = nil
        unsearched = PaymentReader.unsearched(cardNumbers)
        completeUntil = nil
        let find: Finding = { id throws(OperationFailure) in
            let found: Payment?
            do throws(StoreFailure) {
                found = try await store.payment(id)
            } catch {
                throw .store(error)
            }
            guard let found else { throw .notFound }
            return found
        }
        finding = find
        listing = { query throws(OperationFailure) in
            do throws(StoreFailure) {
                return try await store.payments(query)
            } catch {
                throw .store(error)
            }
        }
        trail = { id, sequence, limit throws(OperationFailure) in
            _ = try await find(id)
            do throws(StoreFailure) {
                return try await store.auditTrail(of: id, after: sequence, limit: limit)
            } catch {
                throw .store(error)
            }
        }
    }

    private static func unsearched(_ cardNumbers: CardNumberFields) -> Set<String> {
        var unsearched: Set<String> = []
        if cardNumbers[.reference] == .accept { unsearched.insert("reference") }
        if cardNumbers[.key] == .accept { unsearched.insert("key") }
        return unsearched
    }

    /// The answer to a listing with its query string, problem documents included.
    public func list(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) -> Answer in try await page(query: query) }
    }

    /// The answer to a read of one payment, named by the text in the path.
    public func payment(_ id: String) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) -> Answer in try await one(try PaymentReader.id(id)) }
    }

    /// The answer to a read of a payment's audit trail, with its query string.
    public func events(of id: String, query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) -> Answer in
            try await events(of: try PaymentReader.id(id), query: query)
        }
    }

    /// The answer to the question why a payment is in its state.
    public func explanation(of id: String) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) -> Answer in try await explained(try PaymentReader.id(id)) }
    }

    /// Where a payer acts is for its caller alone.
    private func shown(_ payment: Payment) -> JSONValue {
        PaymentRendering.payment(payment, isForCaller: caller != nil)
    }

    private static func id(_ text: String) throws(Problem) -> PaymentID {
        guard let id = PaymentID(text: text) else {
            throw .malformed(field: "id", "Must be pay_ and 40 lowercase hexadecimal digits.")
        }
        return id
    }
}

extension PaymentReader {
    /// One payment.
    func one(_ id: PaymentID) async throws(Problem) -> Answer {
        do {
            return dated(Answer(200, shown(try await finding(id))))
        } catch {
            throw Problem(reading: error)
        }
    }

    /// Why a payment is in its state.
    private func explained(_ id: PaymentID) async throws(Problem) -> Answer {
        guard let deciding else { throw .notFound }
        do {
            let payment = try await finding(id)
            return Answer(200, ExplanationRendering.explanation(PaymentMachine.explain(payment, try await deciding())))
        } catch {
            throw Problem(reading: error)
        }
    }

    /// How far the webhook of a payment got.
    func webhook(of id: PaymentID, from read: WebhookReading) async throws(Problem) -> Answer {
        do {
            // It belongs to the payment's caller.
            _ = try await finding(id)
        } catch {
            throw Problem(reading: error)
        }
        let found: Webhook?
        do {
            found = try await read(id)
        } catch {
            throw Problem(reading: .store(error))
        }
        guard let found else { throw .neverReported }
        return dated(Answer(200, WebhookRendering.forCaller(found)))
    }

    /// A page of payments, newest first.
    func page(query text: String?) async throws(Problem) -> Answer {
        let query = try query(text)
        do {
            let page = try await listing(query)
            return dated(
                Answer.page(
                    page.items.map(shown),
                    next: page.next.map { ListingCursor.encode($0, query: query) }))
        } catch {
            throw Problem(reading: error)
        }
    }

    /// A page of a payment's audit trail, oldest first.
    func events(of id: PaymentID, query text: String?) async throws(Problem) -> Answer {
        let parameters = try QueryParameters(text, allowed: ["cursor", "limit"])
        let limit = try parameters.limit()
        var after: Int64 = 0
        if let cursor = parameters["cursor"] {
            guard let sequence = EventCursor.decode(cursor, payment: id) else {
                throw .badCursor
            }
            after = sequence
        }
        do {
            let entries = try await trail(id, after, limit)
            var next: String?
            if let last = entries.last, entries.count >= limit,
                try await !trail(id, last.sequence, 1).isEmpty
            {
                next = EventCursor.encode(last.sequence, payment: id)
            }
            return dated(Answer.page(entries.map(PaymentRendering.event), next: next))
        } catch {
            throw Problem(reading: error)
        }
    }

    private func dated(_ answer: Answer) -> Answer {
        var answer = answer
        answer.asOf = completeUntil?.rfc3339
        return answer
    }

    private func query(_ text: String?) throws(Problem) -> PaymentQuery {
        let parameters = try QueryParameters(
            text,
            allowed: ["reference", "state", "waiting_for", "provider", "created_after", "cursor", "limit"]
                + (caller == nil ? ["key"] : []),
            unsearched: unsearched)
        var query = PaymentQuery(limit: try parameters.limit())
        query.caller = caller
        if let reference = parameters["reference"] {
            guard (1...128).contains(reference.unicodeScalars.count) else {
                throw .malformed(field: "reference", "Must have 1 to 128 characters.")
            }
            query.reference = reference
        }
        if let key = parameters["key"] {
            do {
                query.key = try IdempotencyKey(key)
            } catch {
                throw .malformed(field: "key", "Must be \(error.allowed).")
            }
        }
        if let state = parameters["state"] {
            query.state = PaymentState(rawValue: state)
            guard query.state != nil else {
                let names = PaymentState.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed(field: "state", "Must be one of \(names).")
            }
        }
        if let waits = parameters["waiting_for"] {
            query.waitsFor = WaitsFor(rawValue: waits)
            guard query.waitsFor != nil else {
                let names = WaitsFor.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed(field: "waiting_for", "Must be one of \(names).")
            }
        }
        if let provider = parameters["provider"] {
            do {
                query.provider = try ProviderName(provider)
            } catch {
                throw .malformed(field: "provider", "Must be \(error.allowed).")
            }
        }
        if let moment = parameters["created_after"] {
            query.createdAfter = Timestamp(utc: moment)
            guard query.createdAfter != nil else {
                throw .malformed(field: "created_after", Timestamp.utcForm)
            }
        }
        if let cursor = parameters["cursor"] {
            query.after = ListingCursor.decode(cursor, query: query)
            guard query.after != nil else { throw .badCursor }
        }
        return query
    }
}
