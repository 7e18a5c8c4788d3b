import PaymentCore
import Reconciler
import Simulation
import Testing

@Suite struct InvariantCallerTests {
    private func create(_ story: Story, body: Int = 0) -> CallerOperation {
        CallerOperation(
            caller: story.payment.caller, key: story.payment.key, payment: story.payment.id,
            kind: .create(body: body))
    }

    @Test func `3 fires when an acknowledged row is gone after a failover`() throws {
        var story = try Story()
        var invariant = AcknowledgedIsReadable()
        invariant.judge(story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        invariant.judge(.promoted(site: 1, epoch: 2, rowsLost: 0), story)
        #expect(invariant.words.isEmpty)
        story.rows = Story.Rows()
        invariant.judge(.promoted(site: 1, epoch: 3, rowsLost: 1), story)
        #expect(invariant.words == ["an acknowledged create is gone after the failover to site 1"])
    }

    @Test func `3 waits for the caller's repeats where rows may be lost`() throws {
        var story = try Story()
        story.keepsAcknowledgedRows = false
        var invariant = AcknowledgedIsReadable()
        invariant.judge(story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        story.rows = Story.Rows()
        invariant.judge(.promoted(site: 1, epoch: 2, rowsLost: 1), story)
        #expect(invariant.words.isEmpty)
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["an acknowledged create is gone at rest"])
    }

    @Test func `3 fires when a create is answered before it is durable`() throws {
        let story = try Story()
        var invariant = AcknowledgedIsReadable()
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        #expect(invariant.words == ["a create was acknowledged before it was durable"])
    }

    @Test(arguments: [
        CallerOperation.Kind.cancel, .capture(amounts: nil), .refund(amounts: nil),
    ])
    func `3 fires when an operation is answered that is not in the row`(kind: CallerOperation.Kind) throws {
        let story = try Story()
        let made = create(story)
        let operation = CallerOperation(
            caller: made.caller, key: try IdempotencyKey("another"), payment: made.payment, kind: kind)
        var invariant = AcknowledgedIsReadable()
        invariant.judge(story)
        invariant.judge(.answered(operation, .refused(.processing)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.answered(operation, .accepted(.processing)), story)
        #expect(invariant.words == ["an operation was acknowledged before it was durable"])
    }

    @Test func `4 fires when a settled answer changes`() throws {
        let story = try Story()
        var invariant = OneFinalAnswer()
        invariant.judge(.asked(create(story), attempt: 1), story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        invariant.judge(.answered(create(story), .settled(.authorized, refund: nil)), story)
        invariant.judge(.answered(create(story), .unavailable), story)
        invariant.judge(.answered(create(story), .settled(.authorized, refund: nil)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.answered(create(story), .settled(.succeeded, refund: nil)), story)
        #expect(invariant.words.count == 1)
    }

    @Test func `4 lets a request that was under way be told that it goes on, and none after that`() throws {
        let story = try Story()
        var invariant = OneFinalAnswer()
        for attempt in 1...2 { invariant.judge(.asked(create(story), attempt: attempt), story) }
        invariant.judge(.answered(create(story), .settled(.authorized, refund: nil)), story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.asked(create(story), attempt: 3), story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        #expect(invariant.words.count == 1)
    }

    @Test func `4 fires when another body gets the key`() throws {
        let story = try Story()
        var invariant = OneFinalAnswer()
        for body in 0...1 { invariant.judge(.asked(create(story, body: body), attempt: 1), story) }
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        invariant.judge(.answered(create(story, body: 1), .keyReused), story)
        invariant.judge(.answered(create(story), .settled(.succeeded, refund: nil)), story)
        invariant.judge(.answered(create(story, body: 1), .keyReused), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.answered(create(story, body: 1), .accepted(.processing)), story)
        #expect(invariant.words.contains("key order-1 was given to two different requests"))
    }

    @Test func `4 fires when the only request of a key is told that it is another's`() throws {
        let story = try Story()
        var invariant = OneFinalAnswer()
        invariant.judge(.asked(create(story), attempt: 1), story)
        invariant.judge(.answered(create(story), .keyReused), story)
        #expect(invariant.words == ["key order-1 was called used for another request, and there was none"])
    }

    @Test func `4 fires after lost rows only when success turns into its opposite`() throws {
        var story = try Story()
        story.keepsAcknowledgedRows = false
        var invariant = OneFinalAnswer()
        invariant.judge(.answered(create(story), .settled(.authorized, refund: nil)), story)
        invariant.judge(.promoted(site: 1, epoch: 2, rowsLost: 1), story)
        invariant.judge(.answered(create(story), .settled(.succeeded, refund: nil)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.promoted(site: 0, epoch: 3, rowsLost: 1), story)
        invariant.judge(.answered(create(story), .settled(.failed, refund: nil)), story)
        #expect(invariant.words.count == 1)
    }

    @Test func `5 fires when two callers meet under one effect key`() throws {
        var story = try Story()
        let order = try story.nextSend()
        var invariant = KeysDoNotCollide()
        invariant.judge(story)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        #expect(invariant.words.isEmpty)
        // Somebody else's payment with the same keys inside: nothing was sent of it yet.
        let fresh = try Story()
        let stolen = try Story.altered(fresh.payment) { fields in
            fields["caller"] = "thief"
            Story.change(leg: 0, in: &fields) { leg in
                Story.change("primary", in: &leg) {
                    $0["open"] = nil
                    $0["attempts"] = 0
                }
            }
        }
        var machine = PaymentMachine(payment: stolen)
        guard case .send(let theirs)? = machine.handle(.woke, fresh.context).first else {
            throw Story.Missing(what: "a request")
        }
        #expect(theirs.key == order.key)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), theirs), story)
        #expect(invariant.words == ["one effect key for two effects"])
    }

    @Test func `5 fires when a caller is answered about what it does not have`() throws {
        let story = try Story()
        let other = try Story(caller: "other")
        var invariant = KeysDoNotCollide()
        invariant.judge(story)
        invariant.judge(.answered(create(story), .accepted(.processing)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.answered(create(other), .accepted(.processing)), story)
        #expect(invariant.words.count == 1)
    }

    @Test func `6 fires when a final state changes`() throws {
        var story = try Story()
        try story.settle()
        var invariant = FinalStatesStay()
        invariant.judge(story)
        invariant.judge(from: story.payment, to: story.payment, story)
        #expect(invariant.words.isEmpty)
        let changed = try story.altered { fields in
            fields["conclusion"] = [
                "state": "failed", "at": story.now.milliseconds, "reason": ["code": "declined"],
            ]
        }
        invariant.judge(from: story.payment, to: changed, story)
        #expect(invariant.words == ["it ended succeeded, and now is failed"])
        let reopened = try story.altered { $0["conclusion"] = nil }
        invariant.judge(from: story.payment, to: reopened, story)
        #expect(invariant.words.count == 2)
    }

    @Test func `6 allows a conclusion to be found again after rows were lost, but no other one`() throws {
        var story = try Story()
        try story.settle()
        let reopened = try story.altered { $0["conclusion"] = nil }
        let canceled = try story.altered { fields in
            fields["conclusion"] = ["state": "canceled", "at": 1, "reason": ["code": "canceled_by_caller"]]
        }
        for isTold in [false, true] {
            var invariant = FinalStatesStay()
            invariant.judge(story)
            if isTold { invariant.judge(.answered(create(story), .settled(.succeeded, refund: nil)), story) }
            invariant.judge(.promoted(site: 1, epoch: 2, rowsLost: 3), story)
            invariant.judge(from: nil, to: reopened, story)
            #expect(invariant.words.isEmpty)
            invariant.judge(from: reopened, to: canceled, story)
            // What no store kept and nobody heard of may end otherwise.
            #expect(invariant.words == (isTold ? ["it ended succeeded, and after rows were lost canceled"] : []))
        }
    }
}
