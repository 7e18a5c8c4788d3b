public import PaymentCore

/// What people may ask of comparisons: runs beside the schedule, and what they do with discrepancies. The operations
/// API and the command line ask here, so that both mean the same.
public struct ComparisonDesk: Sendable {
    /// A window that somebody wants compared.
    public struct Ask: Sendable, Hashable {
        /// The provider.
        public var provider: ProviderName
        /// The window, of the provider's clock.
        public var window: ComparedWindow
        /// Whether only to say what would happen.
        public var isDry: Bool
        /// Whether to compare once more what was compared under the same words.
        public var again: Bool

        /// A wish.
        public init(provider: ProviderName, window: ComparedWindow, isDry: Bool = false, again: Bool = false) {
            self.provider = provider
            self.window = window
            self.isDry = isDry
            self.again = again
        }
    }

    /// So many attempts at one window may be asked for.
    public static let mostAttempts = 100

    /// The store.
    public let store: any PaymentStore & ComparisonStore
    let contracts: [ProviderName: ProviderContract]
    let settings: ComparisonSettings
    let isEnabled: Bool
    let people: [String]

    /// A desk.
    /// - Parameters:
    ///   - store: Where runs and discrepancies are kept.
    ///   - contracts: The contracts of the providers that are configured.
    ///   - settings: What the operator decided about comparing.
    ///   - isEnabled: Whether any daemon compares; if not, no run is planned, because nobody would take it up.
    ///   - people: To whom discrepancies may be given; anybody if it is empty.
    public init(
        store: any PaymentStore & ComparisonStore, contracts: [ProviderName: ProviderContract],
        settings: ComparisonSettings, isEnabled: Bool = true, people: [String] = []
    ) {
        self.store = store
        self.contracts = contracts
        self.settings = settings
        self.isEnabled = isEnabled
        self.people = people.sorted()
    }

    /// The providers whose transactions can be compared, in order of their names.
    public var comparable: [ProviderName] { contracts.filter(\.value.listing).keys.sorted() }

    /// Those that daemons compare.
    public var compared: [ProviderName] { isEnabled ? comparable : [] }

    /// The window of a provider that is meant: without an end, to the newest whole minute that can be judged; without a
    /// beginning, as long as the settings say.
    public func window(
        at provider: ProviderName, from: Timestamp?, to: Timestamp?
    ) async throws(ComparisonDeskFailure) -> ComparedWindow {
        let contract = try contract(of: provider)
        let now = try await read { () async throws(StoreFailure) in try await store.now() }
        let settled = ComparisonSchedule.settledUntil(contract, settings, now: now).milliseconds
        let end = to ?? Timestamp(milliseconds: settled - settled % 60_000)
        guard let window = ComparedWindow(from: from ?? end + (Span.zero - settings.window), to: end) else {
            throw .emptyWindow
        }
        return window
    }

    /// Plans a run, which a daemon takes up. The same wish gives the same run, whoever asks and how often; with `again`
    /// the next attempt at it, once the one before has ended.
    public func plan(_ ask: Ask) async throws(ComparisonDeskFailure) -> ComparisonRun {
        guard isEnabled else { throw .switchedOff }
        let contract = try contract(of: ask.provider)
        let now = try await read { () async throws(StoreFailure) in try await store.now() }
        var newest: ComparisonRun?
        for attempt in 0..<ComparisonDesk.mostAttempts {
            let run = try asked(ask, attempt, contract, now)
            let known = try await read { () async throws(StoreFailure) in try await store.run(run.id) }
            if let known {
                newest = known
                continue
            }
            if let newest, !ask.again || !newest.state.isFinal { return newest }
            return try await read { () async throws(StoreFailure) in try await store.begin(run) }
        }
        if let newest, !ask.again || !newest.state.isFinal { return newest }
        throw .tooManyAttempts
    }

    /// Gives up a run that has not ended. One that has is returned as it is.
    public func abandon(_ id: ComparisonRunID) async throws(ComparisonDeskFailure) -> ComparisonRun {
        guard let run = try await read({ () async throws(StoreFailure) in try await store.abandonRun(id) }) else {
            throw .notFound
        }
        return run
    }

    private func contract(of provider: ProviderName) throws(ComparisonDeskFailure) -> ProviderContract {
        guard let contract = contracts[provider] else { throw .unknownProvider(allowed: comparable) }
        return contract
    }

    private func asked(
        _ ask: Ask, _ attempt: Int, _ contract: ProviderContract, _ now: Timestamp
    ) throws(ComparisonDeskFailure) -> ComparisonRun {
        do {
            return try ComparisonSchedule.asked(
                at: ask.provider, ask.window, attempt: attempt, isDry: ask.isDry, contract, settings, now: now)
        } catch {
            throw .notComparable(error)
        }
    }

    /// Calls the store.
    public func read<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(ComparisonDeskFailure) -> Value {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }
}
