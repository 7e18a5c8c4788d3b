internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What is wrong about comparing, because somebody planted that.
extension World {
    var comparisonLaxness: StoreLaxness { does(.laneIgnored) ? .lanes : [] }

    /// What a run's machine is told of its provider.
    func comparedContract(_ name: ProviderName, _ replica: Int) -> ProviderContract? {
        guard var contract = contracts(replica)[name] else { return nil }
        if does(.flightIgnored) {
            contract.visibilityLag = .zero
            contract.maxRequestLife = .zero
        }
        return contract
    }

    /// By what the schedule is made.
    func scheduleSettings(_ replica: Int, after head: ComparisonRun?) -> ComparisonSettings {
        var settings = comparisonSettings(replica)
        if does(.flightIgnored) { settings.settleDelay = .zero }
        if does(.windowSkipped), let head, head.state.isFinal { settings.begin = head.window.to + settings.window }
        return settings
    }

    /// The chain's head, as the loop is told of it.
    func scheduleHead(_ head: ComparisonRun?) -> ComparisonRun? {
        does(.windowSkipped) && head?.state.isFinal == true ? nil : head
    }

    /// A page, or by sabotage the one after it.
    mutating func listed(
        _ provider: Int, _ run: ComparisonRun, after cursor: String?, limit: Int, staleBy: Span
    ) -> ListedPage {
        var page = providers[provider].list(
            run.listingWindow, after: cursor, limit: limit, at: time, staleBy: staleBy)
        if does(.storelessTakenForOurs) { page.positions = page.positions.map(\.takenForOurs) }
        guard does(.listingPageSkipped), let next = page.next else { return page }
        return providers[provider].list(run.listingWindow, after: next, limit: limit, at: time, staleBy: staleBy)
    }

    /// What the store knows of keys.
    func known(_ questions: [PositionQuestion], at name: ProviderName, _ store: StoreModel) -> [KnownPosition] {
        let known = store.positions(at: name, questions)
        guard does(.endedPaymentsForgotten) else { return known }
        return known.map { position in
            guard let ours = position.ours, ours.state.isFinal else { return position }
            return KnownPosition(key: position.key, ours: nil, row: position.row)
        }
    }

    /// What of a step is written.
    func written(_ step: ComparisonStep) -> ComparisonStep {
        guard does(.positionDropped), !step.positions.isEmpty else { return step }
        var step = step
        step.positions.removeLast()
        return step
    }
}

extension ListedPosition {
    /// The same, as if it named the store whose comparison it is.
    fileprivate var takenForOurs: ListedPosition {
        ListedPosition(
            key: key, payment: payment, leg: leg, status: status, amount: amount, captured: captured, refunds: refunds,
            createdAt: createdAt, updatedAt: updatedAt, contradiction: contradiction, others: others,
            store: store ?? SimulatedProvider.ours)
    }
}
