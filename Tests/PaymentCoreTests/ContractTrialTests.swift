import PaymentCore
import Testing

/// Recorded decisions, made again under another contract: against the machine that plays the same story under it.
@Suite struct ContractTrialTests {
    /// A way in which a contract may change.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: ProviderContract
        let after: ProviderContract
        /// Whether some of the stories come to decisions that differ.
        let differs: Bool

        init(
            _ name: String, _ before: ProviderContract = .reference, differs: Bool = false,
            _ change: (inout ProviderContract) -> Void
        ) {
            testDescription = name
            self.before = before
            self.differs = differs
            var after = before
            change(&after)
            self.after = after
        }

        func cast(_ contract: ProviderContract) -> RandomWalkTests.Cast {
            RandomWalkTests.Cast(testDescription, [contract])
        }
    }

    static let changes = [
        Change("keys are forgotten after minutes", differs: true) { $0.keyRetention = .seconds(150) },
        Change("statuses are forgotten after minutes") { $0.statusRetention = .seconds(200) },
        Change("a cancel leaves no tombstone", differs: true) { $0.cancel = .onlyIfPresent },
        Change("reads lag for a minute", .enforcing) { $0.visibilityLag = .minutes(1) },
        Change("not_after is not enforced", .enforcing) { $0.enforcesNotAfter = false },
        Change("declines are not bound", .enforcing, differs: true) { $0.declinesBound = false },
        Change("requests live for twenty minutes", .forgetful) { $0.maxRequestLife = .minutes(20) },
        Change("keys are kept for ever", .forgetful) { $0.keyRetention = nil },
        Change("a cancel reverses a sale", .referenceSale) { $0.cancelReversesSale = true },
    ]

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

    /// Up to the first entry that is another one, both stories are the same; so is what decides there. What the machine
    /// does not decide at that moment under the other contract is not decided by the same row there.
    @Test(arguments: changes) func `the first decision that differs is the one that the machine makes`(
        _ change: Change
    ) throws {
        let fixture = try Fixture()
        var (judged, others, unknown): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for seed: UInt64 in 0..<RandomWalkTests.seeds {
            let before = try Walk(change.cast(change.before), seed: seed, fixture).ended()
            let after = try Walk(change.cast(change.after), seed: seed, fixture).ended()
            let tried = try trial(before, change.before, change.after)
            for (left, right) in zip(before.trail, after.trail) {
                let isSame = left.withoutFacts == right.withoutFacts && left.at == right.at
                let decisions = tried.filter { $0.entry.sequence == left.sequence }.map(\.tried)
                if !decisions.isEmpty, isSame || right.at >= left.at {
                    judged += 1
                    let place = "seed \(seed), entry \(left.sequence): \(left.fields) and \(right.fields)"
                    let differs = decisions.compactMap(\.other)
                    if !differs.isEmpty { others += 1 }
                    let isUnknown = decisions.contains(where: \.isUnknown)
                    if isUnknown { unknown += 1 }
                    // By the same row a sale is given back, or read once more and reversed where the contract has that.
                    let isSameRow = left.because == "undo.taken" && change.after.cancelReversesSale
                    #expect(isUnknown || differs.isEmpty == (isSame || isSameRow), "\(place)")
                    if let now = differs.first, right.at == left.at, let row = right.because ?? right.row {
                        #expect(row == now, "\(place)")
                    }
                }
                guard isSame else { break }
            }
        }
        #expect(judged > 2 * RandomWalkTests.seeds && unknown * 50 < judged, "\(judged) were judged, \(unknown) not")
        #expect(others > 0 || !change.differs, "no decision differed")
    }
}

extension AuditEntry {
    fileprivate var row: String? { fields.first { $0.name == "row" }?.value }

    fileprivate var because: String? { fields.first { $0.name == AuditField.because }?.value }

    fileprivate var withoutFacts: [AuditField] {
        fields.filter { $0.name != AuditField.facts && $0.name != AuditField.becauseFacts }
    }
}

extension TriedDecision {
    fileprivate var other: String? {
        guard case .other(_, let now, _) = self else { return nil }
        return now
    }

    fileprivate var isUnknown: Bool {
        guard case .unknown = self else { return false }
        return true
    }
}
