/// Whether a site may be promoted: a pure function of what can be seen and what somebody says.
///
/// - The old site must not write or send any more: its term is over, its lease has run out, or somebody says who fenced
///   it.
/// - Every acknowledged row must be here: the old site's last word says that it was its last, or a commit was never
///   acknowledged without this database and all that arrived is replayed; or somebody accepts the loss.
/// - Where acknowledged rows are lost, no contract may rely on their being kept; or somebody accepts that.
/// - What is not proven complete opens a recovery window. Where it is, every row that anything was told or sent by is
///   here, and none is opened.
public enum PromotionDecision: Sendable, Hashable {
    /// It may not, for these reasons.
    case refused([PromotionObstacle])
    /// It may.
    case allowed(Promotion)

    /// What a promotion records.
    public struct Promotion: Sendable, Hashable {
        /// How the term begins.
        public var beginning: SiteTerm.Beginning
        /// The loss whose recovery window it opens; `nil` if every row is proven to be here.
        public var loss: RecoveryWindow.Loss?
        /// Whether the database here has yet to be made a primary.
        public var promotesDatabase: Bool
        /// The number of the new term: above all that the row and the witness know. A term whose right this site took
        /// and that never began is begun.
        public var epoch: Int64
        /// Whether the right to the term is taken from the witness. One that proves nothing gives none.
        public var takesRight: Bool
    }

    /// Decides.
    public static func decide(_ evidence: PromotionEvidence, _ request: PromotionRequest) -> PromotionDecision {
        guard let term = evidence.row.term else { return .refused([.noTerm]) }
        let isOwn = term.site == evidence.site && evidence.database == .primary && !request.isRestored
        let loss = missing(evidence, request, isOwn)
        var obstacles = people(request) + writing(evidence, request, term)
        if request.acceptDataLoss == nil, !request.isRestored { obstacles += loss }
        // What still arrives is not lost, unless nobody waits for it.
        let isLost = loss.contains { !$0.passes } || !loss.isEmpty && request.acceptDataLoss != nil
        if request.isRestored || isLost, request.acceptContracts == nil, !evidence.contractsAtRisk.isEmpty {
            // The daemons were started on the word that the store keeps its rows; it is not asked again after this.
            obstacles.append(.contractsAtRisk(evidence.contractsAtRisk))
        }
        guard obstacles.isEmpty else { return .refused(obstacles) }
        return .allowed(promotion(evidence, request, term, isOwn, mayMiss: !loss.isEmpty))
    }

    private static func people(_ request: PromotionRequest) -> [PromotionObstacle] {
        if request.approvedBy == request.by { return [.samePerson] }
        return request.needsSecondPerson && request.approvedBy == nil ? [.secondPersonMissing] : []
    }

    /// Why the old site may still write or send.
    private static func writing(
        _ evidence: PromotionEvidence, _ request: PromotionRequest, _ term: SiteTerm
    ) -> [PromotionObstacle] {
        guard request.fencedBy == nil else { return [] }
        guard !request.isRestored else { return [.restoreNotFenced] }
        guard term.site != evidence.site else { return [.alreadyActive(epoch: term.epoch)] }
        guard !evidence.row.phase.isOver else { return [] }
        switch evidence.witness {
        case .unreachable(let reason): return [.witnessUnreachable(reason)]
        case .unproven(let doubt): return [.witnessProvesNothing(doubt)]
        case .notAsked, .held, .free, .own: break
        }
        if let known = evidence.witness.epoch, known < term.epoch {
            return [.witnessProvesNothing(.behind(epoch: known, row: term.epoch))]
        }
        if evidence.witness == .notAsked, evidence.row.proof.isWitness {
            return [.witnessNotConfigured(evidence.row.proof)]
        }
        guard let left = evidence.leaseLeft else { return [.notLeased(term.site)] }
        return left > .zero ? [.leaseRuns(term.site, for: left)] : []
    }

    /// Why acknowledged rows may be missing here. The site's own database has all that it ever acknowledged; who sees
    /// that a term is over sees all that was written before that.
    private static func missing(
        _ evidence: PromotionEvidence, _ request: PromotionRequest, _ isOwn: Bool
    ) -> [PromotionObstacle] {
        guard !isOwn, !request.isRestored, !evidence.row.phase.isOver else { return [] }
        var obstacles: [PromotionObstacle] = []
        if evidence.isStreaming { obstacles.append(.stillStreaming) }
        if !evidence.isReplayed, case .standby(_, let received, let replayed) = evidence.database {
            obstacles.append(
                .notReplayed(received: received?.text ?? "unknown", replayed: replayed?.text ?? "unknown"))
        }
        if !evidence.row.isSynchronousByPromise { obstacles.append(.notSynchronous(evidence.row.replication)) }
        return obstacles
    }

    private static func promotion(
        _ evidence: PromotionEvidence, _ request: PromotionRequest, _ term: SiteTerm, _ isOwn: Bool, mayMiss: Bool
    ) -> Promotion {
        let isStandby = evidence.database != .primary
        func promotion(_ beginning: SiteTerm.Beginning, _ loss: RecoveryWindow.Loss?) -> Promotion {
            Promotion(
                beginning: beginning, loss: loss, promotesDatabase: isStandby,
                epoch: epoch(evidence.witness, term, request),
                takesRight: evidence.witness.takesRight)
        }
        if request.isRestored { return promotion(.restore, .restore) }
        if isOwn { return promotion(.renewal, nil) }
        if evidence.row.phase.isOver { return promotion(.switchover, nil) }
        return promotion(.promotion, mayMiss ? .asynchronousPromotion : nil)
    }

    private static func epoch(
        _ witness: PromotionEvidence.Witness, _ term: SiteTerm, _ request: PromotionRequest
    ) -> Int64 {
        // A backup does not know whether the term began: its number is not used twice.
        if case .own(let taken) = witness, taken > term.epoch, !request.isRestored { return taken }
        return max(term.epoch, witness.epoch ?? 0) + 1
    }
}

extension PromotionEvidence.Witness {
    fileprivate var takesRight: Bool {
        switch self {
        case .notAsked, .unproven: false
        case .unreachable, .held, .free, .own: true
        }
    }
}
