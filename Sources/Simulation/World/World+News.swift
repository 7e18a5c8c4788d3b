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
        /// Whether it is about something else than this payment's leg.
        var isAstray = false
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
        let told = World.news(of: order, isDone: isDone, at: time + pending)
        for copy in 0..<(1 + Int(bits >> 1 & 1)) {
            let longest = bits >> 8 & 7 > 0 ? 20_000 : bits >> 11 & 7 > 0 ? 7_200_000 : 200_000_000
            let late = span(longest, Chance.mixed(bits &+ UInt64(copy)))
            newsUnderWay += 1
            let slot = news.put(News(payment: wire.payment, leg: order.leg, news: told))
            push(.news(slot), after: pending.milliseconds + 5 + late)
        }
    }

    /// A provider tells of something else than what it names: to a payment of what became of another, or of an amount
    /// that nobody asked for. Where a status can be read, a notification says nothing but "ask".
    mutating func notifyAstray(_ wire: Wire, _ provider: Int, _ a: UInt64, _ b: UInt64, _ c: UInt64) {
        guard let bits = strikes(.notificationAstray, a, b, c) else { return }
        let order = wire.order
        let late = 5 + span(bits & 1 == 0 ? 20_000 : 7_200_000, bits >> 8)
        let other = Chance.below(ids.count, bits >> 32)
        guard providers[provider].contract.inquiry == .byResend else {
            let up = replicas.indices.filter { replicas[$0].isUp && isOpen($0) }
            guard !up.isEmpty else { return }
            let replica = up[Chance.below(up.count, bits >> 16)]
            put(.returned(.tell(ids[other], [.inquireNow])), replica, ids[other], after: late)
            return
        }
        var told = World.news(of: order, isDone: bits >> 1 & 3 > 0, at: time)
        let isOfAnother = order.kind == .void || bits >> 3 & 1 == 0
        let payment = isOfAnother ? other : wire.payment
        guard !isOfAnother || payment != wire.payment else { return }
        if !isOfAnother { told.amount = World.twice(order.amount) }
        let slot = news.put(News(payment: payment, leg: order.leg, news: told, isAstray: true))
        push(.news(slot), after: late)
    }

    private static func news(of order: SendOrder, isDone: Bool, at: Timestamp) -> EffectNews {
        let word = ProviderWord(isDone ? .succeeded : .declined, reason: isDone ? nil : "declined_later", at: at)
        return EffectNews(
            key: order.key, kind: order.kind, amount: order.kind == .void ? nil : order.amount, word: word)
    }

    private static func twice(_ amount: Money) -> Money {
        do { return try amount.adding(amount) } catch { return .zero(amount.currency) }
    }

    /// What a process makes of news that are about something else.
    private func read(_ item: News, _ replica: Int) -> EffectNews {
        let known = replicas[replica].engine?.runner(of: ids[item.payment])?.payment
        guard item.isAstray, does(.newsOfAnybodyBelieved), let legs = known?.legs, legs.indices.contains(item.leg)
        else { return item.news }
        // Whatever arrives is about the payment that it was sent to.
        var news = item.news
        news.key = legs[item.leg].primary.key
        news.amount = nil
        return news
    }

    /// Delivers it to a process, and again until that has taken it in. What is about something else is delivered once:
    /// nobody waits for it.
    mutating func deliver(_ slot: Int) {
        guard let item = news[slot] else { return }
        if let (replica, ticket) = item.delivered,
            case .told = replicas[replica].settlements.removeValue(forKey: ticket)
        {
            newsUnderWay -= 1
            _ = news.take(slot)
            return
        }
        if item.isAstray {
            _ = news.take(slot)
        } else {
            push(.news(slot), after: World.deliversAgainAfter)
        }
        let up = replicas.indices.filter { replicas[$0].isUp && isOpen($0) }
        guard !up.isEmpty else { return }
        let bits = chance.bits(61, UInt64(slot), UInt64(bitPattern: now), UInt64(item.payment))
        let replica = up[Chance.below(up.count, bits)]
        lastSettlement -= 1
        news[slot]?.delivered = (replica, lastSettlement)
        tell(replica, .news(ticket: lastSettlement, ids[item.payment], leg: item.leg, read(item, replica)))
    }
}
