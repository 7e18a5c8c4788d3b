// What a provider that cannot be asked said of an effect, and whether anything is missing.

extension Effect {
    /// Whether nobody knows what became of its requests, where that is learned by sending again.
    ///
    /// A refusal that names the key settles it, since a key that stands for something is answered by that. But a copy
    /// of an earlier request may arrive after it: it counts only where it was sent after the life of all before it. One
    /// of our credentials says nothing of the key.
    package func isInDoubt(_ contract: ProviderContract) -> Bool {
        guard word == nil else { return false }
        if open != nil { return true }
        let left = attempts - (unsent ?? 0)
        guard left > 0, worst > .unsent, keyConflicts != true else { return false }
        // A copy of it may yet be executed.
        if worst == .throttled { return true }
        // It was answered, and the answer is no word: it contradicted what was asked. Its key gives it again.
        if lastOutcome == .accepted || lastOutcome == .declined { return true }
        guard lastOutcome == .refused, isRefusalKeyless != true else { return worst == .indeterminate || left > 1 }
        if isCredentialRefusal == true { return true }
        guard let earlier = earlierIntentAt, let last = lastIntentAt else { return false }
        return last - earlier <= contract.maxRequestLife + contract.clockSkew
    }

    /// Nobody knows what became of its requests: it is asked about, and sent again under its key if it is not there.
    mutating func isInDoubtAgain() {
        guard attempts > 0 else { return }
        worst = .indeterminate
        lastOutcome = .indeterminate
        lastCode = Effect.outcomeUnknown
        acceptedAt = nil
        word = nil
        keyConflicts = nil
        isRefusalKeyless = nil
    }

    /// As a provider lists it.
    var movement: Observation.Movement? {
        word.map { Observation.Movement(key: key, amount: amount, state: $0.state, reason: $0.reason) }
    }

    /// Takes a word in, unless a newer one is known.
    mutating func hear(_ news: ProviderWord, isDateSigned: Bool = true) {
        guard let known = word else {
            word = news
            return
        }
        // The answer that a key keeps says what was so at first, and every end is newer than that. Two ends follow each
        // other by the provider's clock, which may count in seconds: then what went wrong came last. People's word
        // gives way.
        guard news.state != .pending else { return }
        // What a key was answered at first may be older than its request.
        if known.isTold == true, known.state != .pending, news.isTold != true { return }
        guard isDateSigned || !isUndone(by: news) else { return }
        let isNewer = news.at > known.at || news.at == known.at && news.state == .declined
        if known.state == .pending || known.reason == Leg.Gone.byPeople || isNewer { word = news }
    }

    /// Whether the provider told that it failed, and a word says that it was done. Done comes before failed: whoever
    /// may choose the moment of an old word would make it the last.
    func isUndone(by news: ProviderWord) -> Bool {
        guard let word, word.isTold == true else { return false }
        return word.state == .declined && news.state == .succeeded
    }

    /// What an answer says of what the effect's key stands for; `nil` where it says nothing that binds.
    func word(in report: AttemptReport, at: Timestamp) -> ProviderWord? {
        switch report.outcome {
        case .declined:
            return report.namesKey
                ? ProviderWord(.declined, reason: report.observation?.reason ?? report.code, at: at) : nil
        case .accepted: return ProviderWord(state(in: report.observation), at: at)
        case .unsent, .throttled, .refused, .indeterminate: return nil
        }
    }

    /// What an answer that accepts the request shows of the effect.
    private func state(in seen: Observation?) -> Observation.Movement.State {
        guard let seen else { return .pending }
        switch kind {
        case .authorize, .sale: return seen.status == .pending ? .pending : .succeeded
        case .capture: return seen.captures.first { $0.key == key }?.state ?? .pending
        case .refund: return seen.refunds.first { $0.key == key }?.state ?? .pending
        case .void: return [.voided, .tombstoned, .expired, .declined].contains(seen.status) ? .succeeded : .pending
        }
    }
}
