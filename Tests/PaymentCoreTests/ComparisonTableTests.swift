import PaymentCore
import Testing

/// The table of the comparison over the whole product of what it looks at.
@Suite struct ComparisonTableTests {
    private static func forEachFacts(_ visit: (ComparisonFacts) -> Void) {
        let flags = [false, true]
        for ours in ComparisonFacts.Ours.allCases {
            for theirs in ComparisonFacts.Theirs.allCases {
                var facts = ComparisonFacts(ours: ours, theirs: theirs)
                for work in BookedPosition.Work.allCases {
                    facts.work = work
                    for naming in ComparisonFacts.Naming.allCases {
                        facts.naming = naming
                        for amount in ComparisonFacts.Amount.allCases {
                            facts.amount = amount
                            for refunds in ComparisonFacts.Refunds.allCases {
                                facts.refunds = refunds
                                for bits in 0..<64 {
                                    facts.isReadable = flags[bits & 1]
                                    facts.capturedSame = flags[bits >> 1 & 1]
                                    facts.isYoung = flags[bits >> 2 & 1]
                                    facts.isHidden = flags[bits >> 3 & 1]
                                    facts.isDoubled = flags[bits >> 4 & 1]
                                    facts.isDenied = flags[bits >> 5 & 1]
                                    visit(facts)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func `every combination has one first row, and every row is the first of some`() {
        var first: [String: Int] = [:]
        var wrong: [String] = []
        var count = 0
        Self.forEachFacts { facts in
            let verdict = ComparisonTable.shipped.classify(facts)
            first[verdict.row, default: 0] += 1
            count += 1
            if let broken = Self.violation(facts, verdict.finds), wrong.count < 10 {
                wrong.append("\(broken): \(verdict) for \(facts)")
            }
        }
        #expect(count == 6 * 6 * 3 * 3 * 5 * 3 * 64)
        #expect(first["no-row"] == nil)
        let names = ComparisonTable.shipped.rows.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(first.keys) == Set(names), "unreached: \(Set(names).subtracting(first.keys))")
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    }

    @Test func `every class but that of unproven money is found by some row`() {
        let found = Set(ComparisonTable.shipped.rows.map(\.finds))
        #expect(found == Set(ComparisonClass.allCases).subtracting([.unproven]))
    }

    /// What no row may find, whatever the rows say.
    private static func violation(_ facts: ComparisonFacts, _ found: ComparisonClass) -> String? {
        let isOurs = facts.ours != .unknown
        let isSurplus = [.orphan, .duplicate, .foreign, .inert].contains(found)
        if found == .otherStore { return !isOurs && facts.naming == .otherStore ? nil : "it is not another's" }
        if isOurs, found == .duplicate { return facts.isDoubled ? nil : "the key has one transaction" }
        if isOurs, isSurplus { return "a key of ours" }
        if !isOurs { return isSurplus || found == .inFlight ? nil : "a key that is not ours" }
        let holdsHere = facts.ours == .held || facts.ours == .taken
        let holdsThere = facts.theirs == .held || facts.theirs == .taken
        if found == .matched {
            if facts.isDoubled { return "two transactions under the key" }
            if facts.isDenied, !facts.isYoung { return "the provider denies what its listing showed" }
            if facts.work != .none { return "work is outstanding" }
            if holdsHere != holdsThere { return "one side holds money" }
            if facts.theirs != .absent, facts.amount != .same || !facts.isReadable { return "other amounts" }
            if facts.ours == .taken, !facts.capturedSame || facts.refunds != .same { return "other sums" }
        }
        if found == .inFlight, !facts.isYoung, facts.work == .none, holdsHere || facts.ours == .givenBack {
            return "nothing of it is in flight"
        }
        if found == .oursOnly, facts.theirs != .absent { return "the provider shows it" }
        if found == .hidden, !facts.isHidden || facts.theirs == .absent { return "nothing is hidden" }
        if found == .lateReversal, facts.ours != .taken, facts.ours != .givenBack { return "it did not succeed" }
        return nil
    }

    @Test func `facts that no row knows are a difference`() {
        let verdict = ComparisonTable(rows: []).classify(ComparisonFacts(ours: .held, theirs: .held))
        #expect(verdict.finds.isDifference)
    }
}
