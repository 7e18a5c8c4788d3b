public import PaymentCore

extension ComparisonDesk {
    /// What a person does with a discrepancy.
    public enum Change: Sendable, Hashable {
        /// Gives it to somebody, or to nobody.
        case assign(to: String?)
        /// Says something.
        case comment(String)
        /// Closes it, and says why.
        case close(reason: String)

        func event(by person: String) -> DiscrepancyEvent {
            switch self {
            case .assign(let assignee): .assigned(to: assignee, by: person)
            case .comment(let text): .commented(text, by: person)
            case .close(let reason): .closed(reason: reason, by: person)
            }
        }
    }

    /// Reads a discrepancy.
    public func discrepancy(_ id: DiscrepancyID) async throws(ComparisonDeskFailure) -> Discrepancy {
        let found = try await read { () async throws(StoreFailure) in try await store.discrepancies([id]) }
        guard let discrepancy = found.first else { throw .notFound }
        return discrepancy
    }

    /// Changes a discrepancy for a person.
    ///
    /// - Parameter version: The version that the person has read; without it the change is made to whatever is there.
    /// - Throws: ``ComparisonDeskFailure/outdated(current:)`` if another was first, and the person has to look again.
    public func change(
        _ id: DiscrepancyID, _ change: Change, by person: String, version: Int64?
    ) async throws(ComparisonDeskFailure) -> Discrepancy {
        if case .assign(let assignee?) = change, !people.isEmpty, !people.contains(assignee) {
            throw .unknownPerson(allowed: people)
        }
        for _ in 0..<ComparisonDesk.tries {
            let current = try await discrepancy(id)
            if let version, current.version != version { throw .outdated(current: current) }
            let now = try await read { () async throws(StoreFailure) in try await store.now() }
            var changed = current
            do {
                try changed.handle(change.event(by: person), at: now)
            } catch {
                throw .refused(error, current: current)
            }
            let wanted = changed
            let stored = try await read { () async throws(StoreFailure) in try await store.change(wanted) }
            if let stored { return stored }
        }
        throw .store(StoreFailure(.serialization, operation: "change discrepancy", cause: "it is changed all the time"))
    }

    /// Plans a short run at the provider of a discrepancy: each run looks again at what is not settled, and begins what
    /// was ordered.
    @discardableResult
    public func compareSoon(_ id: DiscrepancyID) async throws(ComparisonDeskFailure) -> ComparisonRun {
        let provider = try await discrepancy(id).provider
        let end = try await window(at: provider, from: nil, to: nil).to
        // Two orders of one minute get a run each: the first may be past the other's position.
        let length = Span.seconds(60) + .milliseconds(Int64(id.text.suffix(3), radix: 16) ?? 0)
        let window = try await window(at: provider, from: end + (Span.zero - length), to: end)
        return try await plan(Ask(provider: provider, window: window, again: true))
    }

    private static let tries = 5
}
