/// Money that was given back by a request of which no row tells, because rows were lost, as its provider shows it.
///
/// Its caller may have been told of it, and never ask again. Who asks again under its key has it back as its own.
public struct FoundRefund: Sendable, Hashable, Codable {
    /// The leg's index.
    public let leg: Int
    /// The key under which its provider shows it.
    public let key: EffectKey
    /// How much was given back.
    public let amount: Money
    /// When it was found.
    public let at: Timestamp
}

/// A search for refunds of which no row tells: a comparison over lost rows found one. It is no evidence, and a refund
/// may be of several legs: all are read.
public struct RefundSearch: Sendable, Hashable, Codable {
    /// The legs that are yet to be read, in order.
    public internal(set) var legs: [Int]
    /// Reads that began before this moment do not count.
    public let since: Timestamp
}

extension Payment {
    /// Refunds that were found of one leg.
    func refundsFound(ofLeg index: Int) -> [FoundRefund] { (foundRefunds ?? []).filter { $0.leg == index } }

    /// Whether refunds of a leg are looked for.
    func isSearched(leg index: Int) -> Bool { refundSearch?.legs.contains(index) ?? false }
}

extension PaymentMachine {
    /// Looks for refunds of which no row tells.
    mutating func searchRefunds(_ context: MachineContext) {
        let legs = payment.legs.filter { leg in
            !leg.capturedAmount.isZero && contract(of: leg, context)?.refundVisibility == .byKey
        }
        payment.refundSearch = RefundSearch(legs: legs.map(\.index), since: context.now)
        for leg in legs {
            payment.legs[leg.index].notBefore = context.now
            payment.legs[leg.index].inquiries = 0
        }
    }

    /// Asks about the legs that are searched, and takes in what is shown; also what other reads show while rows that
    /// were lost matter.
    mutating func findRefunds(_ actions: inout [PaymentAction], _ context: MachineContext) {
        for leg in payment.legs where contract(of: leg, context)?.refundVisibility == .byKey {
            let isSearched = payment.isSearched(leg: leg.index)
            guard isSearched || payment.mayHaveLostRequests else { continue }
            let since = isSearched ? payment.refundSearch?.since ?? context.now : payment.createdAt
            if let known = leg.believed(in: payment.recovery), known.source == .inquiry, known.began >= since,
                known.status != .unavailable, known.status != .pending, !known.showsPendingMovement
            {
                takeIn(known, leg: leg.index, context)
                payment.refundSearch?.legs.removeAll { $0 == leg.index }
            } else if isSearched {
                ask(leg: leg.index, &actions, context)
            }
        }
        if payment.refundSearch?.legs.isEmpty == true { payment.refundSearch = nil }
    }

    private mutating func takeIn(_ known: Observation, leg index: Int, _ context: MachineContext) {
        let asked = payment.refunds.flatMap(\.parts).filter { $0.leg == index }.map(\.effect.key)
        // What undid the leg is ours as well, though no caller asked for it.
        let ours = asked + [payment.legs[index].compensation?.key].compactMap(\.self)
        let found = payment.refundsFound(ofLeg: index).map(\.key)
        for shown in known.refunds where shown.state == .succeeded && !(ours + found).contains(shown.key) {
            guard shown.amount.currency == payment.amount.currency else { continue }
            let refund = FoundRefund(leg: index, key: shown.key, amount: shown.amount, at: context.now)
            payment.foundRefunds = (payment.foundRefunds ?? []) + [refund]
            record(
                .operation, leg: index,
                [
                    AuditField("operation", "refund found"), AuditField("refund", shown.key.text),
                    AuditField("amount", shown.amount.description),
                ], context)
        }
    }

    /// What was found of the refund that a caller asks for, by leg: it asks again under its key.
    func foundRefunds(by key: IdempotencyKey, _ context: MachineContext) -> [Int: FoundRefund] {
        var mine: [Int: FoundRefund] = [:]
        for found in payment.foundRefunds ?? [] {
            let ours = effectKey(.refund, operation: key, leg: payment.legs[found.leg], context)
            if found.key == ours { mine[found.leg] = found }
        }
        return mine
    }

    /// They are among the refunds that were asked for from now on.
    mutating func forget(_ named: [Int: FoundRefund]) {
        let left = (payment.foundRefunds ?? []).filter { named[$0.leg] != $0 }
        payment.foundRefunds = left.isEmpty ? nil : left
    }
}
