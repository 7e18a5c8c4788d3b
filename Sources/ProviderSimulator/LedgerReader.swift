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
            let charged = transaction.charges.reduce(0) { $0 + $1.amount.value }
            total.charged += charged
            total.refunded += charged - transaction.net
            total.held += transaction.held
            total.net += transaction.net
            totals[currency] = total
        }
        return LedgerReport(
            provider: provider, totals: totals.values.sorted { $0.currency < $1.currency },
            chargedTwice: chargedTwice, requests: try counts("operation", provider),
            faults: try counts("fault", provider), transactions: transactions,
            planted: summary ? [] : try PlantTable(db: db, provider: provider).all(key: key))
    }

    /// In the order of the keys, one at a time, because there may be a million.
    /// - Parameter withStatus: without it, transactions look as if they were forgotten, and cost much less to read.
    private func eachTransaction(
        of provider: String, key: String?, withStatus: Bool, _ body: (LogicalTransaction) -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT t.id, t.key, t.live, t.state, m.kind, m.value, m.currency, m.at, m.entry_key
                FROM transactions t LEFT JOIN movements m ON m.transaction_id = t.id
                WHERE t.provider = ? \(key == nil ? "" : "AND t.key = ?") ORDER BY t.key, t.id, m.id
                """, arguments: StatementArguments([provider, key].compactMap { $0 }))
        var current: (key: String, status: TransactionStatus?, records: Set<Int64>, movements: [Movement])?
        func finish() {
            guard let done = current else { return }
            body(.init(key: done.key, status: done.status, records: done.records.count, movements: done.movements))
        }
        while let row = try rows.next() {
            let (id, key, live): (Int64, String, Bool) = (row["id"], row["key"], row["live"])
            if let open = current, open.key != key {
                finish()
                current = nil
            }
            var now = current ?? (key, nil, [], [])
            if now.records.insert(id).inserted, live, withStatus {
                now.status = try TransactionState.read(row["state"]).status
            }
            if var movement = try movement(row) {
                movement.incarnation = id
                now.movements.append(movement)
            }
            current = now
        }
        finish()
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
