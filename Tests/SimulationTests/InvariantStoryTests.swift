import PaymentCore
import Simulation
import Testing

@Suite struct InvariantStoryTests {
    static let casts: [[ProviderContract]] = [
        [.reference], [.referenceSale], [.listed], [.payPay], [.gmoPG], [.reference, .listed],
        [.reference, .gmoPG, .referenceSale],
    ]

    @Test(arguments: casts) func `succeeds, and every invariant holds`(_ contracts: [ProviderContract]) throws {
        var story = try Story(contracts)
        try story.settle()
        #expect(story.payment.state == .succeeded)
        try expectClean(story)
    }

    @Test(arguments: casts) func `is refunded in part and then wholly`(_ contracts: [ProviderContract]) throws {
        var story = try Story(contracts)
        try story.settle()
        let part = [0: try Money(300, story.payment.amount.currency)]
        try story.operate { machine, context throws in
            try machine.refund(key: try IdempotencyKey("back-1"), amounts: part, reason: nil, context)
        }
        try story.settle()
        try story.operate { machine, context throws in
            try machine.refund(key: try IdempotencyKey("back-2"), amounts: nil, reason: nil, context)
        }
        try story.settle()
        #expect(story.payment.refunded == story.payment.amount)
        try expectClean(story)
    }

    @Test func `is canceled while it rests`() throws {
        var story = try Story([.reference, .listed], .manual)
        try story.settle()
        #expect(story.payment.state == .authorized)
        try story.operate { machine, context throws in
            try machine.cancel(CancelRequest(key: try IdempotencyKey("stop"), at: context.now), context)
        }
        try story.settle()
        #expect(story.payment.state == .canceled)
        try expectClean(story)
    }

    @Test(arguments: EffectKind.allCases) func `ends safely when an effect is declined`(_ kind: EffectKind)
        throws
    {
        var story = try Story([.reference, .referenceSale])
        story.choices[kind] = ProviderChoices(declines: true)
        try story.settle()
        let ended = story.payment.state.isFinal || story.payment.state == .quarantined
        #expect(ended)
        try expectClean(story)
    }

    @Test func `waits for what is undecided`() throws {
        var story = try Story([.reference, .gmoPG])
        story.choices[.authorize] = ProviderChoices(pendingFor: .minutes(3))
        story.choices[.capture] = ProviderChoices(pendingFor: .hours(2))
        try story.settle()
        #expect(story.payment.state == .succeeded)
        try expectClean(story)
    }

    private func expectClean(_ story: Story) throws {
        var judges = Judges()
        for (happening, evidence) in story.happenings { judges.observe(happening, evidence) }
        judges.atRest(story.evidence)
        #expect(judges.violations.isEmpty)
        #expect(judges.isClean)
    }
}

@Suite struct InvariantListTests {
    @Test func `has all of them in order, each with its sentence`() {
        #expect(Judges.sentences.map(\.number) == Array(1...27))
        #expect(Set(Judges.sentences.map(\.sentence)).count == 27)
    }
}
