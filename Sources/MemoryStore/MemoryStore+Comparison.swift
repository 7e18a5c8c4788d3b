public import PaymentCore
public import Reconciler

extension MemoryStore: ComparisonStore {
    /// Reads what is known of keys at a provider, in the order of the questions.
    public func positions(
        at provider: ProviderName, _ questions: [PositionQuestion]
    ) async throws(StoreFailure) -> [KnownPosition] {
        try perform(.positions) {
            questions.map { question in
                let ours = booked(provider, question.key)
                let named = ours == nil ? question.payment.flatMap { leg(question.leg, of: $0, at: provider) } : nil
                return KnownPosition(
                    key: question.key, ours: ours, named: named,
                    row: comparisons.rows[Comparisons.Place(provider: provider, key: question.key)])
            }
        }
    }

    /// Reads the keys of positions that agreed and that the listing showed last within a window.
    public func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) async throws(StoreFailure) -> [PositionQuestion] {
        try perform(.positions) {
            let found = comparisons.rows.values.filter { row in
                row.provider == provider && row.isAgreed && row.listedAt.map(window.contains) ?? false
            }
            let sorted = found.sorted { ($0.listedAt ?? window.from, $0.key) < ($1.listedAt ?? window.from, $1.key) }
            return sorted.prefix(max(0, limit)).map { PositionQuestion($0) }
        }
    }

    /// Reads the legs at a provider whose payment changed last within a window, in the order of ``BookedPlace``.
    public func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after place: BookedPlace?, limit: Int
    ) async throws(StoreFailure) -> BookedPage {
        try perform(.changedPositions) {
            let changed = stored.values.map(\.payment).filter { window.contains($0.updatedAt) }
            let found = changed.flatMap(\.bookedPositions).filter { position in
                position.provider == provider && place.map { BookedPlace(position) > $0 } ?? true
            }.sorted { BookedPlace($0) < BookedPlace($1) }
            let page = found.prefix(max(0, limit)).map { ours in
                let row = comparisons.rows[Comparisons.Place(provider: provider, key: ours.key)]
                return KnownPosition(key: ours.key, ours: ours, row: row)
            }
            return BookedPage(page, limit: limit)
        }
    }

    /// Reads the unsettled positions of a provider, in order of their keys.
    public func unsettledPositions(
        at provider: ProviderName, after key: EffectKey?, limit: Int
    ) async throws(StoreFailure) -> [KnownPosition] {
        try perform(.unsettledPositions) {
            let found = comparisons.rows.values.filter { row in
                row.provider == provider && row.isUnsettled && key.map { row.key > $0 } ?? true
            }.sorted { $0.key < $1.key }
            return found.prefix(max(0, limit)).map { row in
                let ours = booked(provider, row.key)
                let named =
                    ours == nil ? row.theirs?.payment.flatMap { leg(row.theirs?.leg, of: $0, at: provider) } : nil
                return KnownPosition(key: row.key, ours: ours, named: named, row: row)
            }
        }
    }

    /// What stands at a provider.
    public func standing(at provider: ProviderName) async throws(StoreFailure) -> NetSums {
        try perform(.standing) { comparisons.standing[provider] ?? NetSums() }
    }

    /// What explains the difference between the sides, counted anew.
    public func explainedDifferences(
        at provider: ProviderName
    ) async throws(StoreFailure) -> [Currency: ExplainedDifference] {
        try perform(.explainedDifferences) { () throws(StoreFailure) in
            var named = NetSums()
            var inFlight = NetSums()
            do throws(Money.Failure) {
                for found in comparisons.discrepancies.values where found.provider == provider {
                    try named.count(ours: found.oursNet, theirs: found.theirsNet)
                }
                for row in comparisons.rows.values where row.provider == provider {
                    guard row.finding == .inFlight, !row.isNamed else { continue }
                    try inFlight.count(ours: row.ours?.net, theirs: row.theirs?.net)
                }
            } catch {
                throw StoreFailure(.other, operation: "explained differences", cause: "the sums do not fit")
            }
            var explained: [Currency: ExplainedDifference] = [:]
            for line in named.lines {
                explained[line.currency, default: ExplainedDifference()].discrepancies =
                    line.sides.ours &- line.sides.theirs
            }
            for line in inFlight.lines {
                explained[line.currency, default: ExplainedDifference()].inFlight =
                    line.sides.ours &- line.sides.theirs
            }
            return explained
        }
    }

    /// Makes a step durable, or refuses it whole.
    public func record(_ step: ComparisonStep, token: LeaseToken) async throws(StoreFailure) -> StepResult {
        try perform(.recordStep) { () throws(StoreFailure) in try write(step, token) }
    }

    private func write(_ step: ComparisonStep, _ token: LeaseToken) throws(StoreFailure) -> StepResult {
        try step.check()
        guard let stored = comparisons.runs[step.run.id], !stored.state.isFinal, holds(stored, token) else {
            return .leaseLost
        }
        guard stored.version == step.run.version else { return .versionConflict }
        guard step.discrepancies.allSatisfy({ (comparisons.discrepancies[$0.id]?.version ?? 0) == $0.version }) else {
            return .discrepancyConflict
        }
        var standing = comparisons.standing[stored.provider] ?? NetSums()
        do throws(Money.Failure) {
            try standing.add(step.moved)
        } catch {
            throw StoreFailure(.other, operation: "record step", cause: "the sums do not fit")
        }
        let version = stored.version + 1
        comparisons.runs[stored.id] = step.run.stored(version: version)
        for row in step.positions {
            comparisons.rows[Comparisons.Place(provider: row.provider, key: row.key)] = row
        }
        for found in step.discrepancies {
            comparisons.discrepancies[found.id] = found.stored(version: found.version + 1)
        }
        for finding in step.findings {
            comparisons.findings[
                Comparisons.FindingPlace(run: finding.run, discrepancy: finding.discrepancy)] = finding
        }
        if !step.moved.isEmpty { comparisons.standing[stored.provider] = standing }
        if step.run.state.isFinal { comparisons.lanes[stored.lane]?.lease = nil }
        return .recorded(version: version)
    }

    /// The leg that has a key.
    private func booked(_ provider: ProviderName, _ key: EffectKey) -> BookedPosition? {
        guard let place = legs[Comparisons.Place(provider: provider, key: key)] else { return nil }
        return stored[place]?.payment.bookedPositions.first { $0.provider == provider && $0.key == key }
    }

    /// The leg that a transaction names.
    private func leg(_ index: Int?, of payment: PaymentID, at provider: ProviderName) -> BookedPosition? {
        stored[payment]?.payment.bookedPositions.first { position in
            position.provider == provider && index.map { position.leg == $0 } ?? true
        }
    }
}
