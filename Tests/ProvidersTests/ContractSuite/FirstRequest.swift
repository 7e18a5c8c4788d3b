import PaymentCore

// The suite begins with a hold on every wire that can hold. On one that takes at once it begins with a sale, and has no
// capture.

extension Set<SuiteTrait> {
    /// Each kind of change, after the steps that lead to where it can be made.
    var changes: [(operation: SuiteOperation, steps: [EffectKind])] {
        let first: EffectKind = contains(.holds) ? .authorize : .sale
        let taken: [EffectKind] = contains(.holds) ? [.authorize, .capture] : [.sale]
        var changes: [(SuiteOperation, [EffectKind])] = [(.authorize, [first])]
        if contains(.holds) { changes.append((.capture, taken)) }
        if contains(.voids) { changes.append((.void, [first, .void])) }
        changes.append((.refund, taken + [.refund]))
        return changes
    }
}

extension ContractSubject {
    /// Whether it holds first.
    var holds: Bool { traits.contains(.holds) }
    /// Orders of a transaction that begins as this wire begins it.
    var book: OrderBook { OrderBook(primary: holds ? .authorize : .sale) }
    /// What a transaction shows after its first request.
    var firstStatus: Observation.Status { holds ? .authorized : .captured }
    /// What the books show after a first request that was executed once.
    func once(_ value: Int64) -> SuiteBooks {
        holds ? SuiteBooks(holds: 1, held: value) : SuiteBooks(charges: 1, net: value)
    }

    /// Each kind of change, after the steps that lead to where it can be made.
    var changes: [(operation: SuiteOperation, steps: [EffectKind])] { traits.changes }
    /// Each kind of change.
    var kinds: [EffectKind] { changes.compactMap(\.steps.last) }
}
