import PaymentCore
import Simulation
import Testing

@Suite struct InvariantRestTests {
    @Test func `15 fires when a payment is under way for ever`() throws {
        let story = try Story()
        var invariant = ComesToRest()
        invariant.judge(story)
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["it is processing for ever"])
    }

    @Test func `15 lets a payment rest until its hold ends, and no longer`() throws {
        var story = try Story([.reference], .manual)
        try story.settle(until: .hours(1))
        var invariant = ComesToRest()
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
        story.now = story.now + .days(8)
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["it is authorized past the end of its hold"])
    }

    @Test func `15 fires when a payment starves after faults are over`() throws {
        var story = try Story()
        story.note(.faultsEnded)
        story.now = story.now + .days(6)
        try story.settle()
        var invariant = ComesToRest()
        invariant.judge(story)
        #expect(invariant.words.count == 1)
        #expect(invariant.words.first?.contains("minutes to end after faults were over") == true)
    }

    @Test func `15 asks whether people were needed: for a contradiction that is none`() throws {
        var story = try Story()
        story.choices[.authorize] = ProviderChoices(contradicts: true)
        try story.settle()
        #expect(story.payment.state == .quarantined)
        var invariant = ComesToRest()
        invariant.judge(story)
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)

        var honest = try Story()
        try honest.settle(until: .milliseconds(1))
        let before = honest.payment
        let after = try honest.altered { fields in
            Story.change(leg: 0, in: &fields) {
                $0["quarantine"] = [
                    "cause": "contradiction", "effect": ["primary": [String: Any]()],
                    "row": "do.contradiction",
                    "since": 1,
                ]
            }
        }
        var second = ComesToRest()
        second.judge(from: before, to: after, honest)
        #expect(second.words == ["leg 0 was quarantined by do.contradiction although a safe row was left"])
    }

    @Test(arguments: [true, false])
    func `15 takes not_after for a proof only where a status can be read`(isAsked: Bool) throws {
        var contract = ProviderContract.adyen
        contract.enforcesNotAfter = true
        if isAsked { contract.inquiry = .byOwnKey }
        var story = try Story([contract])
        try story.deliver(try story.nextSend())
        story.now = story.now + (contract.keyRetention ?? .zero)
        let after = try story.altered { fields in
            Story.change(leg: 0, in: &fields) {
                $0["quarantine"] = [
                    "cause": "key_too_old", "effect": ["primary": [String: Any]()], "row": "undo.resend-too-old",
                    "since": 1,
                ]
            }
        }
        var invariant = ComesToRest()
        invariant.judge(from: story.payment, to: after, story)
        #expect(invariant.words.isEmpty != isAsked)
    }

    /// What the seed 31415926535039 did: a capture is answered as throttled, a copy of it is executed, and the other
    /// leg's capture is refused.
    @Test(arguments: [ProviderContract.Inquiry.byOwnKey, .byResend])
    func `15 sees that what overtook an undoing is learned, and given back`(
        inquiry: ProviderContract.Inquiry
    ) throws {
        var contract = ProviderContract.adyen
        contract.inquiry = inquiry
        var story = try Story([contract, contract], .manual)
        try story.settle(until: .minutes(1))
        try story.operate { machine, context throws in
            try machine.capture(key: try IdempotencyKey("capture"), amounts: nil, context)
        }
        let captures = [try story.nextSend(), try story.nextSend()]
        try story.deliver(captures[0])
        story.answer(captures[0], AttemptReport(.throttled, code: "http_429", bytesWritten: 400))
        story.answer(captures[1], AttemptReport(.refused, code: "http_400", bytesWritten: 400))
        try story.settle(until: .minutes(10))
        #expect(story.payment.state == .failed)
        var invariant = ComesToRest()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
    }

    @Test(arguments: ["conflict_captured", "refused_for_a_reason"])
    func `15 fires when an undoing that something overtook is left to people`(_ code: String) throws {
        var story = try Story([.adyen])
        try story.deliver(try story.nextSend())
        let after = try story.altered { fields in
            Story.change(leg: 0, in: &fields) {
                var void = $0["primary"] as? [String: Any] ?? [:]
                void["kind"] = "void"
                void["lastOutcome"] = OutcomeClass.refused.rawValue
                void["lastCode"] = code
                $0["void"] = void
                $0["quarantine"] = [
                    "cause": "undo_refused", "effect": ["void": [String: Any]()], "row": "undo.held", "since": 1,
                ]
            }
        }
        var invariant = ComesToRest()
        invariant.judge(from: story.payment, to: after, story)
        #expect(invariant.words.isEmpty == (code != "conflict_captured"))
    }

    @Test(arguments: [
        ("key_too_old", "undo.too-old"), ("undo_impossible", "undo.impossible"),
        ("undo_refused", "do.declined"),
        ("accepted_but_missing", "do.accepted-missing"),
    ]) func `15 fires when a tombstoning provider's leg is quarantined`(_ cause: String, _ row: String) throws {
        var story = try Story()
        try story.deliver(try story.nextSend())
        let after = try story.altered { fields in
            Story.change(leg: 0, in: &fields) {
                $0["quarantine"] = [
                    "cause": cause, "effect": ["primary": [String: Any]()], "row": row, "since": 1,
                ]
            }
        }
        var invariant = ComesToRest()
        invariant.judge(from: story.payment, to: after, story)
        #expect(invariant.words == ["leg 0 was quarantined by \(row) although a safe row was left"])
    }

    @Test func `15 knows when nothing safe is left`() throws {
        var story = try Story([.listed])
        let order = try story.nextSend()
        story.answer(order, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400))
        // It may not be sent again to be able to undo it, and nothing else would.
        try story.operate { machine, context throws in
            try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
        }
        try story.settle(until: .hours(1))
        #expect(story.payment.state == .quarantined)
        var invariant = ComesToRest()
        invariant.judge(story)
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
    }

    @Test func `15 fires when a leg is left behind beside a quarantined one`() throws {
        var story = try Story([.reference, .reference])
        story.choices[.void] = ProviderChoices(declines: true)
        try story.settle(until: .milliseconds(1))
        let after = try story.altered { fields in
            fields["conclusion"] = nil
            Story.change(leg: 0, in: &fields) {
                $0["capturedAmount"] = ["value": 0, "currency": "JPY"]
                $0["quarantine"] = [
                    "cause": "undo_refused", "effect": ["void": [String: Any]()], "row": "do.declined",
                    "since": 1,
                ]
            }
            Story.change(leg: 1, in: &fields) { $0["capturedAmount"] = ["value": 1, "currency": "JPY"] }
        }
        story.replace(with: after)
        var invariant = ComesToRest()
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["leg 1 was left behind beside a quarantined one"])
    }

    @Test func `16 fires when a replica never stops, stops late or keeps leases`() throws {
        var story = try Story()
        var invariant = DrainsFinish()
        invariant.judge(.stopping(replica: 1), story)
        story.now = story.now + .minutes(1)
        invariant.judge(.stopped(replica: 1, leasesKept: []), story)
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
        invariant.judge(.stopping(replica: 1), story)
        invariant.judge(.stopping(replica: 2), story)
        story.now = story.now + .hours(3)
        invariant.judge(.stopped(replica: 1, leasesKept: [story.payment.id]), story)
        invariant.atRest(story.evidence)
        #expect(
            invariant.words == [
                "replica 1 stopped in order and kept 1 leases",
                "replica 1 took 10800000 ms to stop",
                "replica 2 was told to stop and never did",
            ])
    }

    @Test func `16 fires when a site is never given back`() throws {
        var story = try Story()
        var invariant = DrainsFinish()
        invariant.judge(.fault(.failback, id: 1, detail: ""), story)
        story.now = story.now + .hours(1)
        invariant.judge(.promoted(site: 0, epoch: 3, rowsLost: 0), story)
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
        invariant.judge(.fault(.failback, id: 2, detail: ""), story)
        invariant.judge(.stopping(replica: 0), story)
        invariant.judge(.stopped(replica: 0, leasesKept: []), story)
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["a failback never finished"])
    }
}
