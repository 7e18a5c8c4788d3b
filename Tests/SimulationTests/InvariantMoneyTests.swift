import PaymentCore
import Reconciler
import Testing

@testable import Simulation

@Suite struct InvariantMoneyTests {
    @Test func `1 fires when a row forgets what was taken`() throws {
        var story = try Story()
        try story.settle()
        story.replace(
            with: try story.altered { fields in
                Story.change(leg: 0, in: &fields) {
                    $0["capturedAmount"] = ["value": 400, "currency": "JPY"]
                }
            })
        var invariant = MoneyMatchesBooks()
        invariant.atRest(story.evidence)
        #expect(invariant.words.contains("leg 0 at provider-0: 1000 in the books, 400 in our rows"))
    }

    @Test func `1 fires when a charge has no row`() throws {
        var story = try Story()
        try story.settle()
        story.rows = Story.Rows()
        var invariant = MoneyMatchesBooks()
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["provider-0 has 1000 JPY in its books, we have 0"])
    }

    @Test func `1 allows what was given back at the provider's own console`() throws {
        var story = try Story()
        try story.settle()
        let changed = story.providers[0].changeOutside(
            .refundAll, story.payment.legs[0].primary.key, at: story.now)
        #expect(changed)
        var invariant = MoneyMatchesBooks()
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
    }

    @Test func `2 fires when a forgotten key is executed again`() throws {
        var story = try Story([.listed])
        let order = try story.nextSend()
        try story.deliver(order)
        story.now = story.now + .hours(1)
        try story.deliver(order)
        var invariant = OneLiveCharge()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
        story.now = story.now + .hours(24)
        try story.deliver(order)
        invariant.judge(story)
        #expect(invariant.words == ["leg 0 is charged 2 times"])
    }

    @Test func `7 fires when a canceled payment was charged, and not before it failed`() throws {
        var story = try Story()
        try story.settle()
        var invariant = UndoneMeansNothing()
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
        story.replace(
            with: try story.altered { fields in
                Story.change("conclusion", in: &fields) { $0["state"] = "canceled" }
            })
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["leg 0 was charged 1000 although the payment canceled"])
    }

    @Test func `7 fires when a failed payment still holds`() throws {
        var story = try Story([.reference], .manual)
        try story.settle()
        story.replace(
            with: try story.altered { $0["conclusion"] = ["state": "failed", "at": story.now.milliseconds] })
        var invariant = UndoneMeansNothing()
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["leg 0 holds 1000 although the payment failed"])
    }

    @Test func `8 fires when success is told before anything was taken`() throws {
        var story = try Story([.reference], .manual)
        try story.settle()
        let before = story.payment
        let after = try story.altered {
            $0["conclusion"] = ["state": "succeeded", "at": story.now.milliseconds]
        }
        var invariant = SucceededMeansAsked()
        invariant.judge(from: before, to: after, story)
        #expect(invariant.words.contains("leg 0 succeeded with 0 taken, asked 1000 JPY"))
        #expect(invariant.words.contains("leg 0 still holds 1000 after it succeeded"))
    }

    @Test func `8 leaves out the books of what two people misjudged, and nothing else`() throws {
        var story = try Story([.reference], .manual)
        try story.settle()
        for (captured, wrong) in [(1_000, 0), (900, 1)] {
            let after = try story.altered { fields in
                fields["conclusion"] = ["state": "succeeded", "at": story.now.milliseconds]
                fields["captureMode"] = "automatic"
                Story.change(leg: 0, in: &fields) { $0["capturedAmount"] = ["value": captured, "currency": "JPY"] }
            }
            let commit = Commit(
                site: 0, replica: 0, token: nil, epoch: 1, before: story.payment, after: after, entries: [])
            var evidence = story.evidence
            evidence.misjudged = [story.payment.id]
            var invariant = SucceededMeansAsked()
            invariant.committed(commit, at: story.now, evidence)
            // The hold that is left is in the books as well.
            #expect(invariant.words.count == wrong, "\(invariant.words)")
            var strict = SucceededMeansAsked()
            strict.committed(commit, at: story.now, story.evidence)
            #expect(strict.words.count == wrong + 2, "\(strict.words)")
        }
    }

    @Test func `8 knows that less can be asked`() throws {
        var story = try Story([.reference, .reference], .manual)
        try story.settle()
        let amounts = [0: try Money(400, story.payment.amount.currency)]
        try story.operate { machine, context throws in
            try machine.capture(key: try IdempotencyKey("take"), amounts: amounts, context)
        }
        try story.settle()
        #expect(story.payment.state == .succeeded)
        var invariant = SucceededMeansAsked()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
    }
}

extension Story {
    /// Changes a field that is an object.
    static func change(_ name: String, in fields: inout [String: Any], _ body: (inout [String: Any]) -> Void) {
        var object = fields[name] as? [String: Any] ?? [:]
        body(&object)
        fields[name] = object
    }

    /// Changes a leg.
    static func change(leg: Int, in fields: inout [String: Any], _ body: (inout [String: Any]) -> Void) {
        guard var legs = fields["legs"] as? [[String: Any]], legs.indices.contains(leg) else { return }
        body(&legs[leg])
        fields["legs"] = legs
    }
}
