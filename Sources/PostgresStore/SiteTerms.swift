internal import PaymentCore
internal import Reconciler
internal import Synchronization

/// Under which term this process writes. Every transaction that writes begins with the check of it.
final class SiteTerms: Sendable {
    private struct State {
        var epoch: Int64?
        var listeners: [Int: AsyncStream<Int64>.Continuation] = [:]
        var lastListener = 0
    }

    /// This process's site.
    let site: SiteName
    private let state = Mutex(State())

    init(site: SiteName) { self.site = site }

    /// The term; `nil` while this process may not write.
    var epoch: Int64? { state.withLock { $0.epoch } }

    func write(under epoch: Int64?) { state.withLock { $0.epoch = epoch } }

    /// The check, and the term that it is of.
    ///
    /// - Throws: ``StoreFailure`` with the code `inactive` without a term.
    func check() throws(StoreFailure) -> TermCheck {
        guard let epoch else {
            throw StoreFailure(.inactive, operation: "write", cause: "site \(site) is not active")
        }
        return TermCheck(site: site, epoch: epoch)
    }

    /// Lets whoever listens know that a write was refused.
    func ended(_ epoch: Int64) {
        let listeners = state.withLock { state in
            // At once, so that the next write is refused here.
            if state.epoch == epoch { state.epoch = nil }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(epoch) }
    }

    func endings() -> AsyncStream<Int64> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { _ in _ = self.state.withLock { $0.listeners.removeValue(forKey: number) } }
        return stream
    }
}

/// The statement that requires a term, as the first of each transaction that writes.
struct TermCheck: Sendable {
    let site: SiteName
    let epoch: Int64

    var statement: Statement { Statement("SELECT require_site($1, $2)", [.text(site.name), .int(epoch)]) }
}

/// A connection on which everything that is run requires the term in its own transaction.
struct TermedConnection {
    let connection: PostgresConnection
    let term: TermCheck

    /// Runs statements as one pipeline, as ``PostgresConnection/run(_:)`` does, with the check as the first. It costs
    /// no round trip.
    @discardableResult
    func run(_ statements: [Statement]) throws -> (rows: [Rows], warnings: [String]) {
        // Where a transaction is begun in words, the check belongs into it.
        let index = statements.first?.sql == "BEGIN" ? 1 : 0
        var checked = statements
        checked.insert(term.statement, at: index)
        var (rows, warnings) = try connection.run(checked)
        if rows.count > index { rows.remove(at: index) }
        return (rows, warnings)
    }
}
