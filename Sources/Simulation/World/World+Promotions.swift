internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// A promotion that somebody asked for, until it is done or given up.
struct Promotion {
    /// The site that is to be active.
    let site: Int
    var request: PromotionRequest
    var course: PromotionCourse
    /// What is done next.
    var next = PromotionCourse.Step.look
    /// How often it was asked for.
    var tries = 1
    /// Payments of which something was written that the new site has not.
    var lost: [Int] = []
}

/// The shipped `PromotionCourse` over simulated databases, and an operator who says only what is so.
extension World {
    private static let mostTries = 8

    mutating func beginPromotion() {
        guard promotion == nil else { return }
        ask(PromotionRequest(by: "the operator", reason: "the active site is lost"), tries: 1, lost: [])
    }

    private mutating func ask(_ request: PromotionRequest, tries: Int, lost: [Int]) {
        let site = 1 - activeSite
        let settings = SiteDesk.Settings(
            site: sites[site].name, lease: World.siteLease, skew: siteSkew, needsSecondPerson: false)
        let course = PromotionCourse(
            request, settings, hasWitness: plan.proof.isWitness, wait: .seconds(90), expecting: nil, at: time)
        promotion = Promotion(site: site, request: request, course: course, tries: tries, lost: lost)
        goOn(after: .look)
    }

    private mutating func goOn(after step: PromotionCourse.Step) {
        promotion?.next = step
        var pause: Int64 = 5
        if case .wait(let span) = step { pause = span.milliseconds * 10 }
        let bits = chance.bits(109, UInt64(now), UInt64(sites[activeSite].row.epoch))
        push(.site(.promoting), after: pause + (bits >> 40 & 7 == 0 ? span(3_000, bits) : span(100, bits)))
    }

    mutating func goOn() {
        guard let site = promotion?.site, let step = promotion?.next else { return }
        let input: PromotionCourse.Input
        switch step {
        case .look: input = .looked(reading(site), seenByWitness(site))
        case .wait: input = .waited
        case .promoteDatabase:
            becomePrimary(site)
            input = .databasePromoted
        case .take(let claim, let isFenced):
            guard seesWitness(site) else {
                input = .failed(World.unreachable)
                break
            }
            input = take(claim, isFenced: isFenced || does(.promotedTooEarly))
        case .begin(let term, let epoch, let loss): input = .begun(begin(term, after: epoch, loss, at: site))
        case .done: return finishPromotion()
        case .refused(let failure): return refused(failure)
        }
        let moment = time
        guard let next = promotion?.course.handle(input, at: moment) else { return }
        goOn(after: next)
    }

    func seenByWitness(_ site: Int) -> PromotionEvidence.Witness {
        guard plan.proof.isWitness else { return .notAsked }
        guard seesWitness(site) else { return .unreachable("no answer") }
        guard !does(.promotedTooEarly) else { return .free(epoch: sites[site].row.epoch) }
        return witness.look(skew: siteSkew, at: witnessTime)
            .evidence(for: sites[site].name, knowing: sites[site].row.witness?.identity)
    }

    private mutating func take(_ claim: WitnessClaim, isFenced: Bool) -> PromotionCourse.Input {
        do throws(StoreFailure) {
            return .taken(try witness.write(claim, isFenced: isFenced, at: witnessTime))
        } catch {
            return .failed(error)
        }
    }

    /// The database here takes writes from now on; what it has not got is lost.
    private mutating func becomePrimary(_ site: Int) {
        guard !sites[site].isWritable else { return }
        for case .changed(_, let paymentIndex) in link.log[link.applied...] { lose([paymentIndex]) }
        sites[site].isWritable = true
        link.begin()
        link.source = site
        link.isCut = false
        link.hasStandby = false
        sites[site].store.endLeases()
    }

    /// What was written about these payments is lost: whoever asked for something about them asks again.
    mutating func lose(_ payments: [Int]) {
        guard promotion != nil else { return repeatAll(payments) }
        for paymentIndex in payments where promotion?.lost.contains(paymentIndex) == false {
            promotion?.lost.append(paymentIndex)
        }
    }

    private mutating func begin(
        _ term: SiteTerm, after epoch: Int64, _ loss: RecoveryWindow.Loss?, at site: Int
    ) -> SiteRow? {
        guard sites[site].row.epoch == epoch, epoch < term.epoch, sites[site].isWritable else { return nil }
        var term = term
        term.since = storeTime(site)
        let isAsBefore = plan.promotesAsBefore && term.beginning == .promotion
        let loss = does(.recoverySkipped) ? nil : loss ?? (isAsBefore ? .promotion : nil)
        let newest = sites[site].store.rows.compactMap { $0?.payment.updatedAt }.max()
        sites[site].store.endLeases()
        write(sites[site].row.began(term, loss: loss, newest: newest), at: site)
        activeSite = site
        // A site that was drained or demoted has nothing left that it could begin: its store takes no intent any more.
        if !sites[1 - site].row.phase.isOver {
            for replica in replicas.indices where replicas[replica].site != site { judgeRight(of: replica) }
        }
        let lost = promotion?.lost ?? []
        emit(.promoted(site: site, epoch: term.epoch, rowsLost: lost.count))
        if loss != nil { push(.site(.review), after: 60_000) }
        if loss?.keepsAcknowledgedRows == false {
            unheard = Set(tasks.indices.filter { tasks[$0].isCreate }.map { tasks[$0].payment })
        }
        return sites[site].row
    }

    private mutating func finishPromotion() {
        guard let promotion else { return }
        self.promotion = nil
        link.isChanging = false
        if !promotion.lost.isEmpty { repeatAll(promotion.lost) }
        // Whoever promoted a site without the witness founds it there.
        if plan.proof.isWitness { push(.site(.found), after: 1_000) }
        let bits = chance.bits(31, UInt64(sites[activeSite].row.epoch))
        if link.isUp { push(.site(.rejoin), after: 1_000 + span(600_000, bits)) }
    }

    // MARK: The operator

    /// A promotion was refused. An operator does what it takes, and then says so; or gives it up.
    private mutating func refused(_ failure: SiteDeskFailure) {
        guard let promotion, promotion.tries < World.mostTries else { return giveUp() }
        var request = promotion.request
        if case .refused(let obstacles) = failure {
            guard mayOvercome(obstacles, &request) else { return giveUp() }
        } else if case .interrupted(let obstacles) = failure {
            guard mayOvercome(obstacles, &request) else { return giveUp() }
        }
        ask(request, tries: promotion.tries + 1, lost: promotion.lost)
    }

    private mutating func mayOvercome(_ obstacles: [PromotionObstacle], _ request: inout PromotionRequest) -> Bool {
        // What passes was waited for, if nothing else stood against it.
        let lasting = obstacles.filter { !$0.passes }
        for obstacle in lasting.isEmpty ? obstacles : lasting {
            switch obstacle {
            case .leaseRuns, .notLeased, .witnessUnreachable, .witnessNotConfigured, .witnessProvesNothing:
                // It is switched off first; then that is said.
                stopSite(activeSite)
                request.fencedBy = "its power was switched off"
            case .stillStreaming, .notReplayed, .notSynchronous:
                // Who was promised that no acknowledged row is lost does not accept it.
                guard plan.replication == .asynchronous else { return false }
                request.acceptDataLoss = "callers wait"
            case .secondPersonMissing, .samePerson, .noTerm, .alreadyActive, .restoreNotFenced, .contractsAtRisk:
                return false
            }
        }
        return true
    }

    /// The site of before goes on, once it is repaired.
    private mutating func giveUp() {
        guard let promotion else { return }
        guard link.source == activeSite else {
            // The database here is promoted already: there is no way back.
            var request = promotion.request
            stopSite(activeSite)
            request.fencedBy = "its power was switched off"
            return ask(request, tries: 1, lost: promotion.lost)
        }
        self.promotion = nil
        link.isChanging = false
        link.isCut = false
        startSite(activeSite)
    }
}
