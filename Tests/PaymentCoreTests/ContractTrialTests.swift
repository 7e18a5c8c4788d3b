import PaymentCore
import Testing

/// Recorded decisions, made again under another contract: against the machine that plays the same story under it.
@Suite struct ContractTrialTests {
    /// A way in which a contract may change.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: ProviderContract
        let after: ProviderContract

        init(_ name: String, _ before: ProviderContract = .reference, _ change: (inout ProviderContract) -> Void) {
            testDescription = name
            self.before = before
            var after = before
            change(&after)
            self.after = after
        }

        func cast(_ contract: ProviderContract) -> RandomWalkTests.Cast {
            RandomWalkTests.Cast(testDescription, [contract])
        }
    }

    static let changes = [
        Change("keys are forgotten after minutes") { $0.keyRetention = .seconds(150) },
        Change("statuses are forgotten after minutes") { $0.statusRetention = .seconds(200) },
        Change("a cancel leaves no tombstone") { $0.cancel = .onlyIfPresent },
        Change("reads lag for a minute", .enforcing) { $0.visibilityLag = .minutes(1) },
        Change("not_after is not enforced", .enforcing) { $0.enforcesNotAfter = false },
        Change("declines are not bound", .enforcing) { $0.declinesBound = false },
        Change("requests live for twenty minutes", .unbound) { $0.maxRequestLife = .minutes(20) },
        Change("keys are kept for ever", .forgetful) { $0.keyRetention = nil },
        Change("a cancel reverses a sale", .referenceSale) { $0.cancelReversesSale = true },
    ]

    /// Walks, and stories to which walks come now and then only: something is in doubt for long, or is undone while it
    /// is.
    private func stories(
        under contract: ProviderContract, beside other: ProviderContract? = nil, _ change: Change
    ) throws -> [Stage] {
        let fixture = try Fixture()
        let others = try other.map { try fixture.byName([$0]) }
        let walks = try (0..<RandomWalkTests.seeds / 2).map { seed in
            var walk = try Walk(change.cast(contract), seed: seed, fixture)
            walk.stage.otherContracts = others
            return try walk.ended()
        }
        let faults: [Stage.SendFault] = [
            .lostRequest, .lostAnswer, .unsent, .throttled, .strayRefusal, .late(.seconds(40)),
            .duplicated(.seconds(40)), .crashBefore, .crashAfter,
        ]
        let doubtful = try faults.flatMap { fault in
            try [(0, true), (1, true), (3, true), (8, true), (8, false), (12, false)].map { failedReads, isCanceled in
                let reads = Array(repeating: Stage.ReadFault.unavailable, count: failedReads)
                var stage = try fixture.stage([contract], send: [fault], read: reads)
                stage.otherContracts = others
                if isCanceled { try stage.cancel() }
                stage.run(while: { !$0.durable.state.isFinal && !$0.awaitsPeople })
                return stage
            }
        }
        return walks + doubtful
    }

    private func trial(
        _ stage: Stage, _ present: ProviderContract, _ changed: ProviderContract
    ) throws -> [(entry: AuditEntry, tried: TriedDecision)] {
        var trial = ContractTrial(
            of: stage.durable, at: try Fixture().provider(0), present: present, changed: changed, policy: stage.policy)
        return stage.trail.flatMap { entry in trial.take(entry).map { (entry, $0) } }
    }

    @Test(arguments: changes) func `an unchanged contract changes no decision`(_ change: Change) throws {
        let fixture = try Fixture()
        var decisions = 0
        for seed: UInt64 in 0..<60 {
            let stage = try Walk(change.cast(change.before), seed: seed, fixture).ended()
            for (entry, tried) in try trial(stage, change.before, change.before) {
                decisions += 1
                #expect([entry.row, entry.because].contains { tried == .same(row: $0 ?? "") }, "seed \(seed)")
            }
        }
        #expect(decisions > 120)
    }

    /// What the trial said, held against what the machine writes under the other contract.
    struct Count {
        var judged = 0
        var others = 0
        var unknown = 0

        /// - Parameter right: What the machine writes in place of an entry; `nil` if it decides nothing then.
        mutating func judge(
            _ left: AuditEntry, _ right: AuditEntry?, isSame: Bool, _ decisions: [TriedDecision], _ change: Change
        ) {
            guard !decisions.isEmpty else { return }
            judged += 1
            let differs = decisions.compactMap(\.other)
            if !differs.isEmpty { others += 1 }
            guard !decisions.contains(where: \.isUnknown) else {
                unknown += 1
                return
            }
            // By the same row a sale is given back, or read once more and reversed where the contract has that.
            let isSameRow = left.because == "undo.taken" && change.after.cancelReversesSale
            let place = "\(left.sequence) \(left.type): \(left.fields), and \(right?.fields ?? [])"
            #expect(differs.isEmpty == (isSame || isSameRow), "\(place)")
            if let now = differs.first, let row = right?.because ?? right?.row { #expect(row == now, "\(place)") }
        }
    }

    /// Each event is handled under both contracts, from the same state.
    @Test(arguments: changes) func `a decision differs where the machine decides otherwise from the same state`(
        _ change: Change
    ) throws {
        var count = Count()
        for stage in try stories(under: change.before, beside: change.after, change) {
            let tried = try trial(stage, change.before, change.after)
            for step in stage.steps {
                for (index, left) in step.written.enumerated() {
                    let right = step.other.indices.contains(index) ? step.other[index] : nil
                    let isSame = right.map { left.withoutFacts == $0.withoutFacts } ?? false
                    let decisions = tried.filter { $0.entry.sequence == left.sequence }.map(\.tried)
                    // How many reads counted so far is part of the state, and was counted under the contract as it is.
                    if !decisions.contains(where: \.isAboutReads) {
                        count.judge(left, right, isSame: isSame, decisions, change)
                    }
                    guard isSame else { break }
                }
            }
        }
        #expect(count.judged > Int(RandomWalkTests.seeds) && count.unknown * 50 < count.judged, "\(count)")
        // Whether a sale is reversed or given back is no row's decision.
        #expect(count.others > 0 || change.after.cancelReversesSale, "no decision differed")
    }

    /// Up to the first entry that is another one, both stories are the same; so is what decides there. What the machine
    /// does not decide at that moment under the other contract is not decided by the same row there.
    @Test(arguments: changes) func `the first decision that differs is the one that the machine makes`(
        _ change: Change
    ) throws {
        var count = Count()
        let stories = zip(try stories(under: change.before, change), try stories(under: change.after, change))
        for (before, after) in stories {
            let tried = try trial(before, change.before, change.after)
            for (left, right) in zip(before.trail, after.trail) {
                let isSame = left.withoutFacts == right.withoutFacts && left.at == right.at
                let decisions = tried.filter { $0.entry.sequence == left.sequence }.map(\.tried)
                if isSame || right.at >= left.at {
                    count.judge(left, left.at == right.at ? right : nil, isSame: isSame, decisions, change)
                }
                guard isSame else { break }
            }
        }
        #expect(count.judged > Int(RandomWalkTests.seeds) && count.unknown * 50 < count.judged, "\(count)")
    }
}

extension AuditEntry {
    fileprivate var row: String? { value("row") }

    fileprivate var because: String? { value(AuditField.because) }

    fileprivate var withoutFacts: [AuditField] {
        fields.filter { $0.name != AuditField.facts && $0.name != AuditField.becauseFacts }
    }
}

extension ProviderContract {
    /// Neither tombstones nor `not_after`, and declines that may change: what is undone waits for the life of requests.
    fileprivate static let unbound: ProviderContract = {
        var contract = ProviderContract.enforcing
        contract.enforcesNotAfter = false
        contract.declinesBound = false
        return contract
    }()
}

extension TriedDecision {
    fileprivate var other: String? {
        guard case .other(_, let now, _) = self else { return nil }
        return now
    }

    fileprivate var isAboutReads: Bool {
        switch self {
        case .same: false
        case .other(_, _, let facts), .unknown(_, let facts): facts.contains("visibility")
        }
    }

    fileprivate var isUnknown: Bool {
        guard case .unknown = self else { return false }
        return true
    }
}
