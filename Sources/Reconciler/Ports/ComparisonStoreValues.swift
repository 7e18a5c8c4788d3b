public import PaymentCore

/// A run and the lease on it.
public struct ClaimedRun: Sendable, Hashable {
    /// The run.
    public let run: ComparisonRun
    /// The lease's token.
    public let token: LeaseToken
    /// When the lease ends unless it is renewed.
    public let until: Timestamp

    /// A claimed run.
    public init(run: ComparisonRun, token: LeaseToken, until: Timestamp) {
        self.run = run
        self.token = token
        self.until = until
    }
}

/// A part of a listing, and where the next begins.
public struct CursorPage<Item: Sendable, Cursor: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// Where the next part begins; `nil` at the end.
    public var next: Cursor?

    /// A page.
    public init(items: [Item], next: Cursor?) {
        self.items = items
        self.next = next
    }

    /// A page of what was found, of which one more than `limit` was asked for.
    ///
    /// - Parameter place: where the listing goes on after an item.
    public init(_ found: [Item], limit: Int, place: (Item) -> Cursor) {
        items = Array(found.prefix(limit))
        next = found.count > limit ? items.last.map(place) : nil
    }
}

/// A place in the listing of runs, newest first.
public struct RunCursor: Sendable, Hashable {
    /// When the last run seen was planned.
    public var createdAt: Timestamp
    /// Its identifier.
    public var id: ComparisonRunID

    /// A place.
    public init(createdAt: Timestamp, id: ComparisonRunID) {
        self.createdAt = createdAt
        self.id = id
    }
}

/// Which runs are wanted.
public struct RunQuery: Sendable, Hashable {
    /// Only of this provider.
    public var provider: ProviderName?
    /// Only in this state.
    public var state: ComparisonRun.State?
    /// Only of this kind.
    public var kind: ComparisonRun.Kind?
    /// Continue after this place.
    public var after: RunCursor?
    /// At most so many, 1 to 200.
    public var limit: Int

    /// All runs, newest first.
    public init(limit: Int = 50) { self.limit = limit }

    /// Whether a run is wanted, the place aside.
    public func wants(_ run: ComparisonRun) -> Bool {
        if let provider, run.provider != provider { return false }
        if let state, run.state != state { return false }
        if let kind, run.kind != kind { return false }
        return true
    }
}

/// A place in the listing of discrepancies, oldest first.
public struct DiscrepancyCursor: Sendable, Hashable {
    /// When the last one seen was opened.
    public var openedAt: Timestamp
    /// Its identifier.
    public var id: DiscrepancyID

    /// A place.
    public init(openedAt: Timestamp, id: DiscrepancyID) {
        self.openedAt = openedAt
        self.id = id
    }
}

/// Which discrepancies are wanted.
public struct DiscrepancyQuery: Sendable, Hashable {
    /// To whom they are given.
    public enum Assignment: Sendable, Hashable {
        /// To nobody.
        case nobody
        /// To this person.
        case person(String)
    }

    /// Only of this provider.
    public var provider: ProviderName?
    /// Only of this class.
    public var finding: ComparisonClass?
    /// Only in one of these states; empty for all.
    public var states: Set<Discrepancy.State>
    /// Only about this payment.
    public var payment: PaymentID?
    /// Only given to somebody, or to nobody.
    public var assignment: Assignment?
    /// Only opened before this moment.
    public var openedBefore: Timestamp?
    /// Only with at least so much at risk, in this currency.
    public var atRiskFrom: Money?
    /// Continue after this place.
    public var after: DiscrepancyCursor?
    /// At most so many, 1 to 200.
    public var limit: Int

    /// All that are not closed, oldest first.
    public init(limit: Int = 50) {
        states = [.open, .settling]
        self.limit = limit
    }

    /// Whether a discrepancy is wanted, the place aside.
    public func wants(_ discrepancy: Discrepancy) -> Bool {
        if let provider, discrepancy.provider != provider { return false }
        if let finding, discrepancy.finding != finding { return false }
        if !states.isEmpty, !states.contains(discrepancy.state) { return false }
        if let payment, discrepancy.payment != payment { return false }
        switch assignment {
        case nil: break
        case .nobody: if discrepancy.assignee != nil { return false }
        case .person(let name): if discrepancy.assignee != name { return false }
        }
        if let openedBefore, discrepancy.openedAt >= openedBefore { return false }
        if let atRiskFrom {
            guard let atRisk = discrepancy.atRisk, atRisk.currency == atRiskFrom.currency,
                atRisk.value >= atRiskFrom.value
            else { return false }
        }
        return true
    }
}

/// How many discrepancies of a provider and class are not closed.
public struct DiscrepancyCount: Sendable, Hashable {
    /// The provider.
    public var provider: ProviderName
    /// The class.
    public var finding: ComparisonClass
    /// How many.
    public var count: Int
    /// When the oldest of them was opened.
    public var oldest: Timestamp
    /// The money at risk, by currency, in order of the codes; a sum that cannot be represented is told
    /// as a smaller one.
    public var atRisk: [Money]

    /// A count.
    public init(
        provider: ProviderName, finding: ComparisonClass, count: Int, oldest: Timestamp, atRisk: [Money]
    ) {
        self.provider = provider
        self.finding = finding
        self.count = count
        self.oldest = oldest
        self.atRisk = atRisk
    }
}

extension ComparisonStore {
    /// At most so many keys that were left out are looked at for each page of a listing.
    private static var mostLeftOut: Int { 1_000 }

    /// Reads what is known of keys, and of those besides that agreed and were listed in a window once.
    func positions(
        at provider: ProviderName, _ questions: [PositionQuestion], listedIn window: ComparedWindow?
    ) async throws(StoreFailure) -> [KnownPosition] {
        guard let window else { return try await positions(at: provider, questions) }
        let asked = Set(questions.map(\.key))
        // Those of the page are among them.
        let listed = try await listedKeys(at: provider, in: window, limit: questions.count + Self.mostLeftOut)
        return try await positions(at: provider, questions + listed.filter { !asked.contains($0.key) })
    }
}

extension ComparisonStep {
    /// Checks that the step does not contradict itself: a dry run has findings only, nothing comes twice, and all is of
    /// the run's own provider.
    ///
    /// - Throws: ``StoreFailure`` with the code `other`; nothing may be written.
    public func check() throws(StoreFailure) {
        if run.isDry, !positions.isEmpty || !discrepancies.isEmpty || !moved.isEmpty {
            throw refused("a dry run writes nothing but findings")
        }
        guard Set(positions.map(\.key)).count == positions.count else { throw refused("a position comes twice") }
        guard Set(discrepancies.map(\.id)).count == discrepancies.count else {
            throw refused("a discrepancy comes twice")
        }
        guard Set(findings.map(\.discrepancy)).count == findings.count else { throw refused("a finding comes twice") }
        let isOwn =
            positions.allSatisfy { $0.provider == run.provider }
            && discrepancies.allSatisfy { $0.provider == run.provider } && findings.allSatisfy { $0.run == run.id }
        guard isOwn else { throw refused("it is about another provider or run") }
    }

    private func refused(_ cause: String) -> StoreFailure {
        StoreFailure(.other, operation: "record step", cause: cause)
    }
}
