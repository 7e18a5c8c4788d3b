public import PaymentCore

/// What others ask of the engine.
extension SettlementEngine {
    /// Makes a new payment durable, with its first intents, and puts it to work.
    func create(_ request: CreateRequest, record: IdempotencyRecord) async -> EngineAnswer {
        await ask { .create(ticket: $0, request, record) }
    }

    /// Hands a caller's operation to the payment's runner, or writes it for whoever holds the payment.
    func submit(
        _ operation: OperationRunner.Request.Operation, record: IdempotencyRecord
    ) async -> EngineAnswer {
        await ask { .submit(OperationRunner.Request(ticket: $0, operation: operation, record: record)) }
    }

    /// Reads every undecided status of a payment now.
    func askNow(_ id: PaymentID) async -> EngineAnswer { await ask { .askNow(ticket: $0, id) } }

    /// Takes a provider's news of an effect into the payment's row.
    func take(_ news: EffectNews, leg: Int, of id: PaymentID) async -> EngineAnswer {
        await ask { .news(ticket: $0, id, leg: leg, news) }
    }

    /// A caller repeats what created the payment.
    func tellRepeated(_ payment: Payment) async -> EngineAnswer { await ask { .repeated(ticket: $0, payment) } }

    /// What an operation on this payment is told first.
    func beginning(of id: PaymentID) -> OperationMachine.Input {
        .began(
            isLookedUpFirst: machine.isKnownOrRefused(id, settings.gate.standing), asksCallers: machine.asksCallers)
    }

    /// Whether the payment is in work in this process, which hears of each of its changes.
    func isInWork(_ id: PaymentID) -> Bool { machine.isInWork(id) }

    /// Takes in for which term this process works from now on, and in which window of recovery. What was under way in
    /// another term is left: its rows are due for whoever is active.
    public func enter(_ epoch: Int64?, recovery: RecoveryWindow?) { take(.entered(term: epoch, recovery)) }

    /// Looks for what is due now: this process has just got the right to act.
    public func look() { take(.look) }
}

extension SettlementEngine: DifferenceSettlement {
    /// Hands an order to the payment that it is about, or makes one that undoes what no payment knows.
    public func carryOut(_ order: SettlementOrder) async throws(StoreFailure) {
        switch await ask({ .settle(ticket: $0, order) }) {
        case .failed(let failure): throw failure
        case .lost, .notAccepting:
            throw StoreFailure(.indeterminate, operation: "settle", cause: "the engine stopped")
        case .created, .duplicate, .undone, .answered, .told: break
        }
    }
}
