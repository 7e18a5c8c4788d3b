import Foundation
import Logging
import ProviderSimulator
import Testing

/// Adyen's wire: what is refused before anything is executed.
@Suite struct AdyenWireTests {
    /// A request to pay, and what Adyen says to it.
    struct Request: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = 422
        var key = "api-key-1"
        var merchant = "Merchant1"
        var reference = "reference-1"
        var amount: String? = #"{"value":1200,"currency":"EUR"}"#
        var text: String?

        init(_ name: String, _ status: Int = 422, _ change: (inout Request) -> Void = { _ in }) {
            (testDescription, self.status) = (name, status)
            change(&self)
        }

        var body: String {
            if let text { return text }
            let amount = amount.map { #""amount":\#($0),"# } ?? ""
            return """
                {"merchantAccount":"\(merchant)","reference":"\(reference)",\(amount)\
                "paymentMethod":{"type":"scheme","storedPaymentMethodId":"card-1"},\
                "shopperReference":"shopper-1","shopperInteraction":"ContAuth"}
                """
        }

        static let flaws = [
            Request("no amount") { $0.amount = nil }, Request("no JSON") { $0.text = "amount=1" },
            Request("an empty reference") { $0.reference = "" },
            Request("a reference of 81 bytes") { $0.reference = String(repeating: "r", count: 81) },
            Request("another merchant", 403) { $0.merchant = "Merchant2" },
            Request("another key", 401) { $0.key = "api-key-2" },
        ]
    }

    private func withAdyen(_ test: (SimulatorFixture) async throws -> Void) async throws {
        let provider = ProviderConfiguration("card", wire: .adyen, token: "Merchant1:api-key-1")
        var logger = Logger(label: "provider-simulator")
        logger.logLevel = .critical
        let clock = ManualClock()
        let server = try ProviderSimulatorServer(
            SimulatorConfiguration(providers: [provider]), clock: clock.asSimulatorClock, logger: logger)
        try await server.whileRunning { port in
            try await test(SimulatorFixture(port: port, control: server.control, clock: clock))
        }
    }

    private func status(_ request: Request, _ card: SimulatorFixture) async throws -> Int? {
        let reply = try await card.request(
            "POST", "/card/v71/payments", request.body, headers: ["X-API-Key": request.key])
        guard case .answer(let status, _, _) = reply else { return nil }
        return status
    }

    @Test(arguments: Request.flaws)
    func `what is not asked well is refused, and executes nothing`(flaw: Request) async throws {
        try await withAdyen { card async throws in
            #expect(try await status(flaw, card) == flaw.status)
            #expect(try await card.control.ledger("card").transactions.isEmpty)
            #expect(try await status(Request("good", 200), card) == 200)
            #expect(try await card.control.ledger("card").transactions.map(\.held) == [1_200])
        }
    }
}
