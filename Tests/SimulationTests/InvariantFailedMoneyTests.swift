import MemoryStore
import Reconciler
import Testing

@testable import PaymentCore
@testable import Simulation

/// The judge of money that stands although its payment failed, where comparisons have found it.
@Suite struct InvariantFailedMoneyTests {
    /// Seed 22697543179346: a hold landed beside a decline after people had said that it was never charged.
    @Test(arguments: [false, true], [ComparisonAction.tell, .settle])
    func `7 knows what people were told of a key with two transactions, and nothing else`(
        _ isShared: Bool, _ action: ComparisonAction
    ) throws {
        let fires = ["leg 0 holds 1000 although the payment failed"]
        for code in [Leg.Gone.byPeople, "card_declined"] {
            var compared = try failed(code)
            #expect(compared.words(UndoneMeansNothing(), [], atRest: true) == fires, "nobody found it")
            for state in Discrepancy.State.allCases {
                var found = try compared.discrepancy(.statusDiffers, compared.key, state)
                if isShared { found.evidence = try compared.shared(found.evidence) }
                found.suggestion = action
                try compared.story.rows.comparisons.apply(.changed(found))
                let isLeft = code == Leg.Gone.byPeople && isShared && action == .tell && state == .open
                #expect(compared.words(UndoneMeansNothing(), [], atRest: true) == (isLeft ? [] : fires))
            }
        }
    }

    /// A payment that failed by this code, and whose hold stands.
    private func failed(_ code: String) throws -> ComparedStory {
        var story = try Story([.reference], .manual)
        try story.settle()
        var payment = try story.altered { $0["conclusion"] = ["state": "failed", "at": story.now.milliseconds] }
        payment.legs[0].gone = Leg.Gone(cause: .neverHappened, code: code)
        story.replace(with: payment)
        return ComparedStory(story)
    }
}
