internal import PaymentCore
internal import Reconciler

extension ComparisonContractCase {
    static let unsettled: [ComparisonContractCase] = [
        ComparisonContractCase("what is unsettled is read in order of the keys, with what our books say now") { it in
            let payment = try await it.payments.settle(Scenario.Order("k1")).payment
            let ours = try require(payment.bookedPositions.first, "the position")
            var work = try await it.work()
            let run = work.run
            var known = try Comparing.row(ours.key.text, .statusDiffers, run: run)
            known.isNamed = true
            var rows = [
                known, try Comparing.row("B", .inFlight, run: run), try Comparing.row("a", .orphan, run: run),
                try Comparing.row("Z", .inFlight, run: run), try Comparing.row("é", .foreign, run: run),
                try Comparing.row("c", .matched, run: run), try Comparing.row("d", .inert, run: run),
                try Comparing.row("e", .matched, isNamed: true, run: run),
            ]
            rows[2].theirs = try Comparing.taken("a", payment: payment.id, leg: 0)
            try await it.record(&work) { $0.positions = rows }
            let expected = rows.filter(\.isUnsettled).sorted { $0.key < $1.key }
            try require(expected.count, is: 6, "the number of unsettled positions")
            var found: [KnownPosition] = []
            while true {
                let page = try await it.store.unsettledPositions(
                    at: run.provider, after: found.last?.key, limit: 4)
                found += page
                guard page.count == 4 else { break }
            }
            try require(found.map(\.row), is: expected, "the positions, by the bytes of their keys")
            try require(found.first { $0.key == ours.key }?.ours, is: ours, "what our books say")
            try require(found.first { $0.key.text == "a" }?.named, is: ours, "the leg that it names")
            let points = try ProviderName("points")
            let other = try await it.store.unsettledPositions(at: points, after: nil, limit: 9)
            try require(other, is: [], "another provider's")
        }
    ]

    static let money: [ComparisonContractCase] = [
        ComparisonContractCase("what steps move adds up, by provider and currency") { it in
            var work = try await it.work()
            let (yen, euro) = (try Comparing.yen(), try Comparing.euro())
            let moves = [
                NetSums([yen: .init(ours: 500, theirs: 700), euro: .init(ours: 3, theirs: 0)]),
                NetSums([yen: .init(ours: -800, theirs: 100), euro: .init(ours: -3, theirs: 0)]),
            ]
            for moved in moves { try await it.record(&work) { $0.moved = moved } }
            let standing = try await it.store.standing(at: work.run.provider)
            let expected = NetSums([yen: .init(ours: -300, theirs: 800), euro: .init()])
            try require(standing, is: expected, "what stands")
            let other = try await it.store.standing(at: ProviderName("points"))
            try require(other, is: NetSums(), "what stands at another provider")
        },
        ComparisonContractCase("a sum that does not fit is refused, and what stood stands") { it in
            var work = try await it.work()
            let yen = try Comparing.yen()
            let most = NetSums([yen: .init(ours: .max, theirs: 0)])
            try await it.record(&work) { $0.moved = most }
            let (run, token) = (work.run, work.token)
            try await require(.other) {
                _ = try await it.store.record(
                    ComparisonStep(run: run, moved: NetSums([yen: .init(ours: 1, theirs: 0)])), token: token)
            }
            try require(try await it.store.standing(at: run.provider), is: most, "what stands")
            try require(try await it.store.run(run.id), is: run, "the run")
        },
        ComparisonContractCase("differences are explained by discrepancies of every state, and by what is in flight") {
            it in
            var work = try await it.work()
            let provider = work.run.provider
            let none = try await it.store.explainedDifferences(at: provider)
            try require(none.values.allSatisfy { $0 == ExplainedDifference() }, "nothing is explained at first")
            let open = try Comparing.discrepancy("open", amount: 100)
            var closed = try Comparing.discrepancy("closed", amount: 20)
            try closed.handle(.closed(reason: "written off", by: "ada"), at: it.clock.now())
            var healed = try Comparing.discrepancy("healed", amount: 5)
            try healed.handle(
                .healed(.undone, ours: nil, theirs: nil, run: work.run.id), at: it.clock.now())
            let rows = [
                try Comparing.row("flying", .inFlight, amount: 7_000, run: work.run),
                try Comparing.row("named", .inFlight, amount: 50_000, isNamed: true, run: work.run),
                try Comparing.row("open", .foreign, amount: 100, isNamed: true, run: work.run),
                try Comparing.row("same", .matched, amount: 900_000, run: work.run),
            ]
            let kept = [open, closed, healed]
            try await it.record(&work) { step in
                step.discrepancies = kept
                step.positions = rows
            }
            let explained = try await it.store.explainedDifferences(at: provider)
            let yen = try Comparing.yen()
            try require(
                explained[yen], is: ExplainedDifference(discrepancies: -120, inFlight: -7_000), "what is explained")
            let other = try await it.store.explainedDifferences(at: ProviderName("points"))
            try require(other.values.allSatisfy { $0 == ExplainedDifference() }, "another provider's")
        },
        ComparisonContractCase("two currencies of one discrepancy are explained apart") { it in
            var work = try await it.work()
            let (yen, euro) = (try Comparing.yen(), try Comparing.euro())
            var found = try Comparing.discrepancy("k1")
            try found.handle(
                .unjudged(ours: NetAmount(1_200, yen), theirs: NetAmount(-7, euro), run: work.run.id),
                at: it.clock.now())
            let kept = found
            try await it.keep([kept], &work)
            let explained = try await it.store.explainedDifferences(at: work.run.provider)
            try require(explained[yen]?.discrepancies, is: 1_200, "in the one")
            try require(explained[euro]?.discrepancies, is: 7, "in the other")
        },
    ]
}
