internal import PaymentCore

extension SearchPlant {
    /// Unsafe decisions about providers that cannot be asked.
    static let ofResends: [Expectation] = [
        expect(
            SearchPlant(
                "resend, doubt", "what nobody answered is taken for never, where nothing can be asked",
                effectTable: .withRow(
                    EffectTable.Row(
                        "undo.doubt-is-never",
                        when: { $0.goal == .undo && $0.isAskedByResend && $0.isInDoubt && $0.status == .notAsked },
                        then: { _ in .gone(.neverHappened) }))),
            .make("one leg, cannot be asked", [Scenario.unaskable]) { $0.plugAllowed = true }, [7]),
        expect(
            SearchPlant(
                "resend, age", "a resend does not ask whether its key may be forgotten",
                effectTable: .seeing { $0.age = .safe }),
            .make("one leg, cannot be asked, keys are forgotten", [Scenario.unaskableForgetful]) {
                $0.plugAllowed = true
                $0.requestLife = .bounded
                $0.quarantineExpected = true
            }, [2]),
        expect(
            SearchPlant(
                "resend, stray answer", "a refusal that names no key settles what is in doubt",
                behaviorChanges: [.keylessAnswersBelieved]),
            .make("one sale, cannot be asked, stray refusals", [Scenario.unaskableSale]) {
                $0.plugAllowed = true
                $0.requestLife = .bounded
                $0.answers = [.transaction, .stray]
            }, [7]),
        expect(
            SearchPlant(
                "resend, life", "a refusal settles a doubt while an earlier request may still arrive",
                behaviorChanges: [.requestsOutliveTheirLife]),
            refused("one leg, cannot be asked, requests outlive their life"), [7]),
        expect(
            SearchPlant(
                "resend, keys last", "the provider refuses what it has executed, before it looks at its keys",
                behaviorChanges: [.keysComeLast]),
            refused("one leg, cannot be asked, keys come last"), [7]),
        expect(
            SearchPlant(
                "resend, news", "news of another payment are taken for news of this one",
                behaviorChanges: [.newsOfAnybodyBelieved]),
            .make("one leg, cannot be asked, tells by itself", [Scenario.unaskable]) {
                $0.plugAllowed = true
                $0.requestLife = .bounded
                $0.answers = [.transaction]
                $0.tells = true
            }, [7, 8]),
    ]

    private static func refused(_ name: String) -> Scenario {
        .make(name, [Scenario.unaskable]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.answers = [.transaction, .refused]
            $0.quarantineExpected = true
        }
    }
}
