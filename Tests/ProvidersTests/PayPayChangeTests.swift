import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// Cancels, captures and refunds of the adapter for PayPay: what an answer and the read after it say together.
struct PayPayChangeTests {
    private let script = PayPayScript()

    // MARK: Cancels

    @Test(arguments: [
        ("CANCELED", OutcomeClass.accepted, "voided"), ("REFUNDED", .accepted, "voided"),
        ("EXPIRED", .accepted, "expired"), ("FAILED", .accepted, "declined"),
        ("COMPLETED", .indeterminate, "cancel_accepted"), ("CREATED", .indeterminate, "cancel_accepted"),
    ])
    func `a cancel that was accepted is done once a read shows it`(
        status: String, outcome: OutcomeClass, code: String
    ) async throws {
        let (provider, sender) = try script.provider([script.error(202, "REQUEST_ACCEPTED"), try script.shown(status)])
        let report = try await provider.send(script.book.sendAfterSale(.void))
        #expect(report.outcome == outcome && report.code == code && report.bytesWritten > 0, "\(report)")
        #expect((report.observation == nil) == (outcome == .indeterminate))
        #expect(sender.requests.map(\.method) == [.delete, .get])
    }

    @Test(arguments: [(404, PayPayScript.missing), (500, "SERVICE_ERROR")])
    func `a cancel that was accepted and cannot be read is in doubt`(status: Int, code: String) async throws {
        let (provider, _) = try script.provider([script.error(202, "REQUEST_ACCEPTED"), script.error(status, code)])
        let report = try await provider.send(script.book.sendAfterSale(.void))
        #expect(report.outcome == .indeterminate && report.observation == nil)
    }

    @Test(arguments: [
        ("CANCELED", OutcomeClass.accepted, "voided", true), ("COMPLETED", .refused, "conflict_captured", false),
        ("CREATED", .throttled, "conflict_pending", false),
    ])
    func `a cancel that is refused is what a read shows`(
        status: String, outcome: OutcomeClass, code: String, namesKey: Bool
    ) async throws {
        let (provider, _) = try script.provider([script.error(400, "ORDER_NOT_REVERSIBLE"), try script.shown(status)])
        let report = try await provider.send(script.book.sendAfterSale(.void))
        #expect(report.outcome == outcome && report.code == code && report.namesKey == namesKey, "\(report)")
        #expect(report.observation != nil)
    }

    @Test(arguments: [(404, PayPayScript.missing), (400, "ORDER_NO_LONGER_AVAILABLE")])
    func `a cancel of nothing did nothing`(status: Int, code: String) async throws {
        let (provider, _) = try script.provider([script.error(status, code), script.error(404, PayPayScript.missing)])
        let report = try await provider.send(script.book.sendAfterSale(.void))
        #expect(report.outcome == .refused && report.code == "not_found")
        #expect(report.observation?.status == .notFound && !report.namesKey)
    }

    // MARK: Captures

    @Test func `a capture above the hold is never sent`() async throws {
        let held = try script.shown("AUTHORIZED", of: script.book.key(.authorize).text)
        let (provider, sender) = try script.provider([held], phases: .authorizeCapture)
        let report = try await provider.send(script.book.send(.capture, 1201))
        #expect(report.outcome == .refused && report.code == "amount_too_large" && report.bytesWritten == 0)
        #expect(sender.requests.map(\.method) == [.get])
    }

    @Test func `a capture that another took is ruled out, and our own stands`() async throws {
        let key = try script.book.key(.authorize).text
        let ours = try script.book.key(.capture).text
        for (name, outcome) in [("another", OutcomeClass.refused), (ours, .accepted)] {
            let taken = try script.shown("COMPLETED", of: key, captures: [PayPayBodies.capture(name)])
            let steps = [taken, script.error(400, "ALREADY_CAPTURED"), taken]
            let (provider, _) = try script.provider(steps, phases: .authorizeCapture)
            let report = try await provider.send(script.book.send(.capture))
            #expect(report.outcome == outcome, "\(name)")
        }
    }

    @Test func `a capture that is answered without being there is in doubt`() async throws {
        let held = try script.shown("AUTHORIZED", of: script.book.key(.authorize).text)
        let (provider, _) = try script.provider([held, held], phases: .authorizeCapture)
        let report = try await provider.send(script.book.send(.capture))
        #expect(report.outcome == .indeterminate && report.code == "effect_missing")
    }

    // MARK: Refunds

    private func refunded(_ made: String, read: @escaping ScriptedSender.Step) async throws -> AttemptReport {
        let steps = [try script.shown("COMPLETED"), script.json(200, PayPayBodies.answer("SUCCESS", made)), read]
        return try await script.provider(steps).0.send(script.book.sendAfterSale(.refund, 300))
    }

    @Test(arguments: [
        ("CREATED", OutcomeClass.accepted, "pending"), ("REFUNDED", .accepted, "succeeded"),
        ("REFUND_FAILED", .accepted, "pending"), ("FAILED", .declined, "failed"),
    ])
    func `a refund is what its status says, seen or not seen by the read after it`(
        status: String, outcome: OutcomeClass, code: String
    ) async throws {
        let refund = try PayPayBodies.refund(script.book.key(.refund).text, status)
        for listed in [[refund], nil] {
            let report = try await refunded(refund, read: try script.shown("COMPLETED", refunds: listed))
            #expect(report.outcome == outcome && report.code == code && report.bytesWritten > 0, "\(report)")
            #expect(try report.observation?.refunds.map(\.key) == [script.book.key(.refund)])
        }
        let blind = try await refunded(refund, read: script.error(500, "SERVICE_ERROR"))
        #expect(blind.outcome == outcome && blind.observation == nil)
    }

    @Test func `a refund is of PayPay's own identifier, and of no other payment`() async throws {
        let ours = try script.book.key(.refund).text
        for odd in [PayPayBodies.refund("another"), PayPayBodies.refund(ours, of: "04711000000000000002")] {
            let report = try await refunded(odd, read: try script.shown("COMPLETED"))
            #expect(report.outcome == .indeterminate && report.code == "answer_mismatch")
        }
        let steps = [try script.shown("COMPLETED"), script.error(500, "TRANSACTION_FAILED")]
        let (provider, sender) = try script.provider(steps)
        _ = try await provider.send(script.book.sendAfterSale(.refund, 300))
        let body = String(decoding: try #require(sender.requests.last).body, as: UTF8.self)
        #expect(body.contains("\"paymentId\":\"\(PayPayBodies.id)\"") && body.contains("\"amount\":300"))
    }

    @Test(arguments: [
        ("CANCELED_USER", OutcomeClass.declined, "canceled_user"),
        ("REFUND_WINDOW_EXCEED", .refused, "refund_window_exceed"), ("INVALID_PARAMS", .refused, "amount_too_large"),
    ])
    func `a refund that is refused leaves the payment, and is believed after a further read`(
        code: String, outcome: OutcomeClass, short: String
    ) async throws {
        let before = try script.shown("COMPLETED", refunds: [PayPayBodies.refund("other", amount: 1000)])
        let (provider, _) = try script.provider([before, script.error(400, code), before])
        let report = try await provider.send(script.book.sendAfterSale(.refund, 300))
        #expect(report.outcome == outcome && report.code == short && !report.namesKey)
        #expect(report.observation?.refunds.count == (outcome == .declined ? 2 : 1))
    }

    @Test func `what went before an effect does not count as its bytes`() async throws {
        for (status, code, outcome) in [
            (500, "SERVICE_ERROR", OutcomeClass.unsent), (404, PayPayScript.missing, .unsent),
            (429, "RATE_LIMIT", .throttled),
        ] {
            let (provider, sender) = try script.provider([script.error(status, code)])
            let report = try await provider.send(script.book.sendAfterSale(.refund))
            #expect(report.outcome == outcome && report.bytesWritten == 0, "\(code)")
            #expect(sender.requests.count == 1)
        }
    }
}
