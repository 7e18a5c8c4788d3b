import Foundation
import PaymentCore
import Testing

/// A payment that was changed past its trail says something else than it.
@Suite struct TrailAccountTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func contradictions(_ trail: [AuditEntry], _ payment: Payment) -> [String] {
        var account = TrailAccount()
        for entry in trail { account.take(entry) }
        return account.contradictions(to: payment)
    }

    /// Held, captured in part, and given back twice, once with a decline.
    private func given() throws -> Stage {
        var stage = try fixture.stage([.reference, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.capture([0: 400])
        stage.run()
        try stage.refund([0: 150], key: "refund-1")
        stage.run()
        stage.atProvider(0) { ledger, _ in ledger.declines[.refund] = 1 }
        try stage.refund([0: 100], key: "refund-2")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded, .failed], "\(stage.durable.summary)")
        return stage
    }

    private func altered(_ payment: Payment, _ change: (inout [String: Any]) throws -> Void) throws -> Payment {
        let whole = try JSONSerialization.jsonObject(with: JSONEncoder().encode(payment))
        var members = try #require(whole as? [String: Any])
        try change(&members)
        return try JSONDecoder().decode(Payment.self, from: JSONSerialization.data(withJSONObject: members))
    }

    @Test func `a payment is what its trail says, after each of its entries`() throws {
        let stage = try given()
        #expect(contradictions(stage.trail, stage.durable).isEmpty)
        var canceled = try fixture.stage([.reference], .manual)
        canceled.run(while: { !$0.durable.isResting })
        try canceled.cancel()
        canceled.run()
        #expect(canceled.durable.state == .canceled)
        #expect(contradictions(canceled.trail, canceled.durable).isEmpty)
    }

    @Test func `a trail without one of the entries that count says something else`() throws {
        let stage = try given()
        let counting: Set<AuditType> = [.created, .latch, .concluded, .refund]
        var left = 0
        for (index, entry) in stage.trail.enumerated() {
            let isOperation = ["capture", "refund"].contains(entry.value("operation"))
            guard counting.contains(entry.type) && entry.type != .created || isOperation else { continue }
            var trail = stage.trail
            trail.remove(at: index)
            // How a refund ended is told anew with each plan after it.
            if contradictions(trail, stage.durable).isEmpty { left += 1 }
            #expect(entry.type == .refund || !contradictions(trail, stage.durable).isEmpty, "\(entry)")
        }
        let ends = stage.trail.filter { $0.type == .refund }.count
        #expect(left <= ends - 1, "each refund has an end: \(left) of \(ends)")
    }

    /// What two people said of a lost capture request has no amounts in the trail (seed 7688945696561).
    @Test func `a capture by the word of two people is taken from the payment`() throws {
        let stage = try given()
        var account = TrailAccount()
        for entry in stage.trail where entry.value("operation") != "capture" { account.take(entry) }
        #expect(account.contradictions(to: stage.durable).count == 1)
        account.take(
            AuditEntry(
                after: stage.durable.auditHead, payment: stage.durable.id, at: stage.now, type: .resolved, leg: 0,
                fields: [AuditField("approved_by", "hana")]))
        #expect(account.contradictions(to: stage.durable).isEmpty)
    }

    @Test func `each member that the trail knows is held against it`() throws {
        let stage = try given()
        func found(_ change: (inout [String: Any]) throws -> Void) throws -> [String] {
            contradictions(stage.trail, try altered(stage.durable, change))
        }
        func first(_ members: [String: Any], _ list: String) throws -> [String: Any] {
            try #require((members[list] as? [[String: Any]])?.first)
        }
        #expect(
            try found { $0["amount"] = ["value": 1, "currency": "JPY"] }.first?.hasPrefix(
                "amount: 1 JPY, by its trail 2")
                == true)
        #expect(try found { $0["captureMode"] = "automatic" } == ["capture: automatic, by its trail manual"])
        #expect(try found { $0["latch"] = "none" }.contains("latch: none, by its trail forward"))
        #expect(try found { $0["conclusion"] = nil }.contains("conclusion: none, by its trail succeeded"))
        #expect(try found { $0["capture"] = nil }.count == 1)
        #expect(try found { $0["refunds"] = [Any]() }.count == 1)
        let legs = try found { members in
            var leg = try first(members, "legs")
            leg["amount"] = ["value": 1, "currency": "JPY"]
            members["legs"] = [leg] + (members["legs"] as? [[String: Any]] ?? []).dropFirst()
        }
        #expect(legs.count == 1 && legs[0].hasPrefix("legs: "), "\(legs)")
        let ends = try found { members in
            var refund = try first(members, "refunds")
            var part = try first(refund, "parts")
            part["state"] = "failed"
            refund["parts"] = [part]
            members["refunds"] = [refund] + (members["refunds"] as? [[String: Any]] ?? []).dropFirst()
        }
        #expect(ends.count == 1 && ends[0].hasSuffix(": failed, by its trail succeeded"), "\(ends)")
    }
}
