import Foundation
import HTTPTransport
import PaymentCore
import StoreContract

/// Lets the other side's clock be one that tests move.
struct ClockedSender: HTTPSender {
    let clock: ManualClock
    let sender: any HTTPSender

    /// Lends a sender of libcurl's whose other side has this clock.
    static func lend(_ clock: ManualClock, _ body: (ClockedSender) async throws -> Void) async throws {
        let sender = CurlSender(configuration: CurlConfiguration(maximumConnections: 4, allowPlainHTTP: true))
        do {
            try await body(ClockedSender(clock: clock, sender: sender))
        } catch {
            await sender.shutdown()
            throw error
        }
        await sender.shutdown()
    }

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
