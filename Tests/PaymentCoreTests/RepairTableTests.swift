import PaymentCore
import Testing

@Suite struct RepairTableTests {
    private static let all: [RepairFacts] = {
        var all: [RepairFacts] = []
        for action in Repair.Action.allCases {
            for shown in RepairFacts.Shown.allCases {
                for flags in 0..<2_048 {
                    var facts = RepairFacts(action: action)
                    facts.shown = shown
                    facts.isRefund = flags & 1 != 0
                    facts.isWaiting = flags & 2 == 0
                    facts.isUnchanged = flags & 4 == 0
                    facts.isExpired = flags & 8 != 0
                    facts.isDecided = flags & 16 != 0
                    facts.isOwn = flags & 32 != 0
                    facts.isAgainstProvider = flags & 64 != 0
                    facts.namesReference = flags & 128 == 0
                    facts.namesAmount = flags & 256 == 0
                    facts.isUnasked = flags & 512 != 0
                    facts.isOthers = flags & 1_024 != 0
                    all.append(facts)
                    facts.age = .past
                    all.append(facts)
                }
            }
            for shown in RepairFacts.Shown.allCases {
                for flags in 0..<64 {
                    var facts = RepairFacts(action: action)
                    (facts.shown, facts.isProviderMissing, facts.mayBeUnderWay) = (shown, true, flags & 1 != 0)
                    (facts.isRefund, facts.isWaiting, facts.isUnchanged) = (flags & 2 != 0, flags & 4 == 0, true)
                    (facts.isAgainstProvider, facts.namesReference) = (flags & 8 != 0, flags & 16 == 0)
                    facts.age = flags & 32 == 0 ? .safe : .past
                    all.append(facts)
                }
            }
            for flags in 0..<256 {
                var facts = RepairFacts(action: action)
                (facts.isDiscrepancy, facts.isUndoable) = (true, flags & 1 != 0)
                (facts.isWaiting, facts.isUnchanged) = (flags & 2 == 0, flags & 4 == 0)
                (facts.isExpired, facts.isDecided, facts.isOwn) = (flags & 8 != 0, flags & 16 != 0, flags & 32 != 0)
                (facts.isAgainstProvider, facts.namesReference) = (flags & 64 != 0, flags & 128 == 0)
                all.append(facts)
            }
        }
        return all
    }()

    @Test func `the table has no hole, and each row decides something`() {
        var rows: [String: Int] = [:]
        for facts in RepairTableTests.all { rows[RepairTable.shipped.decide(facts).row, default: 0] += 1 }
        #expect(rows["no-row"] == nil)
        for row in RepairTable.shipped.rows { #expect(rows[row.name] != nil, "\(row.name) never decides") }
        #expect(Set(RepairTable.shipped.rows.map(\.name)).count == RepairTable.shipped.rows.count)
    }

    @Test func `nothing is carried out by one person, late, twice, or on facts that changed`() {
        for facts in RepairTableTests.all where RepairTable.shipped.decide(facts).decision == .carryOut {
            #expect(!facts.isOwn && !facts.isExpired && !facts.isDecided && facts.isWaiting && facts.isUnchanged)
        }
    }

    @Test func `nothing is sent again that may be executed a second time`() {
        let wrong = RepairTableTests.all.filter { facts in
            facts.action == .sendAgain && RepairTable.shipped.decide(facts).decision == .carryOut
                && (facts.age != .safe || facts.shown == .taken || facts.isOthers)
        }
        #expect(wrong.isEmpty, "\(wrong.count), such as \(wrong.prefix(1))")
    }

    @Test func `where nobody can act, nothing is sent or asked, and nothing is said while a request may arrive`() {
        let carriedOut = RepairTableTests.all.filter {
            $0.isProviderMissing && RepairTable.shipped.decide($0).decision == .carryOut
        }
        #expect(Set(carriedOut.map(\.action)) == [.charged, .neverCharged, .undoneOutside, .writeOff])
        #expect(carriedOut.allSatisfy { !$0.mayBeUnderWay })
    }

    @Test func `whoever says something else than the provider must say so`() {
        for facts in RepairTableTests.all where !facts.isAgainstProvider {
            guard RepairTable.shipped.decide(facts).decision == .carryOut else { continue }
            switch facts.action {
            case .charged: #expect([.nothing, .taken].contains(facts.shown))
            case .neverCharged, .writeOff: #expect([.nothing, .denied, .over].contains(facts.shown))
            case .undoneOutside: #expect(![.undecided, .held, .taken].contains(facts.shown))
            case .sendAgain, .undo, .resume: break
            }
        }
    }

    @Test func `facts read back as they were written`() {
        // Of all actions and answers; the step is prime to the numbers of both.
        for place in stride(from: 0, to: RepairTableTests.all.count, by: 29) {
            let facts = RepairTableTests.all[place]
            #expect(RepairFacts(text: facts.text) == facts)
        }
        #expect(RepairFacts(text: "shown=taken") == nil)
        #expect(RepairFacts(text: "action=charged colour=red") == nil)
    }
}
