/// What executing one request came to.
struct Execution: Sendable, Equatable {
    /// The state afterwards; nil where nothing is recorded under the key.
    var record: TransactionRecord?
    var movements: [Movement] = []
    var answer: Answer
}

/// A fault that bends the execution itself rather than the way of the answer.
struct Twist: Sendable, Equatable {
    enum Decline: Sendable, Equatable {
        case bound, unbound
    }

    var decline: Decline?
    /// Stay pending for so many milliseconds, then become this.
    var pending: (afterMs: Int64, succeeds: Bool)?
    /// Record `changedValue` instead of the value asked for, or one more than asked where that is nil.
    var changesAmount = false
    var changedValue: Int64?

    static func == (left: Twist, right: Twist) -> Bool {
        left.decline == right.decline && left.pending?.afterMs == right.pending?.afterMs
            && left.pending?.succeeds == right.pending?.succeeds && left.changesAmount == right.changesAmount
            && left.changedValue == right.changedValue
    }

    /// The amount as this provider records it.
    func recorded(_ amount: Amount) -> Amount {
        guard changesAmount else { return amount }
        let oneMore = amount.value == Int64.max ? amount.value - 1 : amount.value + 1
        return amount.with(value: changedValue ?? oneMore)
    }
}

/// The contract, as a function of the state under the key, the request and the time.
///
/// It does no I/O.
struct ContractRules: Sendable {
    let options: ContractOptions
    /// Milliseconds since 1970, by the provider's clock.
    let now: Int64
    var twist = Twist()
    /// Below `unboundDeclineRate`: an attempt that may be declined without being bound, is.
    ///
    /// In 0..<1.
    var chance = 1.0

    /// - Parameter record: the state under the key, with everything that time changed already applied.
    func execute(_ request: ProviderRequest, on record: TransactionRecord?) -> Execution {
        switch request.command {
        case .refused(let problem):
            return refuse(problem, record)
        case .pay(let order):
            return pay(order, request, record)
        case .capture(let amount):
            return capture(amount, request, record)
        case .refund(let amount):
            return refund(amount, request, record)
        case .void:
            return void(request, record)
        case .inquire:
            return inquire(request, record)
        case .list, .stripe, .paypay, .adyen:
            return refuse(.internalError, record)
        }
    }

    /// Changes nothing.
    func refuse(_ problem: Problem, _ record: TransactionRecord?) -> Execution {
        Execution(record: record, answer: .problem(problem))
    }

    /// Changes nothing, and shows the transaction.
    func show(_ record: TransactionRecord, _ status: Int) -> Execution {
        Execution(record: record, answer: .transaction(status, record))
    }

    func isLate(_ request: ProviderRequest) -> Bool {
        guard options.notAfterEnforced, let notAfter = request.notAfter else { return false }
        return now > notAfter
    }

    /// An instant that never precedes what the record already shows, even where the clock was set back.
    func changed(_ record: TransactionRecord) -> Int64 {
        max(now, record.updatedAt)
    }

    /// The answer to an inquiry, from the state it was given: the caller may hand it an older one.
    func inquire(_ request: ProviderRequest, _ record: TransactionRecord?) -> Execution {
        guard let record else { return refuse(.notFound, nil) }
        let entries: [Entry]
        switch request.operation {
        case .inquireCapture: entries = record.captures
        case .inquireRefund: entries = record.refunds
        default: return show(record, 200)
        }
        guard entries.contains(where: { $0.key == request.entryKey }) else {
            return refuse(.notFound, record)
        }
        return show(record, 200)
    }
}
