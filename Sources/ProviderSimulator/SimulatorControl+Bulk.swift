import GRDB

extension SimulatorControl {
    /// Makes many transactions at once, without requests: neither faults nor the journal see them.
    ///
    /// Requests are answered in between. An order that broke off can be given again and makes what is missing, if it
    /// names its time.
    public func create(_ order: BulkOrder, at provider: String) async throws -> BulkReceipt {
        let options = try contracts.options(of: provider)
        var order = order
        order.fromMs = order.fromMs ?? clock.now() + options.clockOffsetMs - order.overMs
        let carriedOut = order
        let end = order.first + order.count
        var created = 0
        for start in stride(from: order.first, to: end, by: 5_000) {
            created += try await database.write { db in
                let writer = BulkWriter(table: TransactionTable(db: db, provider: provider), options: options)
                return try writer.write(start..<min(start + 5_000, end), of: carriedOut)
            }
        }
        return BulkReceipt(created: created, existing: order.count - created, order: order)
    }
}
