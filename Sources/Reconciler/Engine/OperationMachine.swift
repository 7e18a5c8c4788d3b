public import PaymentCore

/// The rules by which a caller's operation is looked up, joined, handed on, followed and settled: a synchronous
/// machine.
///
/// One step is under way at a time; what came of it is the next input. News of the payment may come at any time, and
/// count once the operation follows it.
public struct OperationMachine: Sendable {
    /// What a caller wants.
    public enum Wish: Sendable {
        /// A new payment.
        case create(CreateRequest)
        /// Something of a payment that exists.
        case operate(OperationRunner.Request.Operation, on: PaymentID)
        /// That the status of a payment is read now.
        case reconcile(PaymentID)

        var operation: IdempotencyRecord.Operation {
            switch self {
            case .create, .reconcile: .create
            case .operate(.cancel, _): .cancel
            case .operate(.capture, _): .capture
            case .operate(.refund, _): .refund
            }
        }
    }

    /// What it is told.
    public enum Input: Sendable {
        /// It begins. `isLookedUpFirst`: see ``EngineMachine/isKnownOrRefused(_:_:)``; `asksCallers`: see
        /// ``EngineMachine/asksCallers``. Both mean something for a create.
        case began(isLookedUpFirst: Bool, asksCallers: Bool)
        /// Of ``Step/readPayment(_:)``.
        case payment(Payment?)
        /// Of ``Step/readRecord(caller:key:)``.
        case record(IdempotencyRecord?)
        /// The store could not do the step.
        case failed(StoreFailure)
        /// Of ``Step/create(_:_:)``, ``Step/submit(_:_:)``, ``Step/askNow(_:)`` and ``Step/tellRepeated(_:)``.
        case engine(EngineAnswer)
        /// The payment is durable as it is here, and this answer was kept with it.
        case changed(Payment, kept: StoredAnswer?)
        /// Of ``Step/wait(until:)``: the moment has come.
        case waited
        /// Nobody waits any more: it ends with what is known.
        case gaveUp
        /// Of ``Step/askWhetherInWork(_:)``.
        case isInWork(Bool)
    }

    /// What is to be done next.
    public enum Step: Sendable {
        /// Read a payment.
        case readPayment(PaymentID)
        /// Read the record of the key.
        case readRecord(caller: CallerID, key: IdempotencyKey)
        /// Hand a create to the engine.
        case create(CreateRequest, IdempotencyRecord)
        /// Hand an operation to the engine.
        case submit(OperationRunner.Request.Operation, IdempotencyRecord)
        /// Have the engine read the status now.
        case askNow(PaymentID)
        /// Tell the engine that the caller repeats what created the payment.
        case tellRepeated(Payment)
        /// Wait for a moment, or for news of the payment.
        case wait(until: Timestamp)
        /// Ask the engine whether the payment is in work in this process.
        case askWhetherInWork(PaymentID)
        /// It is over.
        case finish(Result<OperationResult, OperationFailure>)
    }

    enum Phase {
        case beginning
        /// The payment is read, to see whether the caller has it.
        case finding
        /// The key is looked up before anything is asked of the engine; or after a refusal, whose reason it may be.
        case lookingUp(after: OperationRefusal?)
        case asking
        case joining(IdempotencyRecord)
        /// The engine is being told that the create of this payment was repeated.
        case repeating(IdempotencyRecord, Payment)
        /// The payment is read at its providers before it is known whether it permits this.
        case confirming(OperationRefusal)
        case following(Following)
        case over
    }

    /// The shortest time between two looks at a payment that another process has, and the longest.
    static let shortestLook = Span.milliseconds(100)
    static let longestLook = Span.milliseconds(800)

    let wish: Wish
    let caller: CallerID
    let key: IdempotencyKey?
    let fingerprint: Digest
    let wait: Span
    let rules: EngineRules
    var phase = Phase.beginning
    /// Whether payments wait until their callers ask again.
    var asksCallers = false
    /// Until when it waits for what is being confirmed, and the pause before it asks again.
    var confirmation: (until: Timestamp, pause: Span)?
    /// When the create was repeated of a payment that waits for its payer: only what is read since then tells what the
    /// payer did. `nil` for the first request.
    var repeatedAt: Timestamp?
    /// News of before it followed.
    var news: (payment: Payment, kept: StoredAnswer?)?

    /// An operation.
    ///
    /// - Parameters:
    ///   - key: The key under which it is asked; `nil` for ``Wish/reconcile(_:)``.
    ///   - wait: How long to wait for it to be settled.
    public init(_ wish: Wish, caller: CallerID, key: IdempotencyKey?, fingerprint: Digest, wait: Span) {
        self.init(wish, caller: caller, key: key, fingerprint: fingerprint, wait: wait, rules: .shipped)
    }

    /// An operation by rules of which a check breaks some.
    package init(
        _ wish: Wish, caller: CallerID, key: IdempotencyKey?, fingerprint: Digest, wait: Span, rules: EngineRules
    ) {
        self.wish = wish
        self.caller = caller
        self.key = key
        self.fingerprint = fingerprint
        self.wait = wait
        self.rules = rules
    }

    /// The payment that it is about.
    public var payment: PaymentID {
        switch wish {
        case .create(let request): PaymentID(caller: request.caller, key: request.key)
        case .operate(_, let id), .reconcile(let id): id
        }
    }

    /// Whether it waits for news.
    public var isFollowing: Bool {
        if case .following = phase { return true }
        return false
    }

    /// Takes an input and says what is to be done next; `nil` if the step that is under way goes on.
    public mutating func handle(_ input: Input, at now: Timestamp) -> Step? {
        if case .changed(let payment, let kept) = input {
            guard isFollowing else {
                news = (payment, kept)
                return nil
            }
            if isDone(payment) { return settled(payment, kept: kept) }
            return showsPayerAction(payment) ? finish(.success(.unsettled(payment))) : nil
        }
        switch phase {
        case .beginning: return begin(input, now)
        case .finding: return found(input, now)
        case .lookingUp(let refusal): return lookedUp(input, refusal, now)
        case .asking: return asked(input, now)
        case .joining(let record): return join(record, input, now)
        case .repeating(let record, let payment): return repeated(record, payment, input, now)
        case .confirming(let refusal): return confirm(refusal, input, now)
        case .following(let following): return follow(following, input, now)
        case .over: return nil
        }
    }

    mutating func finish(_ result: Result<OperationResult, OperationFailure>) -> Step {
        phase = .over
        return .finish(result)
    }

    // MARK: Handing on

    private mutating func begin(_ input: Input, _ now: Timestamp) -> Step? {
        guard case .began(let isLookedUpFirst, let asksCallers) = input else { return nil }
        self.asksCallers = asksCallers
        switch wish {
        case .create:
            // A new key is the rule, and the store finds out about the others: looking first would be one more wait.
            return isLookedUpFirst ? lookUp(after: nil, now) : ask(now)
        case .operate, .reconcile:
            phase = .finding
            return .readPayment(payment)
        }
    }
}
