import Foundation
import HTTPTransport
import PaymentCore
import Reconciler
import StoreContract

/// A clock that stands still.
struct FixedClock: WallClock {
    let moment: Timestamp

    func now() -> Timestamp { moment }
    func sleep(until: Timestamp) async throws {}
}

/// Lets the other side's clock be one that tests move.
struct ClockedSender: HTTPSender {
    let clock: ManualClock
    let sender: any HTTPSender

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        var response = try await sender.send(request)
        response.fields["Date"] = ClockedSender.date(clock)
        return response
    }

    /// The time in whole seconds, cut off.
    private static func date(_ clock: ManualClock) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(clock.now().milliseconds / 1_000)))
    }
}
