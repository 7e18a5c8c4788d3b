import Foundation
import Testing

@testable import ReconciledClient

/// What the journal keeps is what is sent, and another request under its key is refused.
@Suite final class StoredOperationTests: Sendable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
    let clock = SkippingClock()
    let journal: DirectoryJournal

    init() throws { journal = try DirectoryJournal(directory) }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func client(_ daemon: ScriptedDaemon, sites: [String] = ["http://east.test/"]) -> PaymentsClient {
        PaymentsClient(
            sites: sites.compactMap { URL(string: $0) }, token: { "token-of-the-shop" }, journal: journal,
            transport: daemon, clock: clock)
    }

    private static let other = "pay_" + String(repeating: "c2d3", count: 10)

    @Test func `another reason, or another payment, under a stored key is refused before anything is sent`()
        async throws
    {
        let daemon = ScriptedDaemon([.payment("canceled", 200)])
        let client = client(daemon)
        _ = try await client.cancel(Sample.payment, order: "order-731", reason: "sold out")
        let key = try OperationKey.cancel(order: "order-731", attempt: 1)
        await #expect(throws: ClientError.differs(key)) {
            try await client.cancel(Sample.payment, order: "order-731", reason: "too late")
        }
        await #expect(throws: ClientError.differs(key)) {
            try await client.cancel(Self.other, order: "order-731", reason: "sold out")
        }
        #expect(daemon.requests.count == 1)
        #expect(try await client.cancel(Sample.payment, order: "order-731", reason: "sold out").state == .canceled)
    }

    @Test func `a capture and a refund that were left are resumed as what they are`() async throws {
        let lost = client(ScriptedDaemon([.lost]))
        await #expect(throws: ClientError.self) {
            try await lost.capture(Sample.payment, order: "order-731", within: .zero)
        }
        await #expect(throws: ClientError.self) {
            try await lost.refund(
                Sample.payment, order: "order-731", number: 1, amount: Money(500, "JPY"), within: .zero)
        }
        let refund = ScriptedDaemon.Step.answer(201, ScriptedDaemon.Step.refund("succeeded"), [:])
        let daemon = ScriptedDaemon([.payment("succeeded", 200), refund])
        let resumed = try await client(daemon).resume().map { try $0.result.get() }
        guard case .payment(let payment) = resumed[0], case .refund(let given) = resumed[1], resumed.count == 2 else {
            Issue.record("resumed as something else: \(resumed)")
            return
        }
        #expect(payment.state == .succeeded && given.state == .succeeded)
        #expect(daemon.requests.map(\.url.lastPathComponent) == ["capture", "refunds"])
    }

    @Test func `after a read that got no answer, the next one asks the other site`() async throws {
        let daemon = ScriptedDaemon([.lost, .payment("succeeded", 200)])
        let client = client(daemon, sites: ["http://east.test/", "http://west.test/"])
        await #expect(throws: ClientError.self) { try await client.payment(Sample.payment) }
        #expect(try await client.payment(Sample.payment).state == .succeeded)
        #expect(daemon.requests.map { $0.url.host() } == ["east.test", "west.test"])
    }

    @Test(arguments: [("0", true), ("-1", false), ("soon", false)])
    func `a pause of nothing is a pause that was named`(_ text: String, _ isNamed: Bool) throws {
        let answer = ClientAnswer(
            status: 503, headers: ["retry-after": text],
            body: Data(#"{"type": "/problems/not-accepting", "title": "T", "status": 503, "retryable": true}"#.utf8))
        guard case .again(let after, _, _) = Reading<Payment>(answer) else {
            Issue.record("it is not asked again")
            return
        }
        #expect(after == (isNamed ? .zero : nil))
    }

    @Test func `who has no time left for the next pause gives up before it`() async throws {
        let busy = ScriptedDaemon.Step.problem(503, "not-accepting", retryable: true, headers: ["Retry-After": "7"])
        await #expect(throws: ClientError.self) {
            try await self.client(ScriptedDaemon([busy])).capture(
                Sample.payment, order: "order-731", within: .seconds(7))
        }
        #expect(clock.pauses.isEmpty, "a pause as long as all that is left ends too late")
    }
}
