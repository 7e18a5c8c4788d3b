import Foundation
import ReconciledClient
import Testing

/// The code of the integrator's page is the code of these tests, so that it compiles and does what the page says.
@Suite struct PageExampleTests {
    private let site: URL
    private let token = "token-of-the-shop"

    init() throws { site = try #require(URL(string: "http://127.0.0.1:8080")) }

    private func inDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    private func client(_ directory: URL) throws -> PaymentsClient {
        let token = token
        let client = PaymentsClient(
            sites: [site], token: { token }, journal: try DirectoryJournal(directory))
        return client
    }

    private func pay(_ order: String, with client: PaymentsClient) async throws -> String {
        let amount = Money(1500, "JPY")
        let asked = NewPayment(
            amount: amount,
            legs: [NewPayment.Leg(provider: "card", instrument: "tok-1", amount: amount)])
        do {
            let payment = try await client.pay(asked, order: order)
            return payment.state == .succeeded ? "Paid." : "The payment failed. You were not charged."
        } catch ClientError.unsettled {
            return "We are confirming your payment."
        }
    }

    private func resume(_ client: PaymentsClient) async throws -> [String] {
        var lines: [String] = []
        for (operation, result) in try await client.resume() {
            lines.append("\(operation.key): \(result)")
        }
        return lines
    }

    private func receive(_ headers: [String: String], _ body: Data, secret: String) throws -> String {
        let verifier = try WebhookVerifier(secrets: [secret])
        let webhook = try verifier.verify(headers: headers, body: body)
        return webhook.payment.state == .succeeded ? "Ship it." : "Do not ship it yet."
    }

    @Test(arguments: [
        (ScriptedDaemon.Step.payment("succeeded"), "Paid."),
        (.payment("failed"), "The payment failed. You were not charged."),
        (.payment("quarantined", 202), "We are confirming your payment."),
    ]) func `what the customer is told`(_ step: ScriptedDaemon.Step, _ told: String) async throws {
        try await inDirectory { directory in
            _ = try client(directory)
            let scripted = PaymentsClient(
                sites: [site], token: { "token" }, journal: try DirectoryJournal(directory),
                transport: ScriptedDaemon([step]), clock: SkippingClock())
            #expect(try await pay("order-731", with: scripted) == told)
            let resumed = try await resume(scripted)
            #expect(resumed.count == (told == "We are confirming your payment." ? 1 : 0))
            #expect(resumed.allSatisfy { $0.hasPrefix("order-731/create: failure(") })
        }
    }

    @Test func `what a webhook tells`() throws {
        let now = String(Int(Date().timeIntervalSince1970))
        let delivery = SignedDelivery(timestamp: now)
        #expect(try receive(delivery.headers, delivery.body, secret: SigningSecret.old.text) == "Ship it.")
        #expect(throws: WebhookError.wrongSignature) {
            try receive(delivery.headers, delivery.body, secret: SigningSecret.stranger.text)
        }
    }

    @Test func `the page has this code and no other`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let page = try String(contentsOf: tests.appending(path: "../../docs/integrate.md"), encoding: .utf8)
        let code = try String(contentsOfFile: #filePath, encoding: .utf8)
        let blocks = PageCode.blocks(of: page)
        #expect(blocks.count == 4)
        for block in blocks { #expect(PageCode.holds(block, in: code), "not compiled here: \(block)") }
    }
}
