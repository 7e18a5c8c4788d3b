import PaymentCore
import Reconciler
import Simulation
import Testing

@Suite struct InvariantWriterTests {
    @Test func `9 fires when a request leaves without an intent, or twice for one`() throws {
        var story = try Story()
        let order = try story.nextSend()
        var invariant = IntentBeforeSend()
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        #expect(invariant.words == ["authorize of leg 0, attempt 1, left without a durable intent"])
        var second = IntentBeforeSend()
        second.judge(story)
        #expect(second.words.isEmpty)
        second.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        #expect(second.words == ["authorize of leg 0, attempt 1, left without a durable intent"])
    }

    @Test func `9 allows the same attempt again when its row was lost and written anew`() throws {
        var story = try Story()
        let order = try story.nextSend()
        var invariant = IntentBeforeSend()
        invariant.judge(story)
        invariant.judge(from: nil, to: story.payment, story)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        #expect(invariant.words.isEmpty)
    }

    @Test func `9 fires when a paused sender goes on hours later`() throws {
        var story = try Story()
        story.now = story.now + .hours(3)
        _ = try story.nextSend()
        var invariant = IntentBeforeSend()
        invariant.judge(story)
        #expect(invariant.words.count == 1)
        #expect(invariant.words.first?.hasSuffix("ms too late") == true)
    }

    @Test func `10 fires when an attempt has a key of its own`() throws {
        var format = ProviderContract.reference
        format.keyFormat = .uuid
        let story = try Story()
        var other = try Story([format])
        let order = try other.nextSend()
        var invariant = KeyIsDerived()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        #expect(invariant.words.contains("authorize of leg 0 was sent under another key than its own"))
    }

    @Test func `10 fires when a written key is not what its definition says`() throws {
        let story = try Story()
        let changed = try story.altered { fields in
            Story.change(leg: 0, in: &fields) { leg in
                Story.change("primary", in: &leg) { $0["key"] = "0123456789abcdef" }
            }
        }
        var invariant = KeyIsDerived()
        invariant.judge(from: nil, to: changed, story)
        #expect(invariant.words == ["the key of leg 0, primary, is not what its definition says"])
    }

    @Test func `11 fires when an older token writes`() throws {
        let story = try Story()
        var invariant = OldWritersRefused()
        let next = try story.altered { $0["version"] = 2 }
        invariant.judge(.leased(site: 0, replica: 0, payment: story.payment.id, token: LeaseToken(1)), story)
        invariant.judge(from: nil, to: story.payment, token: 1, story)
        invariant.judge(.leased(site: 0, replica: 1, payment: story.payment.id, token: LeaseToken(2)), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(from: story.payment, to: next, token: 1, story)
        #expect(invariant.words == ["a write under token 1 was taken while 2 is the newest"])
    }

    @Test func `11 fires when the last write wins`() throws {
        let story = try Story()
        let newer = try story.altered { $0["version"] = 2 }
        var invariant = OldWritersRefused()
        invariant.judge(from: nil, to: story.payment, story)
        invariant.judge(from: story.payment, to: newer, story)
        #expect(invariant.words.isEmpty)
        invariant.judge(from: newer, to: newer, story)
        #expect(invariant.words == ["version 2 was written over version 2"])
    }

    @Test func `11 fires when an ended term writes or sends, and when a term is not new`() throws {
        var story = try Story()
        let order = try story.nextSend()
        let newer = try story.altered { $0["version"] = 2 }
        var invariant = OldWritersRefused()
        invariant.judge(.started(replica: 0, site: 0), story)
        invariant.judge(.promoted(site: 0, epoch: 1, rowsLost: 0), story)
        invariant.judge(from: nil, to: story.payment, story)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        invariant.judge(.promoted(site: 1, epoch: 2, rowsLost: 0), story)
        #expect(invariant.words.isEmpty)
        invariant.judge(.sent(replica: 0, token: LeaseToken(1), order), story)
        invariant.judge(from: story.payment, to: newer, epoch: 1, site: 1, story)
        invariant.judge(.promoted(site: 0, epoch: 2, rowsLost: 0), story)
        #expect(
            invariant.words == [
                "site 0 sends while site 1 is active", "a write of epoch 1 was taken during epoch 2",
                "site 0 began epoch 2 after epoch 2",
            ])
    }

    @Test func `12 fires when a latch moves back, and when an acknowledged one is lost`() throws {
        var story = try Story()
        try story.settle()
        var invariant = LatchesOnlyForward()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
        let back = try story.altered { $0["latch"] = "back" }
        invariant.judge(from: story.payment, to: back, story)
        #expect(
            invariant.words == [
                "the latch moved from forward to back without an entry",
                "the latch was acknowledged as forward, and now is back",
            ])
    }

    @Test func `13 fires when an entry is dropped`() throws {
        var story = try Story()
        try story.settle()
        var invariant = TrailUnbroken()
        invariant.judge(story)
        invariant.atRest(story.evidence)
        #expect(invariant.words.isEmpty)
        let trail = story.rows.trail(of: story.payment.id)
        let before = try story.altered { $0["auditHead"] = ["sequence": 0, "hash": Digest.none.hex] }
        invariant.judge(from: before, to: story.payment, entries: Array(trail.dropFirst()), story)
        #expect(invariant.words == ["entry 2 does not follow entry 0"])
        story.rows.trails[story.payment.id] = Array(trail.dropLast())
        invariant.atRest(story.evidence)
        #expect(invariant.words.count == 3)
        #expect(invariant.words.contains("conclusion: succeeded, by its trail none"), "\(invariant.words)")
    }

    @Test func `13 fires when a payment says something else than its trail`() throws {
        var story = try Story()
        try story.settle()
        story.rows.payments = [try story.altered { $0["captureMode"] = "manual" }]
        var invariant = TrailUnbroken()
        invariant.atRest(story.evidence)
        #expect(invariant.words == ["capture: manual, by its trail automatic"])
    }

    @Test func `13 fires when another row decides from the facts that were recorded, or none can`() throws {
        let facts = EffectFacts(goal: .undo, worst: .indeterminate, status: .tombstoned).text
        let told = [
            (facts, "undo.held was recorded, and undo.gone decides from its facts"),
            (facts + " moon=full", "the facts of undo.held cannot be read"),
            (nil, "what made the entry of type intent is not in it"),
        ]
        for (facts, words) in told {
            let story = try Story()
            let fields = facts.map { [AuditField(AuditField.facts, $0)] } ?? []
            let entry = AuditEntry(
                after: story.payment.auditHead, payment: story.payment.id, at: story.now, type: .intent, leg: 0,
                fields: [AuditField("row", "undo.held")] + fields)
            var invariant = TrailUnbroken()
            let after = try story.altered {
                $0["auditHead"] = ["sequence": entry.sequence, "hash": entry.hash.hex]
            }
            invariant.judge(from: story.payment, to: after, entries: [entry], story)
            #expect(invariant.words == [words])
        }
    }

    @Test func `13 fires when somebody approves their own request`() throws {
        let story = try Story()
        let fields = [AuditField("requested_by", "ann"), AuditField("approved_by", "ann")]
        let entry = AuditEntry(
            after: story.payment.auditHead, payment: story.payment.id, at: story.now, type: .resolved, leg: 0,
            fields: fields)
        var invariant = TrailUnbroken()
        let after = try story.altered {
            $0["auditHead"] = ["sequence": entry.sequence, "hash": entry.hash.hex]
        }
        invariant.judge(from: story.payment, to: after, entries: [entry], story)
        #expect(invariant.words == ["somebody approved their own request"])
    }

    @Test(arguments: [
        ("card 4111 1111 1111 1111", "a card number in an audit entry"),
        ("tok_story_0", "an instrument in an audit entry"),
        ("Authorization: Bearer x", "a secret in an audit entry"), ("CVV 123", "a secret in an audit entry"),
    ]) func `14 fires when a secret is written`(_ text: String, _ found: String) throws {
        let story = try Story()
        var invariant = NoSecrets()
        invariant.judge(story)
        #expect(invariant.words.isEmpty)
        let entry = AuditEntry(
            after: story.payment.auditHead, payment: story.payment.id, at: story.now, type: .outcome, leg: 0,
            fields: [AuditField("code", text)])
        invariant.judge(from: story.payment, to: story.payment, entries: [entry], story)
        #expect(invariant.words == [found])
    }

    @Test func `14 fires when a secret is told to people`() throws {
        let story = try Story()
        var invariant = NoSecrets()
        invariant.judge(story)
        invariant.judge(.refused(replica: 0, payment: story.payment.id, why: "leg of tok_story_0"), story)
        #expect(invariant.words == ["an instrument in a message"])
    }
}

extension Digest {
    static let none = Digest(of: [String]())
}
