public import PaymentCore

/// Where comparisons live: runs, compared positions, discrepancies and what stands at each provider. Every store that
/// conforms passes the same contract suite.
///
/// It is the same store as the payments', so that both are read in one transaction and judged by one clock. What a call
/// returned is durable.
public protocol ComparisonStore: Sendable {
    /// Plans a run: stores it, under version 1, if its identifier is new.
    ///
    /// - Returns: What is stored under the identifier, which may be another state of the same run.
    func begin(_ run: ComparisonRun) async throws(StoreFailure) -> ComparisonRun

    /// Claims a run and its lane (``ComparisonRun/lane``).
    ///
    /// A lane belongs to a run from its first claim until the run is final, so that the runs of a provider follow each
    /// other. Each claim of a lane, by whatever run, has a higher token than every claim before it. The same holder may
    /// claim again.
    ///
    /// - Returns: The run as it is stored; `nil` if it does not exist, is final, its lane belongs to another run, or
    ///   another holder's lease on it runs.
    func claimRun(_ id: ComparisonRunID, holder: String, leaseFor: Span) async throws(StoreFailure) -> ClaimedRun?

    /// Prolongs the lease from now, if it is still held under the token.
    ///
    /// A lease that ran out, and that nobody took, is still held, as with payments.
    func renewRun(_ id: ComparisonRunID, token: LeaseToken, leaseFor: Span) async throws(StoreFailure) -> Bool

    /// Ends the lease and leaves the lane with the run. A lease that is not held any more is left alone.
    func releaseRun(_ id: ComparisonRunID, token: LeaseToken) async throws(StoreFailure)

    /// Gives up a run that is not final and frees its lane, whoever works at it: the step that is on its way is
    /// refused.
    ///
    /// - Returns: The run as it is stored then; `nil` if it does not exist.
    func abandonRun(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun?

    /// Reads a run.
    func run(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun?

    /// Reads runs, newest first by (created_at, id).
    func runs(_ query: RunQuery) async throws(StoreFailure) -> CursorPage<ComparisonRun, RunCursor>

    /// The head of a provider's chain: of its scheduled runs that are not dry the one whose window ends last, and of
    /// those the latest attempt; `nil` if there is none.
    func chainHead(of provider: ProviderName) async throws(StoreFailure) -> ComparisonRun?

    /// What a run found, in order of the discrepancies' identifiers.
    func findings(
        of run: ComparisonRunID, after: DiscrepancyID?, limit: Int
    ) async throws(StoreFailure) -> [RunFinding]

    /// Reads what is known of keys at a provider, in the order of the questions.
    ///
    /// A leg is found by the key of its authorization or sale and by no other effect's. Only where no leg has it is the
    /// leg looked for that the question names: of that payment, at that provider, and with that index, or the first
    /// there.
    func positions(
        at provider: ProviderName, _ questions: [PositionQuestion]
    ) async throws(StoreFailure) -> [KnownPosition]

    /// Reads the keys at a provider whose remembered position agreed when it was compared last and is not named, and
    /// that its listing showed last within a window of the provider's clock; in order of that moment and the key.
    func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) async throws(StoreFailure) -> [PositionQuestion]

    /// Reads the legs at a provider whose payment changed last within a window of the store's clock, in the order of
    /// ``BookedPlace``, after a place: with what is remembered of each, or, of those that are unchanged since they were
    /// compared, how many they are.
    func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after cursor: BookedPlace?, limit: Int
    ) async throws(StoreFailure) -> BookedPage

    /// Reads the remembered positions of a provider that are unsettled (``ComparedPosition/isUnsettled``), with what
    /// our books say of each now, in order of their keys, after a key. The leg that their transaction names comes
    /// with those whose key is not ours.
    func unsettledPositions(
        at provider: ProviderName, after key: EffectKey?, limit: Int
    ) async throws(StoreFailure) -> [KnownPosition]

    /// What stands at a provider: the sum of all that the steps of its runs moved. A currency that was ever moved is in
    /// it, even with zero.
    func standing(at provider: ProviderName) async throws(StoreFailure) -> NetSums

    /// What explains the difference between the sides, by currency, counted anew from what is stored: our net less
    /// theirs over all discrepancies of the provider, whatever their state, and over its positions that are
    /// `in_flight` and not named. Currencies that add up to nothing may be left out.
    func explainedDifferences(
        at provider: ProviderName
    ) async throws(StoreFailure) -> [Currency: ExplainedDifference]

    /// Makes a step durable, or refuses it whole: its run under the next version, its positions, discrepancies and
    /// findings, and what it moves. A run that is final after it loses its lease and frees its lane.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the step contradicts itself, see
    ///   ``ComparisonStep/check()``.
    func record(_ step: ComparisonStep, token: LeaseToken) async throws(StoreFailure) -> StepResult

    /// Reads discrepancies by their identifiers, in any order; those that do not exist are left out.
    func discrepancies(_ ids: [DiscrepancyID]) async throws(StoreFailure) -> [Discrepancy]

    /// Reads discrepancies, oldest first by (opened_at, id).
    func discrepancies(_ query: DiscrepancyQuery) async throws(StoreFailure) -> CursorPage<
        Discrepancy, DiscrepancyCursor
    >

    /// Makes a person's change of a discrepancy durable under the next version.
    ///
    /// - Parameter discrepancy: After the change; its `version` is the one that was read.
    /// - Returns: The discrepancy as it is stored; `nil`, and nothing is written, if another was first or it does not
    ///   exist.
    func change(_ discrepancy: Discrepancy) async throws(StoreFailure) -> Discrepancy?

    /// Counts the discrepancies that are not closed, for metrics, in order of provider and class.
    func discrepancyCounts() async throws(StoreFailure) -> [DiscrepancyCount]
}
