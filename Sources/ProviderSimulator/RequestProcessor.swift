import GRDB

/// Takes requests through fault, contract, ledger and journal, each in one database transaction: what was
/// answered is committed, and what was not committed was not answered.
struct RequestProcessor: Sendable {
    let database: DatabaseQueue
    let desk: FaultDesk
    let clock: SimulatorClock
    let contracts: ContractDesk
    private let inProgress = KeysInProgress()

    init(database: DatabaseQueue, desk: FaultDesk, clock: SimulatorClock, contracts: ContractDesk) {
        self.database = database
        self.desk = desk
        self.clock = clock
        self.contracts = contracts
    }

    /// A request that a caller sent.
    func receive(_ request: ProviderRequest) async throws -> Delivery {
        try await database.write { db in try receive(request, db) }
    }

    /// A request that waited before it executes.
    func arrive(_ request: ProviderRequest) async throws -> Answer {
        try await database.write { db in
            let answer = try step(db).execute(request, fault: nil, chance: 1)
            try Journal(db: db).add(
                request, at: clock.now(), origin: .delayed, fault: .slow, result: answer.status,
                status: answer.status)
            return answer
        }
    }

    /// What happens without a request: delayed requests arrive, pending things are decided, holds run out.
    func passTime() async throws {
        let providers = contracts.providers
        guard try await database.read({ try isAnythingDue(providers, $0) }) else { return }
        try await database.write { db in
            for provider in providers {
                for request in try LateDeliveries(db: db).take(
                    provider: provider, by: clock.now(), limit: 100)
                {
                    let answer = try step(db).execute(request, fault: nil, chance: 1)
                    try Journal(db: db).add(
                        request, at: clock.now(), origin: .late, fault: .lateDelivery, result: answer.status,
                        status: nil)
                }
                _ = try step(db).settleAllDue(provider: provider, limit: 500)
            }
        }
    }

    private func isAnythingDue(_ providers: [String], _ db: Database) throws -> Bool {
        for provider in providers {
            let now = clock.now()
            let providerNow = now + (try contracts.options(of: provider)).clockOffsetMs
            let statement = try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM deliveries WHERE provider = ? AND due_at <= ?)
                    OR EXISTS (SELECT 1 FROM transactions WHERE provider = ? AND due_at <= ?)
                    """)
            if try Bool.fetchOne(statement, arguments: [provider, now, provider, providerNow]) == true {
                return true
            }
        }
        return false
    }

    private func step(_ db: Database) -> ExecutionStep {
        ExecutionStep(db: db, clock: clock, contracts: contracts)
    }

    private func receive(_ request: ProviderRequest, _ db: Database) throws -> Delivery {
        let request = try step(db).named(request)
        let journal = Journal(db: db)
        let now = clock.now()
        let attempt = try journal.countAttempt(request)
        if let mode = desk.down(request.provider, at: now) {
            let answer =
                mode == .unavailable ? Answer.problem(.unavailable, retryAfterSeconds: 1).naming(request) : nil
            try journal.add(
                request, at: now, origin: .client, fault: .down, result: nil, status: answer?.status)
            return answer.map { .answer($0, afterMs: 0) } ?? .close(afterMs: 0)
        }
        if let refusal = inProgress.refusal(of: request, now: now) {
            try journal.add(request, at: now, origin: .client, fault: nil, result: nil, status: refusal.status)
            return .answer(refusal, afterMs: 0)
        }
        let fault = desk.decide(request, attempt: attempt)
        if fault?.kind == .slow { inProgress.keep(request, until: now + (fault?.delayMs ?? 10_000), now: now) }
        if let fault, let delivery = try withhold(request, fault, db) {
            var status: Int?
            if case .answer(let answer, _) = delivery { status = answer.status }
            try journal.add(request, at: now, origin: .client, fault: fault.kind, result: nil, status: status)
            return delivery
        }
        let chance = desk.declineChance(request, attempt: attempt)
        let answer = try step(db).execute(request, fault: fault, chance: chance)
        let delivery = spoil(answer, fault, request)
        if fault?.kind == .errorAfter, !answer.isReplay { try step(db).keepError(request, isExecuted: true) }
        try journal.add(
            request, at: now, origin: .client, fault: fault?.kind, result: answer.status,
            status: delivery.status)
        if fault?.kind == .duplicated {
            let second = try step(db).execute(request, fault: nil, chance: 1)
            try journal.add(
                request, at: now, origin: .duplicate, fault: .duplicated, result: second.status, status: nil)
        }
        return delivery
    }

    /// Faults under which nothing executes now; nil for all others.
    private func withhold(_ request: ProviderRequest, _ fault: Fault, _ db: Database) throws -> Delivery? {
        switch fault.kind {
        case .requestLost:
            return .close(afterMs: fault.holdMs ?? 0)
        case .lateDelivery:
            try LateDeliveries(db: db).add(request, dueAt: clock.now() + (fault.delayMs ?? 2000))
            return .close(afterMs: fault.holdMs ?? 0)
        case .errorBefore:
            try step(db).keepError(request, isExecuted: false)
            return .answer(.problem(.internalError).naming(request), afterMs: 0)
        case .throttled:
            let answer = Answer.problem(.rateLimited, retryAfterSeconds: fault.retryAfter ?? 1)
            return .answer(answer.naming(request), afterMs: 0)
        case .unavailable:
            let answer = Answer.problem(.unavailable, retryAfterSeconds: fault.retryAfter ?? 1)
            return .answer(answer.naming(request), afterMs: 0)
        case .slow where fault.execute == .after:
            return .executeLater(request, afterMs: fault.delayMs ?? 10_000)
        default:
            return nil
        }
    }

    /// Faults of the answer of something that did execute.
    private func spoil(_ answer: Answer, _ fault: Fault?, _ request: ProviderRequest) -> Delivery {
        switch fault?.kind {
        case .responseLost: .close(afterMs: fault?.holdMs ?? 0)
        case .slow: .answer(answer, afterMs: fault?.delayMs ?? 10_000)
        case .errorAfter: .answer(.problem(.internalError).naming(request), afterMs: 0)
        case .html: .answer(.html, afterMs: 0)
        case .truncated: .truncated(answer)
        case .missingStatus: .answerWithoutStatus(answer)
        default: .answer(answer, afterMs: 0)
        }
    }
}

extension Delivery {
    /// The status that is sent now or after the wait; nil when none is.
    fileprivate var status: Int? {
        switch self {
        case .answer(let answer, _), .answerWithoutStatus(let answer), .truncated(let answer): answer.status
        case .close, .executeLater: nil
        }
    }
}
