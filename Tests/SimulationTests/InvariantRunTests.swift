import Reconciler
import Testing

@testable import PaymentCore
@testable import Simulation

/// The judges of runs: windows, who may write, and the proof of the money.
@Suite struct InvariantRunTests {
    private func claimed(_ run: ComparisonRun, _ token: Int64) -> ComparisonNews {
        .claimed(run, replica: 0, token: LeaseToken(token))
    }

    private func recorded(_ run: ComparisonRun, from version: Int64? = nil, _ token: Int64) -> ComparisonNews {
        let before = run.stored(version: version ?? run.version)
        return .recorded(ComparisonStep(run: run), before: before, replica: 0, token: LeaseToken(token))
    }

    @Test func `17 fires when a window leaves something out, overlaps, or is begun before the one before has ended`()
        throws
    {
        var compared = try ComparedStory()
        let first = try compared.run()
        #expect(compared.words(WindowsAdjoin(), [.planned(first)]).isEmpty)
        try compared.keep(first)
        let next = try compared.run(1)
        #expect(compared.words(WindowsAdjoin(), [.planned(next)]).first?.contains("before was finished") == true)
        try compared.keep(ComparisonStep(run: compared.ended(first)))
        #expect(compared.words(WindowsAdjoin(), [.planned(next)], atRest: true).isEmpty)
        for wrong in [try compared.run(2), try compared.run(0, hours: 2)] {
            let words = compared.words(WindowsAdjoin(), [.planned(wrong)])
            #expect(words.count == 1 && words[0].contains("a window begins at"), "\(words)")
        }
    }

    @Test func `17 fires at the end when a window between two was never compared`() throws {
        var compared = try ComparedStory()
        for hour in [0, 1, 2] as [Int64] {
            try compared.keep(ComparisonStep(run: compared.ended(try compared.run(hour))))
        }
        #expect(compared.words(WindowsAdjoin(), [], atRest: true).isEmpty)
        try compared.keep(ComparisonStep(run: compared.ended(try compared.run(4))))
        let words = compared.words(WindowsAdjoin(), [], atRest: true)
        #expect(words.count == 1 && words[0].contains("nothing was compared from"), "\(words)")
    }

    @Test func `18 allows a run that changes hands, and the next once it has ended`() throws {
        let compared = try ComparedStory()
        let (run, next) = (try compared.run(), try compared.run(1))
        let words = compared.words(
            OneRunAtATime(),
            [
                .planned(run), claimed(run, 1), recorded(run, 1), claimed(run.stored(version: 2), 2),
                recorded(run.stored(version: 2), 2), recorded(compared.ended(run.stored(version: 3)), 2),
                .planned(next), claimed(next, 3), recorded(next, 3),
            ])
        #expect(words.isEmpty, "\(words)")
    }

    @Test func `18 fires when two work at a lane, an old claim writes, or what has ended goes on`() throws {
        let compared = try ComparedStory()
        let (run, next) = (try compared.run(), try compared.run(1))
        let ended = [claimed(run, 1), recorded(compared.ended(run), 1)]
        let stories: [(news: [ComparisonNews], words: String)] = [
            ([claimed(run, 2), claimed(run, 2)], "was claimed under an old token"),
            ([claimed(run, 1), claimed(next, 2)], "while another run was under way"),
            ([claimed(run, 1), claimed(run, 2), recorded(run, 1)], "a claim that was not the newest"),
            ([claimed(run, 1), recorded(next, 1)], "a claim that was not the newest"),
            ([claimed(run, 1), recorded(run, from: 2, 1)], "was written from version 1, and was of 2"),
            ([claimed(run, 1), recorded(run, 1), recorded(run, 1)], "was written from version 1"),
            (ended + [recorded(run.stored(version: 2), 1)], "was finished, and went on"),
            (ended + [claimed(run, 2)], "was finished, and claimed again"),
            (ended + [.planned(run)], "was finished, and is planned again"),
        ]
        for (news, wanted) in stories {
            let words = compared.words(OneRunAtATime(), news)
            #expect(words.count == 1 && words[0].contains(wanted), "\(wanted): \(words)")
        }
    }

    @Test func `19 fires when a run ends with money that nothing explains, or its sums do not add up`() throws {
        let compared = try ComparedStory()
        let run = try compared.run()
        let sides = NetSums.Sides(ours: 1_000, theirs: 700)
        func proof(opening: Int64 = 0, explained: Int64 = 300) -> BalanceProof {
            BalanceProof(
                currency: compared.yen, opening: NetSums.Sides(ours: opening), moved: sides, closing: sides,
                explained: ExplainedDifference(discrepancies: explained))
        }
        func words(_ proofs: [BalanceProof], _ change: (inout ComparisonRun) -> Void = { _ in }) -> [String] {
            var ended = compared.ended(run, proofs)
            change(&ended)
            return compared.words(MoneyIsProven(), [recorded(ended, 1)])
        }
        #expect(words([proof()]).isEmpty)
        #expect(words([proof(explained: 200)]) == ["provider-0: 100 JPY unexplained, drift of ours 0, of theirs 0"])
        #expect(words([proof(), proof(opening: 5)]).first?.contains("drift of ours -5") == true)
        #expect(words([proof(explained: 200)]) { $0.state = .running }.isEmpty, "it is not finished")
    }

    @Test func `19 fires at the end when what stands is not what the positions add up to`() throws {
        var compared = try ComparedStory()
        let run = compared.ended(try compared.run())
        let position = try #require(compared.story.payment.bookedPositions.first)
        let row = ComparedPosition(
            provider: compared.provider, key: compared.key, theirs: compared.finding(.foreign, compared.key).theirs,
            ours: position, listedAt: nil, finding: .matched, row: "a.row", isNamed: false,
            comparedAt: compared.story.now, run: run.id)
        let moved = NetSums([compared.yen: NetSums.Sides(ours: 1_000, theirs: 1_000)])
        try compared.keep(ComparisonStep(run: run, positions: [row], moved: moved))
        #expect(compared.words(MoneyIsProven(), [], atRest: true).isEmpty)
        try compared.keep(ComparisonStep(run: run, moved: NetSums([compared.yen: NetSums.Sides(theirs: 1)])))
        let words = compared.words(MoneyIsProven(), [], atRest: true)
        #expect(words == ["provider-0: 1000 and 1001 JPY stand, the positions come to 1000 and 1000"])
    }
}
