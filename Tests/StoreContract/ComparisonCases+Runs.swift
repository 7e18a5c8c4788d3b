internal import PaymentCore
internal import Reconciler

extension ComparisonContractCase {
    static let lanes: [ComparisonContractCase] = [
        ComparisonContractCase("a run is planned once; whoever plans it again gets what is stored") { it in
            let run = try Comparing.run()
            let first = try await it.store.begin(run)
            try require(first, is: run.stored(version: 1), "what is stored")
            let later = try Comparing.run(createdAt: ManualClock.start + .hours(1))
            try require(later.id, is: run.id, "the identifier")
            try require(try await it.store.begin(later), is: first, "what the second gets")
            try require(try await it.store.run(run.id), is: first, "what is read")
            try require(try await it.store.run(Comparing.run(attempt: 1).id), is: nil, "another attempt")
        },
        ComparisonContractCase("a run is claimed by one, and by another once the lease has run out") { it in
            let run = try Comparing.run()
            let none = try await it.store.claimRun(run.id, holder: "a", leaseFor: .minutes(1))
            try require(none, is: nil, "the claim of a run that is not planned")
            let first = try await it.claim(run, holder: "a")
            try require(first.token, is: LeaseToken(1), "the first token")
            try require(first.until, is: it.clock.now() + .minutes(1), "when the lease ends")
            let other = try await it.store.claimRun(run.id, holder: "b", leaseFor: .minutes(1))
            try require(other, is: nil, "another's claim meanwhile")
            let again = try await it.store.claimRun(run.id, holder: "a", leaseFor: .minutes(1))
            try require(again?.token, is: LeaseToken(2), "the same holder's token")
            it.clock.advance(by: .minutes(1))
            let late = try await it.store.claimRun(run.id, holder: "b", leaseFor: .minutes(1))
            try require(late?.token, is: LeaseToken(3), "the token after the lease")
            try require(late?.run, is: first.run, "the run")
        },
        ComparisonContractCase("a lane belongs to its run until that is final, and tokens rise in it") { it in
            var work = try await it.work()
            try await it.store.releaseRun(work.run.id, token: work.token)
            let next = try Comparing.run(hour: 1)
            _ = try await it.store.begin(next)
            let early = try await it.store.claimRun(next.id, holder: "b", leaseFor: .minutes(1))
            try require(early, is: nil, "the claim of the next run while the first is not final")
            let other = try await it.claim(Comparing.run(at: "points"))
            try require(other.token, is: LeaseToken(1), "the token at another provider")
            let dry = try await it.claim(Comparing.run(isDry: true))
            try require(dry.token, is: LeaseToken(1), "the token of a dry run, which has a lane of its own")
            let again = try await it.claim(work.run)
            work = Comparing.RunWork(run: again.run, token: again.token)
            try await it.record(&work) { $0.run.abandon(at: it.clock.now()) }
            let renewed = try await it.store.renewRun(work.run.id, token: work.token, leaseFor: .minutes(1))
            try require(!renewed, "a final run has no lease")
            let final = try await it.store.claimRun(work.run.id, holder: "b", leaseFor: .minutes(1))
            try require(final, is: nil, "the claim of a final run")
            let second = try await it.store.claimRun(next.id, holder: "b", leaseFor: .minutes(1))
            try require(second?.token, is: LeaseToken(3), "the token of the next run")
        },
        ComparisonContractCase("a lease is renewed and ended under its own token only") { it in
            let claimed = try await it.claim(Comparing.run(), holder: "a")
            let id = claimed.run.id
            it.clock.advance(by: .seconds(50))
            try require(
                try await it.store.renewRun(id, token: claimed.token, leaseFor: .minutes(1)), "it is renewed")
            it.clock.advance(by: .seconds(50))
            try require(
                try await it.store.claimRun(id, holder: "b", leaseFor: .minutes(1)), is: nil,
                "another's claim after the renewal")
            it.clock.advance(by: .seconds(10))
            let taken = try await it.store.claimRun(id, holder: "b", leaseFor: .minutes(1))
            let second = try require(taken, "the second claim")
            let late = try await it.store.renewRun(id, token: claimed.token, leaseFor: .minutes(1))
            try require(!late, "the first token renews nothing")
            try await it.store.releaseRun(id, token: claimed.token)
            try require(
                try await it.store.claimRun(id, holder: "c", leaseFor: .minutes(1)), is: nil,
                "a claim after the first holder's late release")
            try await it.store.releaseRun(id, token: second.token)
            let third = try await it.store.claimRun(id, holder: "c", leaseFor: .minutes(1))
            try require(third?.token, is: LeaseToken(3), "the token after the release")
        },
        ComparisonContractCase("a run that is given up frees its lane and takes no step any more") { it in
            let work = try await it.work()
            it.clock.advance(by: .seconds(1))
            let given = try require(try await it.store.abandonRun(work.run.id), "the run")
            try require(given.state, is: .abandoned, "its state")
            try require(given.finishedAt, is: it.clock.now(), "when it ended")
            try require(given.version, is: work.run.version + 1, "its version")
            let late = try await it.store.record(ComparisonStep(run: work.run), token: work.token)
            try require(late, is: .leaseLost, "what becomes of its step")
            try require(try await it.store.abandonRun(work.run.id), is: given, "what a second time gives")
            try require(try await it.store.abandonRun(Comparing.run(hour: 9).id), is: nil, "an unknown run")
            _ = try await it.claim(Comparing.run(attempt: 1), holder: "b")
        },
        ComparisonContractCase("of many that claim a run at once one gets it") { it in
            let run = try Comparing.run()
            _ = try await it.store.begin(run)
            let claims = try await ContractCase.together(20) { number in
                try await it.store.claimRun(run.id, holder: "w\(number)", leaseFor: .minutes(1))?.token
            }
            try require(claims.compactMap { $0 }, is: [LeaseToken(1)], "the tokens")
        },
    ]

    static let runs: [ComparisonContractCase] = [
        ComparisonContractCase("runs are listed newest first, by pages and by what is wanted") { it in
            for hour in Int64(0)..<5 {
                let created = ManualClock.start + .hours(hour / 2)
                _ = try await it.store.begin(Comparing.run(hour: hour, createdAt: created))
            }
            _ = try await it.store.begin(Comparing.run(at: "points", kind: .asked))
            var query = RunQuery(limit: 2)
            var seen: [ComparisonRun] = []
            repeat {
                let page = try await it.store.runs(query)
                try require(page.items.count <= 2, "a page is not longer than asked")
                seen += page.items
                query.after = page.next
            } while query.after != nil
            try require(seen.count, is: 6, "the number of runs")
            let sorted = seen.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            try require(seen, is: sorted, "the order")
            query = RunQuery()
            query.provider = try Comparing.cards()
            try require(try await it.store.runs(query).items.count, is: 5, "the runs of a provider")
            query = RunQuery()
            query.kind = .asked
            try require(try await it.store.runs(query).items.count, is: 1, "the runs that were asked for")
            query.state = .completed
            try require(try await it.store.runs(query).items.isEmpty, "no run is completed")
        },
        ComparisonContractCase("the chain's head is the scheduled run whose window ends last, in its latest attempt") {
            it in
            try require(try await it.store.chainHead(of: Comparing.cards()), is: nil, "the head of no chain")
            _ = try await it.store.begin(Comparing.run(hour: 1, attempt: 1))
            _ = try await it.store.begin(Comparing.run(hour: 1, attempt: 0))
            _ = try await it.store.begin(Comparing.run(hour: 0))
            _ = try await it.store.begin(Comparing.run(hour: 7, kind: .asked))
            _ = try await it.store.begin(Comparing.run(hour: 8, isDry: true))
            _ = try await it.store.begin(Comparing.run(at: "points", hour: 9))
            let head = try await it.store.chainHead(of: Comparing.cards())
            try require(head?.id, is: Comparing.run(hour: 1, attempt: 1).id, "the head")
        },
    ]
}
