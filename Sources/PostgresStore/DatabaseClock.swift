internal import PaymentCore
internal import Synchronization

/// The clock by which leases and due times are judged: the database's, which all daemons share. One that is set back
/// stands still for this process until it has caught up, so that no lease that ran out runs again.
final class DatabaseClock: Sendable {
    private let latest = Mutex<Int64>(0)
    private let manual: (@Sendable () -> Timestamp)?

    /// - Parameter manual: instead of the database's clock, for tests.
    init(manual: (@Sendable () -> Timestamp)?) { self.manual = manual }

    /// The time in milliseconds, in SQL, by the numbered parameter: what was seen last, or, below zero, the time that a
    /// test says it is. It moves on within a transaction.
    static func now(_ parameter: Int) -> String {
        """
        CASE WHEN $\(parameter) < 0 THEN -$\(parameter)
            ELSE greatest($\(parameter), (extract(epoch FROM clock_timestamp()) * 1000)::bigint) END
        """
    }

    /// The parameter of ``now(_:)``.
    var parameter: Parameter {
        let seen = latest.withLock { $0 }
        guard let manual else { return .int(seen) }
        return .int(-saw(max(manual().milliseconds, seen)))
    }

    /// Remembers what the database said that the time is.
    @discardableResult
    func saw(_ milliseconds: Int64) -> Int64 {
        latest.withLock { latest in
            latest = max(latest, milliseconds)
            return latest
        }
    }
}
