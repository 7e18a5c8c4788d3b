internal import PaymentCore
internal import Reconciler

extension ComparisonContractCase {
    static let discrepancies: [ComparisonContractCase] = [
        ComparisonContractCase("discrepancies are read by their identifiers; unknown ones are left out") { it in
            var work = try await it.work()
            let kept = try ["k1", "k2", "k3"].map { try Comparing.discrepancy($0) }
            try await it.keep(kept, &work)
            let unknown = try Comparing.discrepancy("k4").id
            let found = try await it.store.discrepancies([kept[2].id, unknown, kept[0].id])
            try require(Set(found), is: [kept[0].stored(version: 1), kept[2].stored(version: 1)], "what is read")
            try require(try await it.store.discrepancies([DiscrepancyID]()), is: [], "of none")
        },
        ComparisonContractCase("discrepancies are listed oldest first, by pages, and by what is wanted") { it in
            var work = try await it.work()
            var kept: [Discrepancy] = []
            for number in 0..<7 {
                let opened = ManualClock.start + .minutes(Int64(number / 2))
                var found = try Comparing.discrepancy(
                    "k\(number)", amount: Int64(number) * 100, number < 3 ? .foreign : .orphan, openedAt: opened)
                if number == 1 { try found.handle(.assigned(to: "ada", by: "grace"), at: opened) }
                if number == 4 { try found.handle(.acted(.undo, run: work.run.id), at: opened) }
                if number == 6 { try found.handle(.closed(reason: "known", by: "ada"), at: opened) }
                kept.append(found)
            }
            let all = kept
            try await it.keep(all, &work)
            let stored = kept.map { $0.stored(version: 1) }
                .sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) }
            var query = DiscrepancyQuery(limit: 2)
            try require(try await it.all(query), is: stored.filter { $0.state != .closed }, "what is not closed")
            query.states = []
            try require(try await it.all(query), is: stored, "all")
            for change in Comparing.restrictions {
                query = DiscrepancyQuery(limit: 2)
                query.states = []
                try change(&query)
                let expected = stored.filter { query.wants($0) }
                try require(!expected.isEmpty && expected.count < 7, "a restriction that restricts: \(query)")
                try require(try await it.all(query), is: expected, "what is wanted by \(query)")
            }
        },
        ComparisonContractCase("discrepancies are found by the payment that they are about") { it in
            var work = try await it.work()
            let payment = try await it.payments.create(Scenario.Order("k1")).payment.id
            let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", .orphan) { _ in true }])
            let finding = ComparisonFinding(
                provider: work.run.provider, key: EffectKey(reported: "k1"),
                table.classify(ComparisonFacts(ours: .unknown, theirs: .taken)), ours: nil, named: nil,
                theirs: try Comparing.taken("k1", payment: payment))
            let named = Discrepancy(finding, rule: .init(.tell), run: work.run.id, at: it.clock.now())
            let foreign = try Comparing.discrepancy("k2")
            try await it.keep([named, foreign], &work)
            var query = DiscrepancyQuery()
            query.payment = payment
            try require(try await it.all(query).map(\.id), is: [named.id], "those about the payment")
        },
        ComparisonContractCase("a person's change names the version that it read") { it in
            var work = try await it.work()
            try await it.keep([try Comparing.discrepancy("k1")], &work)
            var read = try require(
                try await it.store.discrepancies([Comparing.discrepancy("k1").id]).first, "the discrepancy")
            try read.handle(.assigned(to: "ada", by: "grace"), at: it.clock.now())
            let changed = try require(try await it.store.change(read), "the change")
            try require(changed, is: read.stored(version: 2), "what is stored")
            try require(try await it.store.change(read), is: nil, "the same change again")
            try require(try await it.store.discrepancies([read.id]), is: [changed], "what is read")
            let unknown = try Comparing.discrepancy("k2").stored(version: 1)
            try require(try await it.store.change(unknown), is: nil, "a change of what does not exist")
            try require(try await it.store.discrepancies([unknown.id]), is: [], "it is not made by that")
        },
        ComparisonContractCase("of many that change a discrepancy at once one does") { it in
            var work = try await it.work()
            try await it.keep([try Comparing.discrepancy("k1")], &work)
            let read = try Comparing.discrepancy("k1").stored(version: 1)
            let changes = try await ContractCase.together(20) { number in
                var mine = read
                try mine.handle(.commented("number \(number)", by: "ada"), at: ManualClock.start)
                return try await it.store.change(mine)
            }
            try require(changes.compactMap { $0 }.count, is: 1, "the number that changed it")
        },
        ComparisonContractCase("what is not closed is counted by provider and class, with age and money") { it in
            try require(try await it.store.discrepancyCounts(), is: [], "the counts of nothing")
            var work = try await it.work()
            let later = ManualClock.start + .minutes(5)
            var closed = try Comparing.discrepancy("k0", amount: 1, .orphan)
            try closed.handle(.closed(reason: "known", by: "ada"), at: later)
            let kept = [
                closed, try Comparing.discrepancy("k1", amount: 200, .orphan, openedAt: later),
                try Comparing.discrepancy("k2", amount: 30, .orphan), try Comparing.discrepancy("k3", .foreign),
            ]
            try await it.keep(kept, &work)
            var points = try await it.work(Comparing.run(at: "points"))
            try await it.keep([try Comparing.discrepancy("k1", amount: 9, at: "points", .orphan)], &points)
            let yen = try Comparing.yen()
            let (cards, other) = (try Comparing.cards(), try ProviderName("points"))
            let start = ManualClock.start
            try require(
                try await it.store.discrepancyCounts(),
                is: [
                    .init(provider: cards, finding: .foreign, count: 1, oldest: start, atRisk: [try Money(1_200, yen)]),
                    .init(provider: cards, finding: .orphan, count: 2, oldest: start, atRisk: [try Money(230, yen)]),
                    .init(provider: other, finding: .orphan, count: 1, oldest: start, atRisk: [try Money(9, yen)]),
                ], "the counts")
        },
        ComparisonContractCase("the money at risk in a class is counted by currency") { it in
            var work = try await it.work()
            let euro = try require(Currency(code: "EUR"), "a currency")
            try await it.keep(
                [
                    try Comparing.discrepancy("k1", .foreign), try Comparing.discrepancy("k2", amount: 30, .orphan),
                    try Comparing.discrepancy("k3", amount: 5, in: euro, .orphan),
                ], &work)
            let counts = try await it.store.discrepancyCounts()
            let (yen, start) = (try Comparing.yen(), ManualClock.start)
            try require(counts.map(\.finding), is: [.foreign, .orphan], "the classes")
            try require(counts.map(\.count), is: [1, 2], "how many")
            try require(counts.map(\.oldest), is: [start, start], "the oldest")
            let money = [[try Money(1_200, yen)], [try Money(30, yen), try Money(5, euro)]]
            try require(counts.map { Set($0.atRisk) }, is: money.map { Set($0) }, "the money")
        },
    ]
}

extension Comparing {
    /// What a query may want, each by itself.
    static let restrictions: [@Sendable (inout DiscrepancyQuery) throws -> Void] = [
        { $0.finding = .foreign },
        { $0.states = [.settling, .closed] },
        { $0.assignment = .nobody },
        { $0.assignment = .person("ada") },
        { $0.openedBefore = ManualClock.start + .minutes(2) },
        { $0.atRiskFrom = try Money(300, yen()) },
    ]
}
