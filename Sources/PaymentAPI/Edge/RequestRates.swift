internal import PaymentCore
internal import Synchronization

/// Bounds the rate of requests of each caller: the generic cell rate algorithm (ITU-T I.371), which keeps one moment
/// per caller. A refused request does not count.
final class RequestRates: Sendable {
    /// When the next request of a caller would be due if all came at the allowed rate.
    private let due = Mutex<[CallerID: ContinuousClock.Instant]>([:])

    /// Counts a request.
    /// - Returns: how long the caller has to wait before the request would be admitted; `nil` if it is admitted.
    func admit(_ caller: CallerID, at rate: CallerRate, now: ContinuousClock.Instant) -> Duration? {
        let interval = Duration.seconds(1) / rate.requestsPerSecond
        // So far ahead of its time a request may come.
        let tolerance = interval * (rate.burst - 1)
        return due.withLock { due in
            let own = max(due[caller] ?? now, now)
            let wait = own - tolerance - now
            if wait > .zero { return wait }
            due[caller] = own + interval
            return nil
        }
    }
}
