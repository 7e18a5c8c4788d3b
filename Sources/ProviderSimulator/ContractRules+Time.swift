extension ContractRules {
    /// Applies everything that time alone has changed by now: what was pending is decided, a hold runs out.
    /// - Returns: the movements of money that came of it; empty with an unchanged record where nothing was
    ///   due.
    func settleDue(_ record: inout TransactionRecord) -> [Movement] {
        var movements: [Movement] = []
        while let due = record.dueAt, due <= now {
            record.updatedAt = changed(record)
            if let resolution = record.resolution, resolution.at <= now {
                movements += decidePending(resolution, &record)
            } else if let index = record.captures.firstIndex(where: isDue) {
                movements += decideEntry(index, isCapture: true, &record)
            } else if let index = record.refunds.firstIndex(where: isDue) {
                movements += decideEntry(index, isCapture: false, &record)
            } else {
                record.status = .expired
                if let amount = record.amount { movements.append(Movement(.expiry, amount, at: now)) }
            }
        }
        return movements
    }

    private func isDue(_ entry: Entry) -> Bool {
        entry.resolution.map { $0.at <= now } ?? false
    }

    private func decidePending(_ resolution: Resolution, _ record: inout TransactionRecord) -> [Movement] {
        record.resolution = nil
        guard resolution.succeeds else {
            record.status = .declined
            record.reason = "insufficient_funds"
            return []
        }
        return [accept(&record)]
    }

    private func decideEntry(_ index: Int, isCapture: Bool, _ record: inout TransactionRecord) -> [Movement] {
        let entries: WritableKeyPath<TransactionRecord, [Entry]> = isCapture ? \.captures : \.refunds
        guard let resolution = record[keyPath: entries][index].resolution else { return [] }
        record[keyPath: entries][index].resolution = nil
        guard resolution.succeeds else {
            record[keyPath: entries][index].status = .declined
            record[keyPath: entries][index].reason = "account_closed"
            return []
        }
        record[keyPath: entries][index].status = .succeeded
        return settle(record[keyPath: entries][index], isCapture, &record)
    }
}
