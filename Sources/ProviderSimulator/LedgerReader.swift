import GRDB

/// Reads reports from a ledger.
///
/// Every function runs inside the caller's database transaction.
struct LedgerReader {
    let db: Database

    /// The names under which anything was recorded.
    func providers() throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT provider FROM journal UNION SELECT provider FROM transactions ORDER BY provider")
    }

    /// - Parameters:
    ///   - key: restricts transactions, totals and what was charged twice to this key; counters stay whole.
    ///   - summary: leaves the single transactions out.
    func report(_ provider: String, key: String? = nil, summary: Bool = false) throws -> LedgerReport {
        var (totals, chargedTwice, transactions) = ([String: LedgerTotals](), [String](), [LogicalTransaction]())
        try eachTransaction(of: provider, key: key, withStatus: !summary) { transaction in
            if transaction.isChargedTwice { chargedTwice.append(transaction.key) }
            if !summary { transactions.append(transaction) }
            guard let currency = transaction.currency else { return }
            var total = totals[currency] ?? LedgerTotals(currency: currency)
            let charged = transaction.charges.map(\.amount.value).sumAsFarAsPossible
            total.charged = total.charged.addedAsFarAsPossible(charged)
            total.refunded = total.refunded.addedAsFarAsPossible(charged.lessAsFarAsPossible(transaction.net))
            total.held = total.held.addedAsFarAsPossible(transaction.held)
            total.net = total.net.addedAsFarAsPossible(transaction.net)
            totals[currency] = total
        }
        return LedgerReport(
            provider: provider, totals: totals.values.sorted { $0.currency < $1.currency },
            chargedTwice: chargedTwice.sorted(), requests: try counts("operation", provider),
            faults: try counts("fault", provider), transactions: transactions.sorted { $0.key < $1.key },
            planted: summary ? [] : try PlantTable(db: db, provider: provider).all(key: key))
    }

    /// One at a time and in the order of the rows, because there may be a million, and any other order has to be
    /// sorted. Only where a key was forgotten there may be several records of one transaction, which are put together.
    /// - Parameter withStatus: without it, transactions look as if they were forgotten, and cost much less to read.
    private func eachTransaction(
        of provider: String, key: String?, withStatus: Bool, _ body: (LogicalTransaction) -> Void
    ) throws {
        let forgotten = Set(
            try String.fetchAll(
                db, sql: "SELECT key FROM transactions WHERE provider = ? AND live = 0", arguments: [provider]))
        var several: [String: Records] = [:]
        var current: (id: Int64, key: String, records: Records)?
        func finish() {
            guard let (_, key, records) = current else { return }
            guard forgotten.contains(key) else { return body(records.transaction(key)) }
            several[key] = Records(several[key], records)
        }
        let rows = try movementRows(of: provider, key: key, withStatus: withStatus)
        while let row = try rows.next() {
            let (id, live): (Int64, Bool) = (row["id"], row["live"])
            if current?.id != id {
                finish()
                let status = withStatus && live ? try TransactionState.read(row["state"]).status : nil
                current = (id, row["key"], Records(status: status))
            }
            guard var movement = try movement(row) else { continue }
            movement.incarnation = id
            current?.records.movements.append(movement)
        }
        finish()
        for (key, records) in several { body(records.transaction(key)) }
    }

    private func movementRows(of provider: String, key: String?, withStatus: Bool) throws -> RowCursor {
        let one = """
            t.id IN (SELECT id FROM transactions WHERE provider = ? AND key = ? AND live = 1
                UNION ALL SELECT id FROM transactions WHERE provider = ? AND key = ? AND live = 0)
            """
        // The sign keeps the planner from an index of the provider, from which it would have to sort.
        return try Row.fetchCursor(
            db,
            sql: """
                SELECT t.id, t.key, t.live, m.kind, m.value, m.currency, m.at, m.entry_key
                \(withStatus ? ", t.state" : "") FROM transactions t LEFT JOIN movements m ON m.transaction_id = t.id
                WHERE \(key == nil ? "+t.provider = ?" : one) ORDER BY t.id, m.id
                """, arguments: key.map { [provider, $0, provider, $0] } ?? [provider])
    }

    private func movement(_ row: Row) throws -> Movement? {
        guard let name: String = row["kind"] else { return nil }
        guard let kind = MovementKind(rawValue: name) else {
            throw SimulatorError(.ledgerUnreadable, "a movement of an unknown kind")
        }
        return Movement(
            kind, Amount(value: row["value"], currency: row["currency"]), at: row["at"],
            entryKey: row["entry_key"])
    }

    /// - Parameter column: one of this type's own constants, never input.
    private func counts(_ column: String, _ provider: String) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT \(column) AS name, count(*) AS count FROM journal
                WHERE provider = ? AND origin = 'client' AND \(column) IS NOT NULL GROUP BY \(column)
                """, arguments: [provider])
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["count"]) })
    }
}

/// What is recorded under one key.
private struct Records {
    var status: TransactionStatus?
    var count = 1
    var movements: [Movement] = []

    init(status: TransactionStatus?) {
        self.status = status
    }

    /// Earlier records and a later one.
    init(_ earlier: Records?, _ later: Records) {
        self = later
        guard let earlier else { return }
        status = later.status ?? earlier.status
        count = earlier.count + later.count
        movements = earlier.movements + later.movements
    }

    func transaction(_ key: String) -> LogicalTransaction {
        LogicalTransaction(key: key, status: status, records: count, movements: movements)
    }
}
