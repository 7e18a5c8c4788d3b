extension Planter {
    /// Changes a record as the kind of the order says.
    /// - Returns: the key of the capture or refund that was added, changed or taken away.
    func change(_ record: inout TransactionRecord, _ order: PlantOrder) throws -> String? {
        let at = max(order.atMs ?? now, record.createdAt)
        switch order.plant {
        case .amountChanged: return try changeAmount(of: &record, order)
        case .currencyChanged:
            changeCurrency(of: &record, order)
            return nil
        case .voidedElsewhere:
            record.status = .voided
            return nil
        case .capturedElsewhere:
            guard let held = record.amount else { return nil }
            let key = invented("capture", order, record.key)
            record.captures.append(Entry(succeeded: key, held, at: at))
            record.status = .captured
            return key
        case .refundAdded, .chargedBack: return try addRefund(to: &record, order, at: at)
        case .refundChanged: return try changeRefund(of: &record, order)
        case .refundMissing:
            guard let index = record.refunds.firstIndex(where: { $0.status == .succeeded }) else { return nil }
            return record.refunds.remove(at: index).key
        case .refundFailed:
            guard let index = record.refunds.firstIndex(where: { $0.status == .succeeded }) else { return nil }
            record.refunds[index].status = .declined
            record.refunds[index].reason = "account_closed"
            record.refunds[index].failedAt = at
            return record.refunds[index].key
        case .hidden, .forgotten, .orphan, .foreign, .duplicate: return nil
        }
    }

    /// Of a hold that was captured in part, the part stays as it is.
    private func changeAmount(of record: inout TransactionRecord, _ order: PlantOrder) throws -> String? {
        guard let amount = record.amount else { return nil }
        let value = order.amountValue ?? (amount.value == .max ? .max - 1 : amount.value + 1)
        guard value != amount.value, value >= record.refundedValue else {
            throw refusal(
                "amount_value: not \(amount.value), which it is, and at least \(record.refundedValue), refunded")
        }
        record.amount = amount.with(value: value)
        guard let index = record.captures.firstIndex(where: { $0.status == .succeeded }) else { return nil }
        let capture = record.captures[index]
        guard capture.amount == amount || capture.amount.value > value else { return nil }
        record.captures[index].amount = capture.amount.with(value: value)
        return capture.key
    }

    private func changeCurrency(of record: inout TransactionRecord, _ order: PlantOrder) {
        let currency = order.currency ?? (record.amount?.currency == "USD" ? "EUR" : "USD")
        func changed(_ amount: Amount) -> Amount { Amount(value: amount.value, currency: currency) }
        record.amount = record.amount.map(changed)
        for index in record.captures.indices { record.captures[index].amount = changed(record.captures[index].amount) }
        for index in record.refunds.indices { record.refunds[index].amount = changed(record.refunds[index].amount) }
    }

    private func addRefund(to record: inout TransactionRecord, _ order: PlantOrder, at: Int64) throws -> String? {
        guard let amount = record.amount else { return nil }
        let left = record.capturedValue - record.refundedValue
        let value = order.plant == .chargedBack ? left : order.amountValue ?? left / 2
        guard value <= left else { throw refusal("amount_value: at most \(left), which is left to refund") }
        let key = invented("refund", order, record.key)
        record.refunds.append(Entry(succeeded: key, amount.with(value: value), at: at))
        return key
    }

    private func changeRefund(of record: inout TransactionRecord, _ order: PlantOrder) throws -> String? {
        guard let index = record.refunds.firstIndex(where: { $0.status == .succeeded }) else { return nil }
        let refund = record.refunds[index]
        let most = record.capturedValue - record.refundedValue + refund.amount.value
        let value = order.amountValue ?? (refund.amount.value > 1 ? refund.amount.value - 1 : 2)
        guard value != refund.amount.value, value <= most else {
            throw refusal("amount_value: not \(refund.amount.value), which it is, and at most \(most)")
        }
        record.refunds[index].amount = refund.amount.with(value: value)
        return refund.key
    }

    /// A second charge of what a transaction holds or took, under another key.
    func duplicate(_ record: TransactionRecord, _ order: PlantOrder) throws -> Planted {
        let at = order.atMs ?? now
        var copy = TransactionRecord(
            key: invented("key", order, record.key), kind: record.kind, status: record.status, amount: record.amount,
            createdAt: at, updatedAt: at)
        copy.metadata = record.metadata
        if let store = order.store { copy.metadata["reconciled_store"] = store }
        copy.fingerprint = record.fingerprint
        copy.behaviour = record.behaviour
        copy.authorizedUntil = record.authorizedUntil.map { _ in at + options.authorizationLifeMs }
        copy.captures = record.captures.filter { $0.status == .succeeded }.map {
            Entry(succeeded: invented("capture", order, record.key), $0.amount, at: at)
        }
        var planted = try make(copy, order)
        planted.original = record.key
        return planted
    }

    /// A transaction that nobody asked for.
    func stranger(_ number: Int, _ order: PlantOrder) throws -> Planted {
        let (at, name) = (order.atMs ?? now, String(number))
        let drawn = SeededChance(seed: order.seed).draw([order.plant.rawValue, name])
        let amount = Amount(
            value: order.amountValue ?? 100 + Int64(drawn % 100_000), currency: order.currency ?? "JPY")
        let (onePhase, isHeld) = (order.onePhase ?? false, order.held ?? false)
        var record = TransactionRecord(
            key: order.key ?? invented("key", order, name), kind: onePhase ? .sale : .authorize,
            status: isHeld ? .authorized : .captured, amount: amount, createdAt: at, updatedAt: at)
        if !onePhase {
            record.authorizedUntil = at + options.authorizationLifeMs
            if !isHeld { record.captures = [Entry(succeeded: invented("capture", order, name), amount, at: at)] }
        }
        if order.plant == .orphan {
            record.metadata = [
                "payment": order.payment ?? "pay_" + invented("payment", order, name), "leg": String(order.leg ?? 0),
                "caller": "unknown",
            ]
            record.metadata["reconciled_store"] = order.store
        }
        record.fingerprint = PaymentOrder.fingerprint(
            kind: onePhase ? .sale : .authorize, amount, instrument: "tok_planted", record.metadata)
        return try make(record, order)
    }

    private func make(_ record: TransactionRecord, _ order: PlantOrder) throws -> Planted {
        guard try table.find(record.key) == nil else {
            throw refusal("seed: its transactions are planted already, or the key is in use: \(record.key)")
        }
        var stored = StoredTransaction(record: record)
        try table.save(&stored, movements: Movement.all(of: record))
        return Planted(order.plant, before: nil, after: record, key: record.key)
    }
}
