import Foundation
import ReconciledClient

/// A checkout that pays one order with the client library, under the conformance kit (`conformance/README.md`).
@main
enum ClientCheckout {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let order = environment["CHECKOUT_ORDER"], let token = environment["RECONCILED_TOKEN"],
            let url = environment["RECONCILED_URL"].flatMap(URL.init(string:)),
            let directory = environment["CHECKOUT_DIRECTORY"], let currency = environment["CHECKOUT_CURRENCY"],
            let value = environment["CHECKOUT_AMOUNT"].flatMap(Int64.init),
            let provider = environment["CHECKOUT_PROVIDER"], let instrument = environment["CHECKOUT_INSTRUMENT"]
        else { fatalError("start it with the variables that conformance/README.md lists") }
        var settings = ClientSettings()
        settings.wait = .seconds(2)
        settings.slack = .seconds(2)
        let client = PaymentsClient(
            sites: [url], token: { token }, journal: try DirectoryJournal(URL(filePath: directory)),
            settings: settings)
        let amount = Money(value, currency)
        // The deadline and the note differ at each start; what was stored at the first one is sent.
        let asked = NewPayment(
            amount: amount, legs: [NewPayment.Leg(provider: provider, instrument: instrument, amount: amount)],
            metadata: ["process": String(ProcessInfo.processInfo.processIdentifier)],
            deadline: Date(timeIntervalSinceNow: 600))
        let payment = try await client.pay(asked, order: order, within: .seconds(100))
        let line = [
            "order": order, "result": payment.state == .succeeded ? "paid" : "failed", "payment": payment.id,
        ]
        print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
    }
}
