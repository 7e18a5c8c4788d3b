import PaymentCore
import Testing

/// Everything that can be seen and said when a site is to be promoted.
@Suite struct PromotionDecisionTests {
    /// One combination, by what matters of it.
    struct Case: CustomStringConvertible {
        var isOwn: Bool
        var phase: SitePhase
        var lease: Lease
        var proof: SiteProofKind
        var replication: SiteReplication
        var database: Database
        var witness: Witness
        var isFenced: Bool
        var acceptsLoss: Bool
        var isRestored: Bool
        var people: People

        enum Lease: CaseIterable { case none, runs, expired, justWithinSkew }
        enum Database: CaseIterable { case primary, streaming, silentComplete, silentBehind, silentUnknown }
        enum Witness: CaseIterable { case notAsked, unreachable, unproven, behind, held, free, own }
        enum People: CaseIterable { case notAsked, missing, same, two }

        var description: String {
            "own \(isOwn), \(phase), lease \(lease), proof \(proof), \(replication), \(database), witness \(witness), "
                + "fenced \(isFenced), accepts \(acceptsLoss), restored \(isRestored), \(people)"
        }
    }

    private static func forEveryCase(_ visit: (Case) -> Void) {
        let flags = [false, true]
        for phase in SitePhase.allCases {
            for lease in Case.Lease.allCases {
                for proof in SiteProofKind.allCases {
                    for replication in SiteReplication.allCases {
                        for database in Case.Database.allCases {
                            for witness in Case.Witness.allCases {
                                for people in Case.People.allCases {
                                    for bits in 0..<16 {
                                        visit(
                                            Case(
                                                isOwn: flags[bits & 1], phase: phase, lease: lease, proof: proof,
                                                replication: replication, database: database, witness: witness,
                                                isFenced: flags[bits >> 1 & 1], acceptsLoss: flags[bits >> 2 & 1],
                                                isRestored: flags[bits >> 3 & 1], people: people))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static let now = Timestamp(milliseconds: 1_000_000)
    private static let skew = Span.seconds(1)

    private static func decide(
        _ found: Case, contractsAtRisk: [String] = [], acceptsContracts: Bool = false
    ) throws -> PromotionDecision {
        let (here, there) = (try SiteName("here"), try SiteName("there"))
        let term = SiteTerm(
            epoch: 7, site: found.isOwn ? here : there, since: Timestamp(milliseconds: 0), beginning: .first, by: "x",
            reason: "y")
        let until: Timestamp? =
            switch found.lease {
            case .none: nil
            case .runs: now + .seconds(5)
            case .expired: now + Span.milliseconds(-1_001)
            case .justWithinSkew: now + Span.milliseconds(-999)
            }
        let row = SiteRow(
            term: term, phase: found.phase, leaseUntil: until, proof: found.proof, replication: found.replication)
        let (early, late) = (LogPosition(offset: 10), LogPosition(offset: 20))
        let database: PromotionEvidence.Database =
            switch found.database {
            case .primary: .primary
            case .streaming: .standby(isStreaming: true, received: late, replayed: late)
            case .silentComplete: .standby(isStreaming: false, received: late, replayed: late)
            case .silentBehind: .standby(isStreaming: false, received: late, replayed: early)
            case .silentUnknown: .standby(isStreaming: false, received: late, replayed: nil)
            }
        let witness: PromotionEvidence.Witness =
            switch found.witness {
            case .notAsked: .notAsked
            case .unreachable: .unreachable("no answer")
            case .unproven: .unproven(.notFounded)
            case .behind: .free(epoch: 6)
            case .held: .held(for: .seconds(3), epoch: 9)
            case .free: .free(epoch: 7)
            case .own: .own(epoch: 9)
            }
        let second: String? =
            switch found.people {
            case .notAsked, .missing: nil
            case .same: "first"
            case .two: "second"
            }
        let request = PromotionRequest(
            by: "first", approvedBy: second, reason: "test", fencedBy: found.isFenced ? "cut off" : nil,
            acceptDataLoss: found.acceptsLoss ? "yes" : nil, acceptContracts: acceptsContracts ? "yes" : nil,
            isRestored: found.isRestored, needsSecondPerson: found.people != .notAsked)
        var evidence = PromotionEvidence(
            site: here, row: row, now: now, skew: skew, database: database, witness: witness)
        evidence.contractsAtRisk = contractsAtRisk
        return PromotionDecision.decide(evidence, request)
    }

    /// The proofs that are asked for outside of both sites' databases.
    private static let witnesses: [SiteProofKind] = [.postgres, .kubernetes, .dynamodb]

    /// Whether the old site is known not to act any more, said in other words than the decision's.
    private static func isStopped(_ found: Case) -> Bool {
        if found.isFenced { return true }
        if found.isRestored || found.isOwn { return false }
        if found.phase == .drained || found.phase == .demoted { return true }
        switch found.witness {
        case .free, .own: return witnesses.contains(found.proof) || found.lease == .expired
        case .held, .unreachable, .unproven, .behind: return false
        case .notAsked: return !witnesses.contains(found.proof) && found.lease == .expired
        }
    }

    /// Whether every acknowledged row is known to be here.
    private static func isComplete(_ found: Case) -> Bool {
        if found.isRestored { return false }
        if found.isOwn && found.database == .primary { return true }
        if found.phase == .drained || found.phase == .demoted { return true }
        return found.lease != .none && found.replication == .synchronous
            && (found.database == .silentComplete || found.database == .primary)
    }

    @Test func `a site is promoted only where the old one is stopped and nothing is lost unsaid`() throws {
        var count = 0
        var wrong: [String] = []
        var obstacles: [String: Int] = [:]
        var outcomes: [String: Int] = [:]
        var failure: (any Error)?
        Self.forEveryCase { found in
            count += 1
            let decision: PromotionDecision
            do { decision = try Self.decide(found) } catch {
                failure = error
                return
            }
            let mayGo =
                found.people != .missing && found.people != .same && Self.isStopped(found)
                && (found.isRestored || found.acceptsLoss || Self.isComplete(found))
            switch decision {
            case .refused(let reasons):
                for reason in reasons { obstacles[reason.name, default: 0] += 1 }
                if mayGo || reasons.isEmpty || Set(reasons).count != reasons.count { wrong.append("\(found)") }
            case .allowed(let promotion):
                outcomes["\(promotion.beginning) \(promotion.loss?.rawValue ?? "nothing")", default: 0] += 1
                if !mayGo || promotion.loss != Self.loss(found) || promotion.epoch != Self.epoch(found)
                    || promotion.takesRight != ![.notAsked, .unproven].contains(found.witness)
                    || promotion.promotesDatabase != (found.database != .primary)
                {
                    wrong.append("\(found): \(promotion)")
                }
            }
        }
        if let failure { throw failure }
        #expect(count == 4 * 4 * 5 * 4 * 5 * 7 * 4 * 16)
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        #expect(
            Set(obstacles.keys) == [
                "second_person_missing", "same_person", "already_active", "lease_runs", "not_leased",
                "witness_not_configured", "witness_unreachable", "still_streaming", "not_replayed", "not_synchronous",
                "restore_not_fenced", "witness_proves_nothing",
            ])
        #expect(
            Set(outcomes.keys) == [
                "renewal nothing", "switchover nothing", "promotion nothing", "promotion asynchronous_promotion",
                "restore restore",
            ])
    }

    @Test func `where acknowledged rows are lost, contracts that rely on them are accepted in words, or refused`()
        throws
    {
        let risk = ["card (retention-on-asynchronous-store)"]
        var refused = 0
        var wrong: [String] = []
        var failure: (any Error)?
        Self.forEveryCase { found in
            guard found.people == .notAsked else { return }
            do {
                let plain = try Self.decide(found)
                guard case .allowed(let promotion) = plain else { return }
                let losesRows = promotion.loss.map { !$0.keepsAcknowledgedRows } ?? false
                let bare = try Self.decide(found, contractsAtRisk: risk)
                if losesRows { refused += 1 }
                if bare != (losesRows ? .refused([.contractsAtRisk(risk)]) : plain) {
                    wrong.append("\(found): \(bare)")
                }
                let accepted = try Self.decide(found, contractsAtRisk: risk, acceptsContracts: true)
                if accepted != plain { wrong.append("\(found), accepted: \(accepted)") }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        #expect(refused > 0)
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        let words = "\(PromotionObstacle.contractsAtRisk(risk))"
        #expect(words.contains("--accept-contracts") && words.contains(risk[0]))
        #expect(!PromotionObstacle.contractsAtRisk(risk).passes)
    }

    /// Above all that is known; a term that was taken for this site and never began is begun.
    private static func epoch(_ found: Case) -> Int64 {
        switch found.witness {
        case .notAsked, .unreachable, .unproven, .behind, .free: 8
        case .own: found.isRestored ? 10 : 9
        case .held: 10
        }
    }

    /// What is to be assumed lost. That rows were acknowledged by two may be believed only where nothing is missing of
    /// what arrived; then nothing is lost.
    private static func loss(_ found: Case) -> RecoveryWindow.Loss? {
        if found.isRestored { return .restore }
        if found.isOwn && found.database == .primary { return nil }
        if found.phase == .drained || found.phase == .demoted { return nil }
        return isComplete(found) ? nil : .asynchronousPromotion
    }

    /// The old primary hangs, and what it sent is still being replayed. The operator was told to accept a loss that was
    /// none, because a contract relies on kept rows.
    @Test func `what still arrives is waited for, and is no loss that contracts would be asked about`() throws {
        let there = try SiteName("there")
        let term = SiteTerm(epoch: 7, site: there, since: Self.now, beginning: .first, by: "a", reason: "b")
        let row = SiteRow(
            term: term, leaseUntil: Self.now + .seconds(5), proof: .standby, replication: .synchronous)
        func decide(_ acceptDataLoss: String?) -> PromotionDecision {
            var evidence = PromotionEvidence(
                site: .main, row: row, now: Self.now, skew: Self.skew,
                database: .standby(
                    isStreaming: true, received: LogPosition(text: "0/2"), replayed: LogPosition(text: "0/1")))
            evidence.contractsAtRisk = ["card (retention-on-asynchronous-store)"]
            return PromotionDecision.decide(
                evidence, PromotionRequest(by: "a", reason: "b", acceptDataLoss: acceptDataLoss))
        }
        guard case .refused(let obstacles) = decide(nil) else {
            Issue.record("it was allowed")
            return
        }
        #expect(obstacles.map(\.name) == ["lease_runs", "still_streaming", "not_replayed"])
        #expect(obstacles.filter { !$0.passes }.isEmpty)
        guard case .refused(let accepted) = decide("callers wait") else {
            Issue.record("it was allowed")
            return
        }
        #expect(accepted.map(\.name) == ["lease_runs", "contracts_at_risk"])
    }

    @Test func `a store on which no site was ever active is not promoted`() throws {
        let evidence = PromotionEvidence(
            site: .main, row: SiteRow(term: nil), now: Self.now, skew: Self.skew, database: .primary)
        let request = PromotionRequest(by: "a", reason: "b", fencedBy: "c", acceptDataLoss: "d")
        #expect(PromotionDecision.decide(evidence, request) == .refused([.noTerm]))
    }

    @Test func `every obstacle says what may be done about it`() throws {
        let there = try SiteName("there")
        let all: [PromotionObstacle] = [
            .leaseRuns(there, for: .seconds(1)), .notLeased(there), .witnessNotConfigured(.postgres),
            .witnessUnreachable("x"), .witnessProvesNothing(.notFounded), .alreadyActive(epoch: 3), .restoreNotFenced,
        ]
        for obstacle in all { #expect("\(obstacle)".contains("--fenced-by"), "\(obstacle)") }
        let losses: [PromotionObstacle] = [
            .stillStreaming, .notReplayed(received: "0/2", replayed: "0/1"), .notSynchronous(.asynchronous),
        ]
        for obstacle in losses { #expect("\(obstacle)".contains("--accept-data-loss"), "\(obstacle)") }
        #expect(PromotionObstacle.leaseRuns(there, for: .seconds(1)).passes)
        #expect(!PromotionObstacle.notLeased(there).passes)
    }

    @Test(arguments: ["0/0", "0/1", "16/B374D848", "FFFFFFFF/FFFFFFFF"])
    func `a place in the log is read as PostgreSQL writes it`(_ text: String) throws {
        #expect(LogPosition(text: text)?.text == text)
    }

    @Test(arguments: ["", "1", "1/", "/1", "1/2/3", "g/1", "123456789/0", "-1/0"])
    func `what is no place in the log is none`(_ text: String) {
        #expect(LogPosition(text: text) == nil)
    }
}
