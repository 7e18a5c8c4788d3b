import GRDB

/// Executes requests against the ledger inside one database transaction.
struct ExecutionStep {
    let db: Database
    let clock: SimulatorClock
    let contracts: ContractDesk

    /// - Parameter chance: for a decline by chance, in 0..<1.
    func execute(_ request: ProviderRequest, fault: Fault?, chance: Double) throws -> Answer {
        let answer = try executed(request, fault: fault, chance: chance).naming(request)
        return try contracts.options(of: request.provider).refundKeys ? answer : answer.withoutRefundKeys
    }

    private func executed(_ request: ProviderRequest, fault: Fault?, chance: Double) throws -> Answer {
        let options = try contracts.options(of: request.provider)
        let now = clock.now() + options.clockOffsetMs
        let rules = ContractRules(options: options, now: now, twist: Twist(fault), chance: chance)
        let table = TransactionTable(db: db, provider: request.provider)
        if case .list(let query) = request.command {
            guard options.listing else { return .problem(.notFound) }
            return try list(query, table, rules)
        }
        if case .refused(let problem) = request.command { return .problem(problem) }
        if case .stripe(let call) = request.command {
            let answer = try execute(call, request, fault: fault, table, rules)
            return Answer(status: answer.status, content: .stripe(answer))
        }
        if fault?.kind == .keyForgotten { try table.forget(request.key) }
        if case .paypay(let call) = request.command {
            let answer = try PayPayStep(
                step: self, call: call, request: request, fault: fault, table: table, contract: rules
            ).execute()
            return Answer(status: answer.status, content: .paypay(answer))
        }
        if case .adyen(let call) = request.command {
            let answer = try AdyenStep(
                step: self, call: call, request: request, fault: fault, table: table, contract: rules
            ).execute()
            return Answer(status: answer.status, content: .adyen(answer))
        }

        let found = try settled(request.key, table, rules)
        if request.operation.inquires {
            return try inquire(request, found, fault, table, rules).answer
        }
        let execution = rules.execute(request, on: found?.record)
        guard let record = execution.record, record != found?.record else { return execution.answer }
        _ = try save(record, over: found, execution.movements, fault, table, now: now)
        return execution.answer
    }

    /// Writes a state over the one before, which inquiries go on to show where the fault says so.
    func save(
        _ record: TransactionRecord, over found: StoredTransaction?, _ movements: [Movement], _ fault: Fault?,
        _ table: TransactionTable, now: Int64
    ) throws -> StoredTransaction {
        var changed = found ?? StoredTransaction(record: record)
        changed.previous = found?.written
        changed.record = record
        if let staleMs = fault?.staleMs ?? (fault?.kind == .staleInquiry ? 2000 : nil) {
            // A second change within the window keeps the older view: that replica has seen neither.
            if !isStale(changed, now) { changed.staleState = found?.written }
            changed.staleUntil = now + staleMs
        }
        try table.save(&changed, movements: movements)
        return changed
    }

    /// The transaction as an inquiry sees it.
    func viewed(
        _ found: StoredTransaction, _ fault: Fault?, _ table: TransactionTable, now: Int64
    ) throws -> TransactionRecord? {
        var stored = found
        if fault?.kind == .staleInquiry {
            if !isStale(stored, now) { stored.staleState = stored.previous }
            stored.staleUntil = now + (fault?.staleMs ?? 2000)
            try table.save(&stored, movements: [])
        }
        guard isStale(stored, now) else { return stored.record }
        return try stored.staleState.map(TransactionState.read)
    }

    /// Applies what time alone has changed in this provider by now, so that a listing shows it.
    func settleAllDue(provider: String, limit: Int) throws -> Int {
        let options = try contracts.options(of: provider)
        let rules = ContractRules(options: options, now: clock.now() + options.clockOffsetMs)
        let table = TransactionTable(db: db, provider: provider)
        let due = try table.due(by: rules.now, limit: limit)
        for stored in due { _ = try settle(stored, table, rules) }
        return due.count
    }

    /// The transaction as it is now: forgotten if its retention has passed, otherwise brought up to date.
    func settled(_ key: String, _ table: TransactionTable, _ rules: ContractRules) throws
        -> StoredTransaction?
    {
        guard let stored = try table.find(key) else { return nil }
        let current = try settle(stored, table, rules)
        if let retention = rules.options.keyRetentionMs, rules.now > current.record.createdAt + retention {
            try table.forget(key)
            return nil
        }
        return current
    }

    func settle(_ stored: StoredTransaction, _ table: TransactionTable, _ rules: ContractRules) throws
        -> StoredTransaction
    {
        var current = stored
        let movements = rules.settleDue(&current.record)
        guard current.record != stored.record else { return stored }
        current.previous = stored.written
        try table.save(&current, movements: movements)
        return current
    }

    private func inquire(
        _ request: ProviderRequest, _ found: StoredTransaction?, _ fault: Fault?,
        _ table: TransactionTable,
        _ rules: ContractRules
    ) throws -> Execution {
        rules.inquire(request, try found.flatMap { try viewed($0, fault, table, now: rules.now) })
    }

    private func isStale(_ stored: StoredTransaction, _ now: Int64) -> Bool {
        stored.staleUntil.map { now < $0 } ?? false
    }

    private func list(_ query: ListQuery, _ table: TransactionTable, _ rules: ContractRules) throws -> Answer {
        while try settleAllDue(provider: table.provider, limit: 500) > 0 {}
        let found = try table.list(query, now: rules.now)
        let page = found.prefix(query.limit)
        var next: String?
        if found.count > query.limit, let last = page.last {
            let position = ListQuery.Position(
                updatedAt: last.record.updatedAt, key: last.record.key, id: last.id)
            next = ListCursor(position: position, updatedBefore: query.updatedBefore).text
        }
        return Answer(status: 200, content: .page(page.map(\.record), nextCursor: next))
    }
}

extension Twist {
    /// The part of a fault that bends the execution.
    fileprivate init(_ fault: Fault?) {
        self.init()
        guard let fault else { return }
        switch fault.kind {
        case .declineBound: decline = .bound
        case .declineUnbound: decline = .unbound
        case .pending: pending = (fault.delayMs ?? 2000, fault.outcome != .declined)
        case .amountChanged:
            changesAmount = true
            changedValue = fault.amountValue
        default: break
        }
    }
}
