/// Balance transactions: when money moved (docs.stripe.com/api/balance_transactions/list).
extension StripeStep {
    /// A balance transaction.
    private struct Shown {
        let id: String
        /// Seconds since 1970.
        let created: Int64
        let value: JSONTree
    }

    /// Newest first, those of a time, or those by one charge, refund or dispute.
    func movements() throws -> StripeAnswer {
        while try step.settleAllDue(provider: request.provider, limit: 500) > 0 {}
        var shown: [Shown] = []
        for moved in try tables.moved(created, now: rules.now) {
            guard let intent = try tables.intent(ofRow: moved.row) else { continue }
            if let movement = try self.shown(moved, of: intent) { shown.append(movement) }
        }
        for row in try tables.disputed() {
            guard let intent = try tables.intent(ofRow: row) else { continue }
            shown += try disputes(of: intent)
        }
        return page(shown.sorted { ($0.created, $0.id) > ($1.created, $1.id) }.map { ($0.id, $0.value) })
    }

    private func shown(_ moved: StripeTables.Moved, of intent: StripeIntent) throws -> Shown? {
        guard moved.isRefund else {
            guard let charge = intent.charges.last?.id else { return nil }
            return try movement(
                by: charge, "charge", moved.value, moved.at, of: intent,
                whole: { $0.charges(withIntent: false, withRefunds: false, withMovement: false).first?.value })
        }
        let id = intent.refundID(moved.entryKey ?? "")
        return try movement(
            by: id, moved.hasFailed ? "refund_failure" : "refund", moved.hasFailed ? moved.value : -moved.value,
            moved.at, of: intent,
            // What a lost dispute gave back is shown by the dispute, and is no refund.
            whole: { $0.refunds.first { $0.id == id }?.value })
    }

    /// What is disputed is taken back at once, whoever wins later (docs.stripe.com/disputes/how-disputes-work).
    private func disputes(of intent: StripeIntent) throws -> [Shown] {
        let disputes = try viewed(intent).record?.disputes ?? []
        return try disputes.compactMap { dispute in
            guard created.contains(dispute.createdAt / 1_000) else { return nil }
            return try movement(
                by: dispute.id, "adjustment", -dispute.amount.value, dispute.createdAt, of: intent,
                whole: { $0.disputes.first { $0.id == dispute.id }?.value })
        }
    }

    /// Nil where it is not asked for, or where this read does not see its source.
    private func movement(
        by source: String, _ type: String, _ amount: Int64, _ at: Int64, of intent: StripeIntent,
        whole: (StripeShapes) -> JSONTree?
    ) throws -> Shown? {
        if let asked = call.parameters["source"], asked != source { return nil }
        let shapes = try viewed(intent)
        guard let value = whole(shapes) else { return nil }
        let shown = call.expands("data.source") ? value : .text(source)
        let id = type == "refund_failure" ? StripeShapes.failureID(of: source) : StripeShapes.movementID(by: source)
        return Shown(
            id: id, created: at / 1_000, value: shapes.movement(id, type, amount, at: at, source: shown))
    }
}
