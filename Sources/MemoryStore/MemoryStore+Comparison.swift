public import PaymentCore
public import Reconciler

extension MemoryStore: ComparisonStore {
    /// Reads what is known of keys at a provider, in the order of the questions.
    public func positions(
        at provider: ProviderName, _ questions: [PositionQuestion]
    ) async throws(StoreFailure) -> [KnownPosition] {
        try perform(.positions) { model.positions(at: provider, questions) }
    }

    /// Reads the keys of positions that agreed and that the listing showed last within a window.
    public func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) async throws(StoreFailure) -> [PositionQuestion] {
        try perform(.positions) { model.comparisons.listedKeys(at: provider, in: window, limit: limit) }
    }

    /// Reads the legs at a provider whose payment changed last within a window, in the order of ``BookedPlace``.
    public func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after cursor: BookedPlace?, limit: Int
    ) async throws(StoreFailure) -> BookedPage {
        try perform(.changedPositions) {
            model.changedPositions(at: provider, in: window, after: cursor, limit: limit)
        }
    }

    /// Reads the unsettled positions of a provider, in order of their keys.
    public func unsettledPositions(
        at provider: ProviderName, after key: EffectKey?, limit: Int
    ) async throws(StoreFailure) -> [KnownPosition] {
        try perform(.unsettledPositions) { model.unsettledPositions(at: provider, after: key, limit: limit) }
    }

    /// What stands at a provider.
    public func standing(at provider: ProviderName) async throws(StoreFailure) -> NetSums {
        try perform(.standing) { model.comparisons.standing[provider] ?? NetSums() }
    }

    /// What explains the difference between the sides, counted anew.
    public func explainedDifferences(
        at provider: ProviderName
    ) async throws(StoreFailure) -> [Currency: ExplainedDifference] {
        try perform(.explainedDifferences) { () throws(StoreFailure) in
            do throws(Money.Failure) {
                return try model.comparisons.explainedDifferences(at: provider)
            } catch {
                throw StoreFailure(.other, operation: "explained differences", cause: "the sums do not fit")
            }
        }
    }

    /// Makes a step durable, or refuses it whole.
    public func record(_ step: ComparisonStep, token: LeaseToken) async throws(StoreFailure) -> StepResult {
        try perform(.recordStep) { () throws(StoreFailure) in
            let result = try model.comparisons.judge(step, token)
            if case .recorded(let version) = result { try take(.step(step, version: version)) }
            return result
        }
    }

    /// Reads discrepancies by their identifiers; those that do not exist are left out.
    public func discrepancies(_ ids: [DiscrepancyID]) async throws(StoreFailure) -> [Discrepancy] {
        try perform(.discrepanciesByID) { model.comparisons.discrepancies(ids) }
    }

    /// Reads discrepancies, oldest first by (opened_at, id), 1 to 200 at a time.
    public func discrepancies(
        _ query: DiscrepancyQuery
    ) async throws(StoreFailure) -> CursorPage<Discrepancy, DiscrepancyCursor> {
        try perform(.discrepancies) { model.comparisons.discrepancies(query) }
    }

    /// Makes a person's change of a discrepancy durable; `nil` if another was first or it does not exist.
    public func change(_ discrepancy: Discrepancy) async throws(StoreFailure) -> Discrepancy? {
        try perform(.changeDiscrepancy) { () throws(StoreFailure) in
            guard let changed = model.comparisons.changing(discrepancy) else { return nil }
            try take(.changed(changed))
            return changed
        }
    }

    /// Counts the discrepancies that are not closed, in order of provider and class.
    public func discrepancyCounts() async throws(StoreFailure) -> [DiscrepancyCount] {
        try perform(.discrepancyCounts) { model.comparisons.discrepancyCounts() }
    }

    /// Makes a change that was allowed durable.
    func take(_ change: ComparisonChange) throws(StoreFailure) {
        do throws(Money.Failure) {
            try model.apply(change)
        } catch {
            throw StoreFailure(.other, operation: "record step", cause: "the sums do not fit")
        }
    }
}
