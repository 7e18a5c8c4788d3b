// What a provider that cannot be asked tells later.

@testable import PaymentCore

extension Ledger.Entry {
    /// What may still be given back: nothing of it is claimed by a refund that is undecided.
    var unclaimed: Int64 {
        net - refunds.filter { $0.state == .pending }.reduce(0) { $0 + $1.amount.value }
    }

    mutating func decideMovements() {
        for index in captures.indices where captures[index].state == .pending {
            captures[index].state = .succeeded
            status = .captured
        }
        for index in refunds.indices where refunds[index].state == .pending { refunds[index].state = .succeeded }
    }
}

extension Ledger {
    /// What a capture or a refund comes to at once: a provider that cannot be asked says later how it ended.
    mutating func state(
        declined: Bool, _ index: Int, at now: Timestamp
    ) -> Observation.Movement.State {
        if declined { return .declined }
        guard contract.inquiry == .byResend, pendingFor > .zero else { return .succeeded }
        entries[index].movementPendingUntil = now + pendingFor
        return .pending
    }

    /// What a provider that cannot be asked tells of its own accord, once something is decided that was not.
    func news(since before: Ledger, at now: Timestamp) -> [EffectNews] {
        guard contract.inquiry == .byResend else { return [] }
        var news: [EffectNews] = []
        for (old, new) in zip(before.entries, entries) {
            if old.status == .pending, new.status != .pending {
                let state: Observation.Movement.State = new.status == .declined ? .declined : .succeeded
                news.append(
                    EffectNews(key: new.key, kind: new.kind, amount: new.amount, word: ProviderWord(state, at: now)))
            }
            for (kind, before, after) in [
                (EffectKind.capture, old.captures, new.captures), (.refund, old.refunds, new.refunds),
            ] {
                for (one, other) in zip(before, after) where one.state == .pending && other.state != .pending {
                    let word = ProviderWord(other.state, at: now)
                    news.append(EffectNews(key: other.key, kind: kind, amount: other.amount, word: word))
                }
            }
        }
        return news
    }
}
