/// Keeps one token and fetches another when it is marked stale.
///
/// While a fetch runs, every caller waits for that one.
public actor RefreshingTokenSource: TokenSource {
    private enum State {
        case none
        case fetching([CheckedContinuation<Result<BearerToken, TransportFailure>, Never>])
        case have(BearerToken)
    }

    private let fetch: @Sendable () async throws(TransportFailure) -> BearerToken
    private var state = State.none

    /// - Parameter fetch: gets a new token; bounded in time by its own request's limits.
    public init(fetch: @escaping @Sendable () async throws(TransportFailure) -> BearerToken) {
        self.fetch = fetch
    }

    /// The kept token, or the result of the fetch in progress, or of a new one.
    ///
    /// - Throws: why the fetch failed. A caller whose own task is not cancelled does not fail because the
    ///   task that happened to fetch was: it fetches itself.
    public func token() async throws(TransportFailure) -> BearerToken {
        while true {
            let result: Result<BearerToken, TransportFailure>
            switch state {
            case .have(let token):
                return token
            case .none:
                // The state changes before anything is awaited, so that two callers never both fetch.
                state = .fetching([])
                return try await fetchForAll().get()
            case .fetching:
                result = await withCheckedContinuation { join($0) }
            }
            if case .failure(let failure) = result, failure.code == .cancelled, !Task.isCancelled { continue }
            return try result.get()
        }
    }

    /// Forgets the token if it is still the current one.
    public func markStale(_ token: BearerToken) {
        if case .have(let current) = state, current == token { state = .none }
    }

    /// How many callers wait for the fetch in progress.
    var waitingForFetch: Int {
        if case .fetching(let waiting) = state { waiting.count } else { 0 }
    }

    private func join(_ continuation: CheckedContinuation<Result<BearerToken, TransportFailure>, Never>) {
        guard case .fetching(var waiting) = state else {
            return continuation.resume(
                returning: .failure(TransportFailure(code: .cancelled, phase: .waiting)))
        }
        waiting.append(continuation)
        state = .fetching(waiting)
    }

    private func fetchForAll() async -> Result<BearerToken, TransportFailure> {
        let result: Result<BearerToken, TransportFailure>
        do throws(TransportFailure) {
            result = .success(try await fetch())
        } catch {
            result = .failure(error)
        }
        var waiting: [CheckedContinuation<Result<BearerToken, TransportFailure>, Never>] = []
        if case .fetching(let joined) = state { waiting = joined }
        if case .success(let token) = result { state = .have(token) } else { state = .none }
        for continuation in waiting { continuation.resume(returning: result) }
        return result
    }
}
