internal import PaymentCore

/// Looking up, handing on, and joining what is under way under the same key.
extension OperationMachine {
    mutating func found(_ input: Input, _ now: Timestamp) -> Step? {
        switch input {
        case .payment(let payment?) where payment.caller == caller:
            guard case .reconcile = wish else { return lookUp(after: nil, now) }
            guard !isDone(payment) else { return finish(.success(.settled(payment))) }
            return ask(now, about: payment)
        case .payment: return finish(.failure(.notFound))
        case .failed(let failure): return finish(.failure(.store(failure)))
        default: return nil
        }
    }

    mutating func lookUp(after refusal: OperationRefusal?, _ now: Timestamp) -> Step? {
        guard let key else { return ask(now) }
        phase = .lookingUp(after: refusal)
        return .readRecord(caller: caller, key: key)
    }

    mutating func lookedUp(_ input: Input, _ refusal: OperationRefusal?, _ now: Timestamp) -> Step? {
        switch input {
        case .record(let known?): return join(known)
        case .record(nil):
            guard let refusal else { return ask(now) }
            guard case .beingConfirmed = refusal else { return finish(.failure(.refused(refusal, payment))) }
            guard !rules.breaks(.unconfirmedJudged) else {
                return finish(.failure(.refused(.wrongState(.processing, allowed: "what the row says"), payment)))
            }
            return awaitConfirmation(refusal, now)
        case .failed(let failure): return finish(.failure(.store(failure)))
        default: return nil
        }
    }

    /// Hands it to the engine.
    mutating func ask(_ now: Timestamp, about known: Payment? = nil) -> Step? {
        phase = .asking
        if let known { news = news ?? (known, nil) }
        guard let key else { return .askNow(payment) }
        let record = IdempotencyRecord(
            caller: caller, key: key, operation: wish.operation, payment: payment, fingerprint: fingerprint,
            createdAt: now)
        switch wish {
        case .create(let request): return .create(request, record)
        case .operate(let operation, _): return .submit(operation, record)
        case .reconcile: return .askNow(payment)
        }
    }

    mutating func asked(_ input: Input, _ now: Timestamp) -> Step? {
        switch input {
        case .engine(.created(let payment)): return follow(payment, now)
        case .engine(.duplicate(let known)), .engine(.answered(.duplicate(let known))): return join(known)
        case .engine(.answered(.taken(let payment))): return follow(payment, now)
        // The same key may have been taken a moment before, and be the very reason of the refusal.
        case .engine(.answered(.refused(let refusal))): return lookUp(after: refusal, now)
        case .engine(.undone): return finish(.failure(.undone(payment)))
        case .engine(.notAccepting(let reason)):
            return finish(.failure(.notAccepting(reason: reason, retryAfter: 1)))
        case .engine(.told):
            guard let known = news?.payment else { return finish(.failure(.notFound)) }
            return follow(known, now)
        case .engine(.failed(let failure)), .failed(let failure): return finish(.failure(.store(failure)))
        case .engine(.lost):
            let cause = "the payment changed hands"
            return finish(.failure(.store(StoreFailure(.indeterminate, operation: "operation", cause: cause))))
        default: return nil
        }
    }

    /// The key is known: its answer again, or what comes of what is under way.
    private mutating func join(_ record: IdempotencyRecord) -> Step? {
        guard record.fingerprint == fingerprint || rules.breaks(.bodyNotCompared) else {
            return finish(.failure(.keyReused))
        }
        if let answer = record.answer, !rules.breaks(.answerForgotten) { return finish(.success(.replay(answer))) }
        if record.isPruned { return finish(.failure(.keySpent)) }
        phase = .joining(record)
        return .readPayment(record.payment)
    }

    mutating func join(_ record: IdempotencyRecord, _ input: Input, _ now: Timestamp) -> Step? {
        switch input {
        case .payment(let payment?):
            if OperationMachine.cameTooLate(record.operation, record.key, payment) {
                return finish(.failure(.refused(.tooLate(state: payment.state), payment.id)))
            }
            if OperationMachine.isSettled(payment, record.operation, record.key) {
                return finish(.success(.settled(payment)))
            }
            if record.operation == .create, payment.state == .requiresAction, payment.recovery?.repetition != .awaited {
                // Its payer may be back: the provider is asked what became of it.
                phase = .repeating(record, payment)
                repeatedAt = now
                return .askNow(payment.id)
            }
            let mayBeAwaited = asksCallers || payment.recovery?.repetition == .awaited
            guard record.operation == .create, payment.conclusion == nil, mayBeAwaited else {
                return goOn(record, payment, now)
            }
            phase = .repeating(record, payment)
            return .tellRepeated(payment)
        case .payment(nil): return finish(.failure(.keySpent))
        case .failed(let failure): return finish(.failure(.store(failure)))
        default: return nil
        }
    }

    /// Whether the payment heard it or not, it is followed: the caller asks again in any case.
    mutating func repeated(
        _ record: IdempotencyRecord, _ payment: Payment, _ input: Input, _ now: Timestamp
    ) -> Step? {
        switch input {
        case .engine(.failed(let failure)), .failed(let failure): return finish(.failure(.store(failure)))
        case .engine: return goOn(record, payment, now)
        default: return nil
        }
    }

    private mutating func goOn(_ record: IdempotencyRecord, _ payment: Payment, _ now: Timestamp) -> Step? {
        guard wait > .zero else {
            return finish(.success(payment.state == .requiresAction ? .unsettled(payment) : .inFlight(payment)))
        }
        return follow(payment, now, record)
    }

    /// A cancel after the payment went forward, or a capture after another one.
    static func cameTooLate(
        _ operation: IdempotencyRecord.Operation, _ key: IdempotencyKey, _ payment: Payment
    ) -> Bool {
        switch operation {
        case .create, .refund: false
        case .cancel: payment.latch == .forward || payment.latch == .compensate
        case .capture: payment.capture?.key != key
        }
    }

    /// Whether what was asked under a key came to its end.
    static func isSettled(
        _ payment: Payment, _ operation: IdempotencyRecord.Operation, _ key: IdempotencyKey?
    ) -> Bool {
        switch operation {
        case .create: payment.state.isFinal || payment.state == .authorized
        case .capture, .cancel: payment.state.isFinal
        case .refund: payment.refunds.first { $0.key == key }?.state.isFinal ?? false
        }
    }
}
