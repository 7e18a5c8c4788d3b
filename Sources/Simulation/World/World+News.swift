internal import PaymentCore
internal import Reconciler

/// What providers that cannot be asked tell of their own accord: late, twice and in any order, each until a process has
/// taken it in.
extension World {
    /// One piece of news.
    struct News {
        let payment: Int
        let leg: Int
        let news: EffectNews
        /// To whom it was delivered last, and under which ticket.
        var delivered: (replica: Int, ticket: Int)?
    }

    /// How long a provider waits for an acknowledgement before it delivers again.
    private static let deliversAgainAfter: Int64 = 60_000

    /// A provider that cannot be asked will tell how this ends, or that it has ended.
    mutating func planNews(
        _ wire: Wire, _ provider: Int, _ execution: Execution, _ a: UInt64, _ b: UInt64, _ c: UInt64
    ) {
        guard providers[provider].contract.inquiry == .byResend, execution.changed else { return }
        let order = wire.order
        let bits = chance.bits(59, a, b, c)
        let pending = execution.effective.pendingFor
        // What is answered as done is told as well, now and then.
        guard pending > .zero || bits & 1 == 0 else { return }
        let isDone = execution.effective.ending != .declined
        let word = ProviderWord(
            isDone ? .succeeded : .declined, reason: isDone ? nil : "declined_later", at: time + pending)
        let told = EffectNews(
            key: order.key, kind: order.kind, amount: order.kind == .void ? nil : order.amount, word: word)
        for copy in 0..<(1 + Int(bits >> 1 & 1)) {
            let longest = bits >> 8 & 7 > 0 ? 20_000 : bits >> 11 & 7 > 0 ? 7_200_000 : 200_000_000
            let late = span(longest, Chance.mixed(bits &+ UInt64(copy)))
            newsUnderWay += 1
            let slot = news.put(News(payment: wire.payment, leg: order.leg, news: told))
            push(.news(slot), after: pending.milliseconds + 5 + late)
        }
    }

    /// Delivers it to a process, and again until that has taken it in.
    mutating func deliver(_ slot: Int) {
        guard let item = news[slot] else { return }
        if let (replica, ticket) = item.delivered,
            case .told = replicas[replica].settlements.removeValue(forKey: ticket)
        {
            newsUnderWay -= 1
            _ = news.take(slot)
            return
        }
        push(.news(slot), after: World.deliversAgainAfter)
        let up = replicas.indices.filter { replicas[$0].isUp && isOpen($0) }
        guard !up.isEmpty else { return }
        let bits = chance.bits(61, UInt64(slot), UInt64(bitPattern: now), UInt64(item.payment))
        let replica = up[Chance.below(up.count, bits)]
        lastSettlement -= 1
        news[slot]?.delivered = (replica, lastSettlement)
        tell(replica, .news(ticket: lastSettlement, ids[item.payment], leg: item.leg, item.news))
    }
}
