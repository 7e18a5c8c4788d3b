internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// The routes that ask for something: create, capture, cancel, refund, reconcile.
struct OperationRoutes: Sendable {
    let operations: any PaymentOperations
    let contracts: [ProviderName: ProviderContract]
    let amountCheck: @Sendable (ProviderName, Money) -> String?
    let isCrowded: @Sendable (ProviderName, CallerID) -> Bool
    let limits: APILimits
    let clock: any WallClock

    func create(_ request: IncomingRequest) async throws(Problem) -> Answer {
        let key = try request.idempotencyKey(limits.cardNumbers)
        let document = try request.document(limits, mayBeAbsent: false)
        let body = try CreateBody(document, limits.cardNumbers)
        let id = PaymentID(caller: request.caller, key: key)
        let create: CreateRequest
        do {
            create = try CreateRequest(
                caller: request.caller, key: key, amount: body.amount, legs: body.legs,
                captureMode: body.capture, reference: body.reference, metadata: body.metadata,
                deadline: body.deadline, returnURL: body.returnURL, contracts: contracts)
        } catch {
            throw Problem(.invalidRequest, 422, "Invalid request", detail: error.detail, field: error.field)
        }
        if let problem = outdated(create) ?? crowded(create), try await !exists(id, caller: request.caller) {
            throw problem
        }
        let fingerprint = request.fingerprint(of: document)
        let wait = wait(request)
        return try await answers(.create, request, payment: id, key: key).answer {
            () async throws(OperationFailure) -> OperationResult in
            try await operations.create(create, fingerprint: fingerprint, wait: wait)
        }
    }

    func capture(_ request: IncomingRequest) async throws(Problem) -> Answer {
        let (payment, key, document) = try operation(request)
        let body = try CaptureBody(document)
        try await check(body.amounts, of: payment, caller: request.caller)
        let command = command(request, payment, key, document)
        return try await answers(.capture, request, payment: payment, key: key).answer {
            () async throws(OperationFailure) -> OperationResult in
            try await operations.capture(command, amounts: body.amounts)
        }
    }

    func cancel(_ request: IncomingRequest) async throws(Problem) -> Answer {
        let (payment, key, document) = try operation(request)
        let body = try CancelBody(document)
        let command = command(request, payment, key, document)
        return try await answers(.cancel, request, payment: payment, key: key).answer {
            () async throws(OperationFailure) -> OperationResult in
            try await operations.cancel(command, reason: body.reason)
        }
    }

    func refund(_ request: IncomingRequest) async throws(Problem) -> Answer {
        let (payment, key, document) = try operation(request)
        let body = try RefundBody(document)
        let amounts = try await refundAmounts(body, payment: payment, caller: request.caller)
        let command = command(request, payment, key, document)
        return try await answers(.refund, request, payment: payment, key: key).answer {
            () async throws(OperationFailure) -> OperationResult in
            try await operations.refund(command, amounts: amounts, reason: body.reason)
        }
    }

    func reconcile(_ request: IncomingRequest) async throws(Problem) -> Answer {
        let payment = try request.payment()
        guard request.body.isEmpty else { throw .malformed(.root, "This route takes no body.") }
        let wait = wait(request)
        return try await answers(.reconcile, request, payment: payment, key: nil).answer {
            () async throws(OperationFailure) -> OperationResult in
            try await operations.reconcile(caller: request.caller, payment: payment, wait: wait)
        }
    }

    /// What is wrong only because of the time or the configuration of today. A replay of a payment that
    /// exists is not judged by that: it gets its answer.
    private func outdated(_ request: CreateRequest) -> Problem? {
        if let deadline = request.deadline, deadline <= clock.now() {
            return .impossible(FieldPath.root.member("deadline"), "Must be in the future.")
        }
        let currency = request.amount.currency
        if let largest = limits.largestAmounts[request.caller]?[currency], request.amount.value > largest {
            return .impossible(
                FieldPath.root.member("amount").member("value"),
                "Must be at most \(largest) minor units of \(currency.code) for this caller.")
        }
        for (index, leg) in request.legs.enumerated() {
            guard let reason = amountCheck(leg.provider, leg.amount) else { continue }
            let field = FieldPath.root.member("legs").item(index).member("amount").member("value")
            return .impossible(field, reason)
        }
        return nil
    }

    /// A payment that could not even be begun in time is not taken: its caller learns that at once, and what was taken
    /// before is settled in time.
    private func crowded(_ request: CreateRequest) -> Problem? {
        for leg in request.legs where isCrowded(leg.provider, request.caller) {
            return .notAccepting(
                "More is asked of \(leg.provider) than it takes. Nothing was done. Repeat the request with the same "
                    + "key.",
                retryAfter: 2)
        }
        return nil
    }

    private func exists(_ payment: PaymentID, caller: CallerID) async throws(Problem) -> Bool {
        do {
            return try await operations.payment(caller: caller, payment).id == payment
        } catch .notFound {
            return false
        } catch {
            throw Problem(reading: error)
        }
    }

    /// The refund's amounts by leg. `amount` is for the only leg of a payment with one leg.
    private func refundAmounts(
        _ body: RefundBody, payment: PaymentID, caller: CallerID
    ) async throws(Problem) -> [Int: Money]? {
        guard let amount = body.amount else {
            try await check(body.legs, of: payment, caller: caller)
            return body.legs
        }
        let found = try await read(payment, caller: caller)
        let path = FieldPath.root.member("amount")
        guard let leg = found.legs.first, found.legs.count == 1 else {
            throw .impossible(path, "The payment has several legs: name the amounts by leg.")
        }
        if let reason = amountCheck(leg.provider, amount) { throw .impossible(path.member("value"), reason) }
        return [leg.index: amount]
    }

    /// Whether the providers of these legs can take these amounts. Legs that do not exist are the core's to
    /// refuse.
    private func check(
        _ amounts: [Int: Money]?, of payment: PaymentID, caller: CallerID
    ) async throws(Problem) {
        guard let amounts else { return }
        let found = try await read(payment, caller: caller)
        for leg in found.legs {
            guard let amount = amounts[leg.index], let reason = amountCheck(leg.provider, amount) else {
                continue
            }
            throw .impossible(FieldPath.root.member("legs"), "Leg \(leg.index): \(reason)")
        }
    }

    private func read(_ payment: PaymentID, caller: CallerID) async throws(Problem) -> Payment {
        do {
            return try await operations.payment(caller: caller, payment)
        } catch {
            throw Problem(reading: error)
        }
    }

    private func operation(
        _ request: IncomingRequest
    ) throws(Problem) -> (PaymentID, IdempotencyKey, JSONValue) {
        let payment = try request.payment()
        let key = try request.idempotencyKey(limits.cardNumbers)
        return (payment, key, try request.document(limits, mayBeAbsent: true))
    }

    private func command(
        _ request: IncomingRequest, _ payment: PaymentID, _ key: IdempotencyKey, _ document: JSONValue
    ) -> OperationCommand {
        OperationCommand(
            caller: request.caller, payment: payment, key: key,
            fingerprint: request.fingerprint(of: document), wait: wait(request))
    }

    private func wait(_ request: IncomingRequest) -> Span {
        .seconds(request.wait(atMost: limits.maximumWaitSeconds) ?? limits.defaultWaitSeconds)
    }

    private func answers(
        _ kind: OperationKind, _ request: IncomingRequest, payment: PaymentID, key: IdempotencyKey?
    ) -> OperationAnswers {
        OperationAnswers(
            operations: operations, clock: clock, kind: kind, caller: request.caller, payment: payment,
            key: key, appliedWait: request.wait(atMost: limits.maximumWaitSeconds))
    }
}
