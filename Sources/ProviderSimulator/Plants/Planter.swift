import GRDB

/// Plants differences in a provider's ledger, all of an order or none, inside the caller's database transaction.
///
/// What changes a transaction changes its movements of money too: the ledger shows what the provider believes, and what
/// it believed before stands in the list of what was planted.
struct Planter {
    let table: TransactionTable
    let plants: PlantTable
    let options: ContractOptions
    /// Milliseconds since 1970, by the provider's clock.
    let now: Int64

    func plant(_ order: PlantOrder) throws -> [Planted] {
        if let (member, allowed) = order.fault { throw refusal("\(member.rawValue): \(allowed)") }
        let planted =
            order.plant == .orphan || order.plant == .foreign
            ? try (0..<order.count).map { try stranger($0, order) }
            : try chosen(by: order).map { try differ($0, order) }
        for one in planted { try plants.add(one) }
        return planted
    }

    func refusal(_ detail: String) -> SimulatorError {
        SimulatorError(.cannotPlant, detail)
    }

    /// The transactions that an order means.
    private func chosen(by order: PlantOrder) throws -> [StoredTransaction] {
        let taken = try plants.keys()
        guard let key = order.key else { return try chosen(by: order, besides: taken) }
        guard !taken.contains(key) else { throw refusal("key: something is planted there already: \(key)") }
        guard let stored = try table.find(key) else { throw refusal("key: the provider knows no \(key)") }
        guard order.plant.isEligible(stored.record) else {
            throw refusal("key: \(order.plant.rawValue) needs one that is \(order.plant.eligible)")
        }
        return [stored]
    }

    /// The first that are eligible, in an order that depends on the seed, the kind and the keys alone.
    private func chosen(by order: PlantOrder, besides taken: Set<String>) throws -> [StoredTransaction] {
        let chance = SeededChance(seed: order.seed)
        var candidates: [(draw: UInt64, id: Int64)] = []
        let rows = try Row.fetchCursor(
            table.db, sql: "SELECT id, key FROM transactions WHERE provider = ? AND live = 1",
            arguments: [table.provider])
        while let row = try rows.next() {
            let key: String = row[1]
            if !taken.contains(key) { candidates.append((chance.draw([order.plant.rawValue, key]), row[0])) }
        }
        candidates.sort { ($0.draw, $0.id) < ($1.draw, $1.id) }
        var chosen: [StoredTransaction] = []
        for candidate in candidates where chosen.count < order.count {
            if let stored = try table.find(id: candidate.id), order.plant.isEligible(stored.record) {
                chosen.append(stored)
            }
        }
        guard chosen.count == order.count else {
            throw refusal(
                "count: only \(chosen.count) can be \(order.plant.rawValue), those that are \(order.plant.eligible)")
        }
        return chosen
    }

    /// Makes one transaction differ.
    private func differ(_ stored: StoredTransaction, _ order: PlantOrder) throws -> Planted {
        let record = stored.record
        switch order.plant {
        case .hidden:
            let until = order.forMs.map { now + $0 }
            try table.list(record.key, from: until ?? .max)
            var planted = Planted(.hidden, before: record, after: record, key: record.key)
            planted.listedFrom = until
            return planted
        case .forgotten:
            try table.list(record.key, from: .max)
            try table.forget(record.key)
            return Planted(.forgotten, before: record, after: nil, key: record.key)
        case .duplicate:
            return try duplicate(record, order)
        default:
            var changed = record
            let entry = try change(&changed, order)
            changed.updatedAt = max(order.atMs ?? (order.plant.isLate ? now : record.updatedAt), record.createdAt)
            var kept = stored
            kept.record = changed
            kept.previous = stored.written
            try table.save(&kept, movements: [])
            try table.replaceMovements(of: kept, with: Movement.all(of: changed))
            var planted = Planted(order.plant, before: record, after: changed, key: record.key)
            planted.entryKey = entry
            return planted
        }
    }

    /// A key, payment or number that an order makes up.
    func invented(_ what: String, _ order: PlantOrder, _ parts: String...) -> String {
        BulkOrder.digest(["planted", what, order.plant.rawValue, String(order.seed), table.provider] + parts)
    }
}
