public import PaymentCore

/// The way of one promotion, from the first look to the new term: a synchronous machine. Whether it may be is decided
/// by ``PromotionDecision``; this says what is looked at, what is waited for, and in which order it is done.
public struct PromotionCourse: Sendable {
    /// What it is told.
    public enum Input: Sendable {
        /// The row and the witness, as they are now.
        case looked(SiteReading, PromotionEvidence.Witness)
        /// A pause is over.
        case waited
        /// The database here is a primary now.
        case databasePromoted
        /// Whether the witness gave the right to the new term.
        case taken(Bool)
        /// The row of the new term; `nil` if another was first.
        case begun(SiteRow?)
        /// The store or the witness failed.
        case failed(StoreFailure)
    }

    /// What is done next.
    public enum Step: Sendable {
        /// Read the row, and ask the witness, where there is one.
        case look
        /// Wait for a moment, and say so.
        case wait(Span)
        /// Make the database here a primary, within a limit.
        case promoteDatabase(within: Span)
        /// Have the witness give the right to the term. With `isFenced`, whoever has it.
        case take(WitnessClaim, isFenced: Bool)
        /// Begin the term after the newest that was seen.
        case begin(SiteTerm, after: Int64, loss: RecoveryWindow.Loss?)
        /// It is done.
        case done(SiteDesk.Promoted)
        /// It is not; nothing was changed, unless it is `interrupted` or a failure of the store.
        case refused(SiteDeskFailure)
    }

    private static let pause = Span.milliseconds(200)
    private static let promotionLimit = Span.seconds(60)

    private let settings: SiteDesk.Settings
    private let request: PromotionRequest
    private let hasWitness: Bool
    private let expected: Int64?
    private var deadline: Timestamp
    private var askedAt: Timestamp?
    private var hasPromotedDatabase = false
    private var planned: (term: SiteTerm, after: Int64, loss: RecoveryWindow.Loss?)?

    /// A promotion whose request arrived at `now`; its first step is to look.
    ///
    /// - Parameters:
    ///   - wait: how long to wait for what passes by itself, such as the old site's lease.
    ///   - epoch: the number of the newest term that was seen before; `nil` for any.
    public init(
        _ request: PromotionRequest, _ settings: SiteDesk.Settings, hasWitness: Bool, wait: Span,
        expecting epoch: Int64?, at now: Timestamp
    ) {
        self.request = request
        self.settings = settings
        self.hasWitness = hasWitness
        expected = epoch
        deadline = now + wait
    }

    /// Takes in what came of the last step; returns the next.
    public mutating func handle(_ input: Input, at now: Timestamp) -> Step {
        switch input {
        case .looked(let reading, let witness): return looked(reading, witness, now)
        case .waited: return .look
        case .databasePromoted:
            // What arrived in the last moment counts: the old site may have renewed its lease.
            hasPromotedDatabase = true
            deadline = max(deadline, now + settings.lease + settings.skew + .seconds(1))
            return .look
        case .taken(let isTaken):
            guard isTaken, let planned else { return .refused(.overtaken) }
            return .begin(planned.term, after: planned.after, loss: planned.loss)
        case .begun(let row):
            guard let row, let planned, let askedAt else { return .refused(.overtaken) }
            return .done(
                SiteDesk.Promoted(row: row, loss: planned.loss, askedAt: askedAt, allowedAt: planned.term.since))
        case .failed(let failure): return .refused(.store(failure))
        }
    }

    private mutating func looked(
        _ reading: SiteReading, _ witness: PromotionEvidence.Witness, _ now: Timestamp
    ) -> Step {
        if askedAt == nil {
            askedAt = reading.now
            guard expected == nil || expected == reading.row.epoch else { return .refused(.overtaken) }
        }
        switch PromotionDecision.decide(settings.evidence(reading, witness), request) {
        case .refused(let obstacles):
            guard obstacles.allSatisfy(\.passes), now < deadline else {
                return .refused(hasPromotedDatabase ? .interrupted(obstacles) : .refused(obstacles))
            }
            return .wait(PromotionCourse.pause)
        case .allowed(let promotion):
            guard !promotion.promotesDatabase else {
                return .promoteDatabase(within: PromotionCourse.promotionLimit)
            }
            let term = SiteTerm(
                epoch: promotion.epoch, site: settings.site, since: reading.now, beginning: promotion.beginning,
                by: request.by, approvedBy: request.approvedBy, reason: request.reason, fencedBy: request.fencedBy,
                dataLossAccepted: request.acceptDataLoss, contractsAccepted: request.acceptContracts)
            planned = (term, reading.row.epoch, promotion.loss)
            guard hasWitness, promotion.takesRight else {
                return .begin(term, after: reading.row.epoch, loss: promotion.loss)
            }
            let claim = WitnessClaim(
                settings.site, epoch: promotion.epoch, lease: settings.lease, skew: settings.skew,
                witness: reading.row.witness?.identity)
            return .take(claim, isFenced: request.fencedBy != nil)
        }
    }
}

extension SiteDesk.Settings {
    /// What is seen, with what the operator decided.
    func evidence(_ reading: SiteReading, _ witness: PromotionEvidence.Witness) -> PromotionEvidence {
        var evidence = PromotionEvidence(
            site: site, row: reading.row, now: reading.now, skew: skew, database: reading.database.evidence,
            witness: witness)
        // What a lost row sent is unknown where another site's keys are kept.
        let elsewhere = keySpaces.differences(from: reading.row.keySpaces).map { difference in
            "\(difference.provider) (key_space: \(difference.here) here, \(difference.there) before)"
        }
        evidence.contractsAtRisk = contractsAtRisk + elsewhere
        return evidence
    }
}
