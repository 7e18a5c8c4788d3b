internal import PaymentCore
internal import Reconciler

extension ComparisonContractCase {
    static let steps: [ComparisonContractCase] = [
        ComparisonContractCase("a step is durable as a whole, under the run's next version") { it in
            var work = try await it.work()
            let discrepancy = try Comparing.discrepancy("k1")
            let finding = RunFinding(
                run: work.run.id, discrepancy: discrepancy.id, at: it.clock.now(), evidence: discrepancy.evidence,
                atRisk: discrepancy.atRisk, outcome: .opened, action: .tell, closeReason: nil)
            let row = try Comparing.row("k1", .foreign, isNamed: true, run: work.run)
            let moved = NetSums([try Comparing.yen(): .init(ours: 0, theirs: 1_200)])
            try await it.record(&work) { step in
                step.positions = [row]
                step.discrepancies = [discrepancy]
                step.findings = [finding]
                step.moved = moved
            }
            try require(work.run.version, is: 2, "the version")
            try require(try await it.store.run(work.run.id), is: work.run, "the run")
            let known = try await it.store.positions(at: work.run.provider, [PositionQuestion(key: row.key)])
            try require(known, is: [KnownPosition(key: row.key, ours: nil, row: row)], "the position")
            let stored = try await it.store.discrepancies([discrepancy.id])
            try require(stored, is: [discrepancy.stored(version: 1)], "the discrepancy")
            let found = try await it.store.findings(of: work.run.id, after: nil, limit: 10)
            try require(found, is: [finding], "the finding")
            try require(try await it.store.standing(at: work.run.provider), is: moved, "what stands")
        },
        ComparisonContractCase("all that a key shows reads back: when it was made, whose it is, what is beside it") {
            it in
            var work = try await it.work()
            let plain = try Comparing.taken("shared")
            let hold = ListedLine(
                status: .authorized, amount: plain.amount, captured: try Money(0, Comparing.yen()),
                createdAt: ManualClock.start, updatedAt: ManualClock.start + .seconds(3))
            let theirs = ListedPosition(
                key: plain.key, payment: nil, leg: nil, status: .captured, amount: plain.amount,
                captured: plain.captured, refunds: [], createdAt: ManualClock.start + .seconds(1),
                updatedAt: ManualClock.start + .seconds(2), contradiction: nil, others: [plain.line, hold],
                store: StoreID(text: "sto_" + String(repeating: "a", count: 32)))
            let row = ComparedPosition(
                provider: work.run.provider, key: plain.key, theirs: theirs, ours: nil, listedAt: theirs.updatedAt,
                finding: .foreign, row: "a.row", isNamed: true, comparedAt: it.clock.now(), run: work.run.id)
            try await it.record(&work) { $0.positions = [row] }
            let known = try await it.store.positions(at: work.run.provider, [PositionQuestion(key: row.key)])
            try require(known.map(\.row), is: [row], "the position")
        },
        ComparisonContractCase("what agreed is found by when the listing showed it last") { it in
            var work = try await it.work()
            let run = work.run
            let rows = try ["b", "a", "c"].enumerated().map { index, name in
                var row = try Comparing.row(name, .matched, run: run)
                row.listedAt = ManualClock.start + .seconds(Int64(index))
                return row
            }
            let named = try Comparing.row("named", .matched, isNamed: true, run: run)
            let other = try Comparing.row("other", .inert, run: run)
            try await it.record(&work) { $0.positions = rows + [named, other] }
            func keys(_ from: Int64, _ to: Int64, limit: Int = 10) async throws -> [String] {
                let start = ManualClock.start
                let window = try require(
                    ComparedWindow(from: start + .seconds(from), to: start + .seconds(to)), "a window")
                return try await it.store.listedKeys(at: run.provider, in: window, limit: limit).map(\.key.text)
            }
            try require(try await keys(0, 9), is: ["b", "a", "c"], "all, in order")
            try require(try await keys(0, 9, limit: 2), is: ["b", "a"], "no more than asked")
            try require(try await keys(1, 2), is: ["a"], "from the beginning, and without the end")
        },
        ComparisonContractCase("a step is refused whole under a lease that is not held any more") { it in
            let work = try await it.work()
            it.clock.advance(by: .minutes(2))
            _ = try await it.claim(work.run, holder: "other")
            try await it.refuses(work.run, work.token, as: .leaseLost)
            try await it.refuses(Comparing.run(hour: 3), LeaseToken(1), as: .leaseLost)
        },
        ComparisonContractCase("a step is refused whole over another version of its run") { it in
            var work = try await it.work()
            let before = work.run
            try await it.record(&work) { _ in }
            try await it.refuses(before, work.token, as: .versionConflict)
        },
        ComparisonContractCase("a step is refused whole over another version of a discrepancy") { it in
            var work = try await it.work()
            let first = try Comparing.discrepancy("seen")
            try await it.keep([first], &work)
            var changed = first.stored(version: 1)
            try changed.handle(.commented("looked at it", by: "ada"), at: it.clock.now())
            _ = try require(try await it.store.change(changed), "the person's change")
            for version in [Int64(0), 1, 3] {
                try await it.refuses(
                    work.run, work.token, as: .discrepancyConflict, with: first.stored(version: version))
            }
            try await it.refuses(
                work.run, work.token, as: .discrepancyConflict, with: Comparing.discrepancy("new").stored(version: 1))
            try await it.keep([first.stored(version: 2)], &work)
        },
        ComparisonContractCase("a lease that ran out, and that nobody took, still takes steps") { it in
            var work = try await it.work()
            it.clock.advance(by: .hours(1))
            try await it.record(&work) { _ in }
            try await it.store.releaseRun(work.run.id, token: work.token)
            try await it.refuses(work.run, work.token, as: .leaseLost)
        },
        ComparisonContractCase("a position and a finding take the place of those before") { it in
            var work = try await it.work()
            for finding in [ComparisonClass.foreign, .matched] {
                let row = try Comparing.row("k1", finding, run: work.run)
                try await it.record(&work) { $0.positions = [row] }
                let known = try await it.store.positions(at: work.run.provider, [PositionQuestion(key: row.key)])
                try require(known.map(\.row), is: [row], "the position")
            }
            let found = try Comparing.discrepancy("k1")
            for outcome in [RunFinding.Outcome.opened, .closed] {
                let finding = RunFinding(
                    run: work.run.id, discrepancy: found.id, at: it.clock.now(), evidence: found.evidence,
                    atRisk: nil, outcome: outcome, action: .tell, closeReason: nil)
                try await it.record(&work) { $0.findings = [finding] }
                let stored = try await it.store.findings(of: work.run.id, after: nil, limit: 10)
                try require(stored, is: [finding], "the findings")
            }
        },
        ComparisonContractCase("findings are read in order of their discrepancies, after one of them") { it in
            var work = try await it.work()
            let found = try (0..<7).map { try Comparing.discrepancy("k\($0)") }
            let findings = found.map { found in
                RunFinding(
                    run: work.run.id, discrepancy: found.id, at: it.clock.now(), evidence: found.evidence,
                    atRisk: found.atRisk, outcome: .seen, action: .tell, closeReason: nil)
            }
            try await it.record(&work) { $0.findings = findings }
            let sorted = findings.sorted { $0.discrepancy < $1.discrepancy }
            let first = try await it.store.findings(of: work.run.id, after: nil, limit: 3)
            try require(first, is: Array(sorted.prefix(3)), "the first page")
            let rest = try await it.store.findings(of: work.run.id, after: sorted[2].discrepancy, limit: 9)
            try require(rest, is: Array(sorted.dropFirst(3)), "the rest")
            let other = try await it.store.findings(of: Comparing.run(hour: 1).id, after: nil, limit: 9)
            try require(other, is: [], "another run's")
        },
        ComparisonContractCase("a step that contradicts itself is refused with a failure") { it in
            let work = try await it.work()
            let row = try Comparing.row("k1", .foreign, run: work.run)
            let other = try Comparing.discrepancy("k1", at: "points")
            let same = try Comparing.discrepancy("k1")
            let steps = [
                ComparisonStep(run: work.run, positions: [row, row]),
                ComparisonStep(run: work.run, discrepancies: [other]),
                ComparisonStep(run: work.run, discrepancies: [same, same]),
            ]
            for step in steps {
                try await require(.other) { _ = try await it.store.record(step, token: work.token) }
            }
            let dry = try await it.claim(Comparing.run(isDry: true))
            let dryRow = try Comparing.row("k1", .foreign, run: dry.run)
            try await require(.other) {
                let step = ComparisonStep(run: dry.run, positions: [dryRow])
                _ = try await it.store.record(step, token: dry.token)
            }
            try require(try await it.store.run(work.run.id), is: work.run, "the run is unchanged")
        },
    ]
}

extension Comparing {
    /// Requires a step to be refused, and nothing of it to be written.
    func refuses(
        _ run: ComparisonRun, _ token: LeaseToken, as result: StepResult, with discrepancy: Discrepancy? = nil
    ) async throws {
        let before = try await store.run(run.id)
        var step = ComparisonStep(run: run)
        step.positions = [try Comparing.row("refused", .foreign, run: run)]
        step.discrepancies = [try Comparing.discrepancy("refused")] + (discrepancy.map { [$0] } ?? [])
        step.moved = NetSums([try Comparing.euro(): .init(ours: 1, theirs: 1)])
        try require(try await store.record(step, token: token), is: result, "what becomes of the step")
        try require(try await store.run(run.id), is: before, "the run")
        let question = PositionQuestion(key: EffectKey(reported: "refused"))
        let known = try await store.positions(at: run.provider, [question])
        try require(known.map(\.row), is: [nil], "the position of a refused step")
        try require(try await store.discrepancies(step.discrepancies.prefix(1).map(\.id)), is: [], "its discrepancy")
        let standing = try await store.standing(at: run.provider)
        try require(standing.byCurrency[try Comparing.euro()], is: nil, "what it moved")
    }
}
