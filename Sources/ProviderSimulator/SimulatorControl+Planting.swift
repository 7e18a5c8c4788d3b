import GRDB

extension SimulatorControl {
    /// Plants differences, all of the order or none. No transaction differs in two ways.
    /// - Returns: what was planted, in the order in which it was chosen.
    /// - Throws: `SimulatorError` with `cannotPlant` where the provider has no such transactions, or not so many.
    @discardableResult
    public func plant(_ order: PlantOrder, at provider: String) async throws -> [Planted] {
        let options = try contracts.options(of: provider)
        let now = clock.now() + options.clockOffsetMs
        return try await database.write { db in
            try Planter(
                table: TransactionTable(db: db, provider: provider), plants: PlantTable(db: db, provider: provider),
                options: options, now: now
            ).plant(order)
        }
    }

    /// All that was planted, in order.
    /// - Parameter key: only what is about this transaction.
    public func planted(at provider: String, key: String? = nil) async throws -> [Planted] {
        try known(provider)
        return try await database.read { try PlantTable(db: $0, provider: provider).all(key: key) }
    }
}
