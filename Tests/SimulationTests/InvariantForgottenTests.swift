import Reconciler
import Testing

@testable import PaymentCore
@testable import Simulation

/// The judge of what comparisons find, where a provider shows no more what was.
@Suite struct InvariantForgottenTests {
    @Test(arguments: ["provider.forgot", "both.young"], [Int64(1), 48])
    func `20 leaves what a provider shows no more to people, once they have it`(_ row: String, _ hours: Int64) throws {
        // Seed 16967743656053: two people stated a charge that never was, and the payment stays with people.
        var contract = ProviderContract.reference
        contract.statusRetention = .hours(24)
        var story = try Story([contract])
        try story.settle()
        var compared = ComparedStory(story)
        compared.story.providers[0] = SimulatedProvider(name: compared.provider, contract: contract)
        let leg = story.payment.legs[0]
        let ours = BookedPosition(
            payment: story.payment.id, leg: 0, provider: compared.provider, key: compared.key, amount: leg.amount,
            captured: leg.capturedAmount, refunds: [], standing: .taken, work: .people, state: .quarantined,
            updatedAt: compared.start, askedAt: compared.start)
        let run = compared.ended(try compared.run())
        try compared.keep(run)
        let position = ComparedPosition(
            provider: compared.provider, key: compared.key, theirs: nil, ours: ours, listedAt: nil, finding: .inFlight,
            row: row, isNamed: false, comparedAt: compared.start + .hours(hours), run: run.id)
        try compared.keep(ComparisonStep(run: run, positions: [position]))
        #expect(compared.words(DifferencesAreFound(), [], atRest: true).count == 1, "nobody has it")
        var waiting = story.payment
        waiting.legs[0].quarantine = Leg.Quarantine(
            cause: .keyTooOld, effect: .primary, row: "undo.too-old", since: compared.start)
        compared.story.replace(with: waiting)
        let words = compared.words(DifferencesAreFound(), [], atRest: true)
        #expect(words.isEmpty == (row == "provider.forgot" && hours == 48), "\(words)")
    }
}
