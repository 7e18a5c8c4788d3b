import PaymentCore
import Reconciler
import Testing

@testable import Simulation

/// The judge of what is begun late.
@Suite struct InvariantPromptTests {
    /// A payment that succeeded, a minute ago.
    private func succeeded(_ contract: ProviderContract = .reference) throws -> Story {
        var story = try Story([contract])
        try story.settle()
        try #require(story.payment.state == .succeeded)
        story.now = story.now + .minutes(1)
        return story
    }

    private func refund(_ story: inout Story, _ key: String = "refund-1", _ value: Int64 = 100) throws {
        let amounts = [0: try Money(value, story.payment.amount.currency)]
        try story.operate { machine, context in
            try machine.refund(key: try IdempotencyKey(key), amounts: amounts, reason: nil, context)
        }
    }

    private func words(_ story: Story) -> [String] {
        var invariant = BegunInTime()
        invariant.judge(story)
        invariant.atRest(story.evidence)
        return invariant.words
    }

    @Test func `27 allows what leaves at once, and what leaves with the first delay`() throws {
        for wait in [Span.zero, .seconds(12)] {
            var story = try succeeded()
            try refund(&story)
            story.now = story.now + wait
            _ = try story.nextSend()
            #expect(words(story) == [])
        }
    }

    @Test func `27 fires when a refund, a payment, a capture or a cancel is left lying`() throws {
        var refunded = try succeeded()
        try refund(&refunded)
        refunded.now = refunded.now + .seconds(13)
        let expected = "a refund of leg 0 was asked for at \((refunded.now + .seconds(-13)).rfc3339)"
        #expect(words(refunded).first?.hasPrefix(expected) == true)
        _ = try refunded.nextSend()
        #expect(words(refunded).first?.hasPrefix(expected) == true)

        var created = try Story()
        created.now = created.now + .seconds(13)
        #expect(words(created).first?.hasPrefix("the payment was asked for") == true)

        for isCapture in [true, false] {
            var held = try Story([.reference], .manual)
            try held.settle(until: .minutes(5))
            try #require(held.payment.state == .authorized)
            held.now = held.now + .minutes(1)
            let key = try IdempotencyKey("next")
            try held.operate { machine, context in
                try isCapture
                    ? machine.capture(key: key, amounts: nil, context)
                    : machine.cancel(CancelRequest(key: key, reason: nil, at: context.now), context)
            }
            held.now = held.now + .seconds(13)
            let what = isCapture ? "the capture" : "the cancel"
            #expect(words(held).first?.hasPrefix("\(what) was asked for") == true, "\(what)")
        }
    }

    @Test func `27 leaves out what people were told of at once`() throws {
        var forgetful = ProviderContract.adyen
        forgetful.keyRetention = .minutes(1)
        var held = try Story([forgetful], .manual)
        try held.settle(until: .minutes(5))
        try #require(held.payment.state == .authorized)
        held.now = held.now + .minutes(1)
        try held.operate { machine, context in
            try machine.capture(key: try IdempotencyKey("next"), amounts: nil, context)
        }
        // Another holder does not know whether its request left, and its key is too old to ask by it.
        held.handle(.claimed)
        try #require(held.payment.state == .quarantined, "\(held.payment.state)")
        held.now = held.now + .seconds(13)
        #expect(words(held) == [])
    }

    @Test func `27 leaves out what a fault or a replica's end may hinder, before and after`() throws {
        let hindrances: [Happening.What] = [.fault(.storeBusy, id: 1, detail: ""), .stopping(replica: 0)]
        for hindrance in hindrances {
            var story = try succeeded()
            try refund(&story)
            story.note(hindrance)
            story.now = story.now + .hours(1)
            #expect(words(story) == [])
        }
        var struck = try succeeded()
        struck.note(.fault(.commitIndeterminate, id: 1, detail: ""))
        try refund(&struck)
        struck.now = struck.now + .hours(1)
        #expect(words(struck) == [])
        // What was late before the fault struck is late.
        var late = try succeeded()
        try refund(&late)
        late.now = late.now + .hours(1)
        late.note(.fault(.storeBusy, id: 1, detail: ""))
        #expect(words(late).count == 1)
    }

    /// The first has to be sent again, and nothing is on the wire.
    @Test func `27 leaves out a refund behind one that goes on`() throws {
        var behind = try succeeded()
        try refund(&behind)
        behind.answer(try behind.nextSend(), AttemptReport(.unsent, code: "connection_refused"))
        try refund(&behind, "refund-2")
        behind.now = behind.now + .hours(1)
        #expect(words(behind) == [])
    }

    @Test func `27 leaves out a refund beside a question, and not one after it`() throws {
        for isAnswered in [false, true] {
            var beside = try succeeded()
            let leg = beside.payment.legs[0]
            let order = InquiryOrder(
                payment: beside.payment.id, leg: 0, provider: leg.provider, transactionKey: leg.primary.key,
                phases: nil)
            beside.note(.inquiring(replica: 0, token: LeaseToken(1), order, payment: beside.payment.id))
            if isAnswered {
                let seen = Observation(.unavailable, began: beside.now, source: .inquiry)
                beside.note(
                    .learned(
                        replica: 0, token: LeaseToken(1), .inquired(leg: 0, seen), payment: beside.payment.id))
            }
            try refund(&beside)
            beside.now = beside.now + .hours(1)
            #expect(words(beside).count == (isAnswered ? 1 : 0))
        }
    }

    @Test func `27 leaves out what is asked for while something is broken, or many are under way`() throws {
        let story = try succeeded()
        var refunded = story
        try refund(&refunded)
        let commit = try #require(refunded.happenings.last?.happening)
        func found(_ prepare: (inout BegunInTime, inout Evidence) -> Void) -> Int {
            var (invariant, evidence) = (BegunInTime(), story.evidence)
            prepare(&invariant, &evidence)
            invariant.observe(commit, evidence)
            refunded.now = story.now + .hours(1)
            invariant.atRest(refunded.evidence)
            return invariant.words.count
        }
        func others(_ count: Int, _ invariant: inout BegunInTime) throws {
            for number in 0..<count {
                let other = PaymentID(caller: story.payment.caller, key: try IdempotencyKey("other-\(number)"))
                invariant.began(0, of: other, replica: 0, token: LeaseToken(1), at: story.now)
            }
        }
        #expect(found { _, _ in } == 1)
        #expect(found { $1.isCalm = false } == 0)
        for (count, expected) in [(7, 1), (8, 0)] {
            var failure: (any Error)?
            let number = found { invariant, _ in
                do { try others(count, &invariant) } catch { failure = error }
            }
            #expect(number == expected && failure == nil, "\(count) others")
        }
    }

    @Test func `27 waits for the sum before a refund where a provider shows only sums`() throws {
        var contract = ProviderContract.reference
        contract.refundVisibility = .sumsOnly
        for (late, isFound) in [(Span.seconds(-1), false), (.seconds(1), true)] {
            var story = try succeeded(contract)
            try refund(&story)
            story.now = story.now + .milliseconds(2_199) + contract.proofMargin + BegunInTime.slack + late
            #expect(words(story).isEmpty == !isFound, "\(late)")
        }
    }
}
