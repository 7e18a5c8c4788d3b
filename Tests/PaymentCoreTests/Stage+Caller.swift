import PaymentCore

/// What callers and other people do in a story.
extension Stage {
    /// The caller cancels.
    mutating func cancel(key: String = "cancel-1") throws {
        let request = CancelRequest(key: try IdempotencyKey(key), at: now)
        try operate { (machine, context) throws(OperationRefusal) in try machine.cancel(request, context) }
    }

    /// The caller cancels, and the request is written beside the holder.
    mutating func cancelBeside(key: String = "cancel-1") throws {
        let request = CancelRequest(key: try IdempotencyKey(key), at: now)
        try operateBeside { (machine, context) throws(OperationRefusal) in try machine.cancel(request, context) }
    }

    /// The caller captures: everything, or so much of each leg.
    mutating func capture(_ amounts: [Int: Int64]? = nil, key: String = "capture-1") throws {
        let name = try IdempotencyKey(key)
        let asked = try amounts?.mapValues { try Money($0, durable.amount.currency) }
        try operate { (machine, context) throws(OperationRefusal) in
            try machine.capture(key: name, amounts: asked, context)
        }
    }

    /// The caller wants money back: everything, or so much of each leg.
    mutating func refund(_ amounts: [Int: Int64]? = nil, key: String = "refund-1") throws {
        let name = try IdempotencyKey(key)
        let asked = try amounts?.mapValues { try Money($0, durable.amount.currency) }
        try operate { (machine, context) throws(OperationRefusal) in
            try machine.refund(key: name, amounts: asked, reason: nil, context)
        }
    }

    /// An older copy of the rows takes the place of the present ones, and nobody says so.
    mutating func restoreUntold(_ payment: Payment, _ entries: [AuditEntry]) {
        crash()
        judge.rowsWereLost()
        durable = payment
        trail = entries
        _ = restarted()
    }

    /// The provider of a leg.
    func provider(_ leg: Int) -> ProviderName { durable.legs[leg].provider }

    /// Something happens in the books of a leg's provider.
    mutating func atProvider(_ leg: Int, _ change: (inout Ledger, EffectKey) -> Void) {
        let key = durable.legs[leg].primary.key
        guard var ledger = ledgers[provider(leg)] else { return }
        change(&ledger, key)
        ledgers[provider(leg)] = ledger
    }

    /// What the provider of a leg took and kept.
    func net(_ leg: Int) -> Int64 { ledgers[provider(leg)]?.net(durable.legs[leg].primary.key) ?? 0 }

    /// Whether the provider of a leg holds money.
    func isHeld(_ leg: Int) -> Bool { ledgers[provider(leg)]?.isHeld(durable.legs[leg].primary.key) ?? false }

    /// Requests of a kind that left.
    func sent(_ kind: EffectKind) -> [SendOrder] { sent.filter { $0.kind == kind } }
}
