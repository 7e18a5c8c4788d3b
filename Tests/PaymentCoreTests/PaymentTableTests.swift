import PaymentCore
import Testing

/// The payment table (table B in docs/protocol.md) over every combination of the standings of one, two and three legs.
@Suite struct PaymentTableTests {
    private typealias Leg = PaymentFacts.Leg

    private static let legs: [Leg] = {
        var legs: [Leg] = []
        for onePhase in [false, true] {
            for standing in PaymentFacts.Standing.allCases where !(onePhase && standing == .held) {
                for forward in PaymentFacts.Forward.allCases {
                    for read in [false, true] {
                        legs.append(
                            Leg(isOnePhase: onePhase, standing: standing, forward: forward, freshlyRead: read))
                        if standing == .quarantined, read {
                            legs.append(
                                Leg(
                                    isOnePhase: onePhase, standing: standing, forward: forward,
                                    isCapturedWithPeople: true))
                        }
                        if standing == .open, read {
                            legs.append(Leg(isOnePhase: onePhase, standing: standing, forward: forward, isDenied: true))
                        }
                        // Of a two-phase leg nothing may be asked by a capture.
                        guard !onePhase, read, forward == .wanted else { continue }
                        legs.append(
                            Leg(isOnePhase: false, standing: standing, forward: forward, isAsked: false))
                    }
                }
            }
        }
        return legs
    }()

    private static func forEachFacts(legs count: Int, _ visit: (PaymentFacts) -> Void) {
        var combinations: [[Leg]] = [[]]
        // A third leg makes no new kind of row: of the first two every kind is taken once, of the third the simplest.
        let common = count < 3 ? legs : legs.filter { $0.freshlyRead && $0.isAsked && $0.forward != .unattainable }
        for index in 0..<count {
            let choices = index < 2 ? common : common.filter { !$0.isOnePhase && $0.forward == .done }
            combinations = combinations.flatMap { begun in choices.map { begun + [$0] } }
        }
        for legs in combinations where legs.count(where: \.isOnePhase) <= 1 {
            for latch in Latch.allCases {
                for bits in 0..<64 {
                    visit(
                        PaymentFacts(
                            latch: latch, legs: legs, stopAsked: bits & 1 != 0, holdOnly: bits & 2 != 0,
                            inRecovery: bits & 4 != 0, mayHaveLostRequests: bits & 32 != 0,
                            latchAcknowledged: bits & 8 != 0, hasCaptureRequest: bits & 16 != 0))
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3]) func `no combination of legs leads to an unsafe decision`(_ count: Int) {
        var rows: Set<String> = []
        var wrong: [String] = []
        Self.forEachFacts(legs: count) { facts in
            let verdict = PaymentTable.shipped.decide(facts)
            rows.insert(verdict.row)
            if wrong.count < 5, let broken = Self.violation(facts, verdict.decision) {
                wrong.append("\(broken): \(verdict) for \(facts)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        // Two legs come to every row; one proves nothing of another, and of three some facts are left out.
        if count == 2 { #expect(rows == Self.rows) } else { #expect(rows.isSubset(of: Self.rows)) }
    }

    private static let rows = Set(PaymentTable.shipped.rows.map(\.name))

    private static func violation(_ facts: PaymentFacts, _ decision: PaymentDecision) -> String? {
        let allRead = facts.legs.allSatisfy(\.freshlyRead)
        switch decision {
        case .latch(let next):
            if !facts.latch.permits(next) { return "the latch moves backward" }
            if facts.inRecovery, !allRead { return "latches before all legs are read" }
            return violationOfLatch(facts, next)
        case .conclude(let ending): return violationOfEnd(facts, ending)
        case .authorize(let legs):
            if facts.latch != .none || facts.stopAsked { return "authorizes under \(facts.latch)" }
            return legs.contains { facts.legs[$0].isOnePhase || facts.legs[$0].standing != .open }
                ? "authorizes what is not to be authorized" : nil
        case .sell(let sale):
            if facts.latch != .none || facts.stopAsked { return "sells under \(facts.latch)" }
            let others = facts.legs.indices.filter { $0 != sale }
            return !facts.legs[sale].isOnePhase || facts.legs[sale].standing != .open
                || others.contains { ![.held, .taken].contains(facts.legs[$0].standing) }
                ? "sells before the others are held" : nil
        case .capture:
            if facts.hasCaptureRequest, !facts.latchAcknowledged { return "captures by a request that may be lost" }
            return facts.latch == .forward ? nil : "captures under \(facts.latch)"
        case .undo(let legs):
            if facts.latch != .back && facts.latch != .compensate { return "undoes under \(facts.latch)" }
            if facts.inRecovery, facts.legs.contains(where: { !$0.freshlyRead && $0.standing != .gone }) {
                return "undoes before all legs are read"
            }
            return legs.contains { facts.legs[$0].standing == .gone } ? "undoes what is gone" : nil
        case .rest:
            return facts.holdOnly && facts.legs.allSatisfy { [.held, .taken].contains($0.standing) }
                ? nil : "rests without everything held"
        case .adoptCapture:
            return facts.inRecovery && facts.mayHaveLostRequests && allRead && facts.holdOnly
                && facts.legs.allSatisfy { $0.standing == .taken }
                ? nil : "adopts a capture that is not whole"
        case .awaitCapture(let legs):
            return facts.inRecovery && allRead && facts.holdOnly && !legs.isEmpty
                && legs.allSatisfy { facts.legs[$0].standing == .taken } ? nil : "waits for a capture that was not lost"
        case .leaveToPeople(let legs):
            return !facts.inRecovery && facts.holdOnly && !facts.stopAsked && !legs.isEmpty
                && legs.allSatisfy { facts.legs[$0].standing == .taken } ? nil : "asks people about what is known"
        case .missing(let legs):
            let isTaken = facts.legs.contains { $0.standing == .taken || $0.isCapturedWithPeople }
            return facts.inRecovery && facts.mayHaveLostRequests && allRead && isTaken && !legs.isEmpty
                && legs.allSatisfy { facts.legs[$0].standing == .open && facts.legs[$0].isDenied }
                ? nil : "misses what may never have been"
        case .readAll: return facts.inRecovery ? nil : "reads without a reason"
        case .wait: return violationOfWaiting(facts)
        }
    }

    private static func violationOfLatch(_ facts: PaymentFacts, _ next: Latch) -> String? {
        let isProven =
            facts.inRecovery && facts.legs.contains { $0.standing == .taken || $0.isCapturedWithPeople }
        switch next {
        case .forward:
            let isMissing = facts.legs.contains {
                ![.held, .taken].contains($0.standing) && ($0.isAsked || !isProven)
            }
            if isMissing { return "forward without all" }
            if facts.stopAsked, !isProven { return "forward though a stop was asked" }
            return facts.holdOnly && !isProven ? "forward though only a hold was asked" : nil
        case .back:
            let isLost = facts.legs.contains { $0.standing == .lost || $0.standing == .gone }
            guard isProven else { return facts.stopAsked || isLost ? nil : "back without a reason" }
            // A proof outranks what was asked; only what can never be completed turns it back.
            return facts.legs.contains { $0.isAsked && [.open, .lost, .gone].contains($0.standing) }
                ? nil : "back against the proof"
        case .compensate:
            return facts.legs.contains { $0.forward == .unattainable } ? nil : "compensates without a reason"
        case .none: return "unlatches"
        }
    }

    private static func violationOfEnd(_ facts: PaymentFacts, _ ending: PaymentDecision.Ending) -> String? {
        switch ending {
        case .succeeded:
            return facts.latch == .forward && facts.legs.allSatisfy { $0.forward == .done } ? nil : "succeeds early"
        case .undone, .compensated:
            let latch: Latch = ending == .undone ? .back : .compensate
            if facts.latch != latch { return "ends under \(facts.latch)" }
            if !facts.latchAcknowledged { return "ends under an unacknowledged latch" }
            return facts.legs.allSatisfy { $0.standing == .gone } ? nil : "ends with a leg that is not gone"
        }
    }

    private static func violationOfWaiting(_ facts: PaymentFacts) -> String? {
        if facts.legs.contains(where: { $0.standing == .quarantined }) { return nil }
        if !facts.latchAcknowledged, facts.latch == .forward, facts.hasCaptureRequest { return nil }
        if !facts.latchAcknowledged, facts.latch == .back || facts.latch == .compensate { return nil }
        return "waits for nothing"
    }

    @Test func `a proof outranks a cancel that comes after it`() {
        var facts = PaymentFacts(
            latch: .none,
            legs: [Leg(isOnePhase: false, standing: .taken), Leg(isOnePhase: false, standing: .held)],
            stopAsked: true, inRecovery: true)
        #expect(PaymentTable.shipped.decide(facts).decision == .latch(.forward))
        facts.inRecovery = false
        #expect(PaymentTable.shipped.decide(facts).decision == .latch(.back))
    }

    @Test func `latches move forward, back and to compensation only`() {
        let permitted = Latch.allCases.flatMap { from in
            Latch.allCases.filter { from.permits($0) }.map { "\(from)-\($0)" }
        }
        #expect(Set(permitted) == ["none-forward", "none-back", "forward-compensate"])
    }
}
