public import PaymentCore

/// What people may ask of the site: what it is, and changes of role. The operations API and the command line ask here,
/// so that both mean the same.
public struct SiteDesk: Sendable {
    /// What the operator decided about sites.
    public struct Settings: Sendable, Hashable {
        /// This site.
        public var site: SiteName
        /// How long a lease lasts.
        public var lease: Span
        /// The most by which the sites' clocks differ.
        public var skew: Span
        /// Whether a promotion asks for a second person.
        public var needsSecondPerson: Bool
        /// Providers whose contract is safe only on a store that keeps what it acknowledged.
        public var contractsAtRisk: [String]
        /// In which key spaces this site sends.
        public var keySpaces: KeySpaces

        /// Settings.
        public init(
            site: SiteName, lease: Span, skew: Span, needsSecondPerson: Bool, contractsAtRisk: [String] = [],
            keySpaces: KeySpaces = KeySpaces()
        ) {
            self.site = site
            self.lease = lease
            self.skew = skew
            self.needsSecondPerson = needsSecondPerson
            self.contractsAtRisk = contractsAtRisk
            self.keySpaces = keySpaces
        }
    }

    /// What a promotion did, and when, by the database's clock.
    public struct Promoted: Sendable, Hashable {
        /// The row of the new term.
        public var row: SiteRow
        /// The loss whose recovery window is open now; `nil` if every row is proven to be here.
        public var loss: RecoveryWindow.Loss?
        /// When it was asked for.
        public var askedAt: Timestamp
        /// When nothing stood against it any more.
        public var allowedAt: Timestamp
    }

    let store: any SiteStore
    let witness: (any SiteWitness)?
    let clock: any WallClock
    /// What the operator decided.
    public let settings: Settings

    /// A desk.
    public init(store: any SiteStore, witness: (any SiteWitness)?, clock: any WallClock, settings: Settings) {
        self.store = store
        self.witness = witness
        self.clock = clock
        self.settings = settings
    }

    private static let pause = Span.milliseconds(200)
    /// Within this time every daemon has read that the site is being drained.
    private static let notice = Span.milliseconds(1_500)

    /// What the site is now.
    public func status() async throws(SiteDeskFailure) -> SiteReading {
        try await stored { () async throws(StoreFailure) in try await store.siteReading() }
    }

    /// The terms, newest first.
    public func terms(limit: Int = 20) async throws(SiteDeskFailure) -> [SiteTerm] {
        try await stored { () async throws(StoreFailure) in try await store.siteTerms(limit: limit) }
    }

    /// What stands against a promotion at this moment; empty if nothing does.
    public func obstacles(_ request: PromotionRequest) async throws(SiteDeskFailure) -> [PromotionObstacle] {
        let request = try checked(request)
        let reading = try await status()
        let evidence = settings.evidence(reading, await seenByWitness(reading.row))
        guard case .refused(let obstacles) = PromotionDecision.decide(evidence, request) else { return [] }
        return obstacles
    }

    /// Makes this site the active one, or says why not.
    ///
    /// - Parameters:
    ///   - wait: how long to wait for what passes by itself, such as the old site's lease.
    ///   - epoch: the number of the newest term that was seen before; `nil` for any.
    /// - Throws: ``SiteDeskFailure``; nothing was changed, unless it is `interrupted` or a failure of the store.
    public func promote(
        _ request: PromotionRequest, wait: Span = .zero, expecting epoch: Int64? = nil
    ) async throws(SiteDeskFailure) -> Promoted {
        var course = PromotionCourse(
            try checked(request), settings, hasWitness: witness != nil, wait: wait, expecting: epoch,
            at: clock.now())
        var step = PromotionCourse.Step.look
        while true {
            let input: PromotionCourse.Input
            switch step {
            case .done(let promoted): return promoted
            case .refused(let failure): throw failure
            case .wait(let span):
                try await pause(for: span)
                input = .waited
            default: input = await outcome(of: step)
            }
            step = course.handle(input, at: clock.now())
        }
    }

    /// What comes of a step of a promotion at the store or at the witness.
    private func outcome(of step: PromotionCourse.Step) async -> PromotionCourse.Input {
        do throws(StoreFailure) {
            switch step {
            case .promoteDatabase(let limit):
                try await store.promoteDatabase(within: limit)
                return .databasePromoted
            case .take(let claim, let isFenced):
                guard let witness else { return .taken(true) }
                return .taken(try await witness.take(claim, isFenced: isFenced))
            case .begin(let term, let epoch, let loss):
                return .begun(try await store.beginTerm(term, after: epoch, loss: loss))
            case .look:
                let reading = try await store.siteReading()
                return .looked(reading, await seenByWitness(reading.row))
            case .wait, .done, .refused: return .waited
            }
        } catch {
            return .failed(error)
        }
    }

    /// Has the site take nothing new and finish what is on the wire; returns the row once it did, or once `limit` has
    /// passed, with its phase.
    public func drain(within limit: Span) async throws(SiteDeskFailure) -> SiteRow {
        var row = try await own()
        if row.phase == .active {
            row = try await change(.phase(.draining), row.epoch)
        }
        let began = clock.now()
        let deadline = began + max(limit, SiteDesk.notice)
        while row.phase == .draining {
            let atWork = try await stored { () async throws(StoreFailure) in try await store.paymentsInWork() }
            // One that claims later all the same, because it did not hear in time, is refused by the store.
            if atWork == 0, clock.now() - began >= SiteDesk.notice { return try await end(row, .drained) }
            guard clock.now() < deadline else { throw .stillBusy(payments: atWork) }
            try await pause()
            row = try await own()
        }
        return row
    }

    /// Ends the site's term at once. What is on the wire is in doubt, and is inquired by whoever is active next.
    public func demote() async throws(SiteDeskFailure) -> SiteRow {
        let row = try await own()
        return row.phase.isOver ? row : try await end(row, .demoted)
    }

    /// Sets how much the site does.
    public func set(_ mode: SiteMode) async throws(SiteDeskFailure) -> SiteRow {
        let row = try await own()
        guard !row.phase.isOver else { throw .notActive(row.term?.site) }
        return try await change(.mode(mode), row.epoch)
    }

    /// Gives the witness an identity, and has the site's row know it. Asked again, it goes on where it was.
    ///
    /// - Parameter fencedBy: who or what keeps the other site from acting; needed where the row knows another witness.
    public func foundWitness(by person: String, fencedBy: String?) async throws(SiteDeskFailure) -> SiteRow {
        guard let witness else { throw .noWitness }
        try SiteDesk.check([("by", person), ("fenced_by", fencedBy)])
        let row = try await own()
        let seen = await seenByWitness(row)
        if let known = row.witness, fencedBy == nil {
            switch seen {
            case .unproven(let doubt): throw .witnessKnown(known.identity, doubt)
            case .unreachable(let cause):
                throw .store(StoreFailure(.unavailable, operation: "witness", cause: cause))
            case .notAsked, .held, .free, .own: return row
            }
        }
        let skew = settings.skew
        let there = try await stored { () async throws(StoreFailure) in try await witness.found(skew: skew) }
        if let right = there.right {
            // Somebody was given a right there that this site's row does not know of.
            guard right.epoch <= row.epoch else { throw .witnessAhead(right.site, epoch: right.epoch) }
            guard right.site == settings.site || right.left <= .zero || fencedBy != nil else {
                throw .witnessAhead(right.site, epoch: right.epoch)
            }
        }
        guard let identity = there.identity else { throw .noWitness }
        let known = KnownWitness(identity: identity, since: clock.now(), by: person, fencedBy: fencedBy)
        return try await change(.witness(known), row.epoch)
    }

    /// Closes the recovery window of a loss, once no caller repeats any more what was asked before it.
    public func close(recoveryOf epoch: Int64) async throws(SiteDeskFailure) -> SiteRow {
        let row = try await own()
        guard row.recoveries.contains(where: { $0.epoch == epoch }) else {
            throw .noSuchRecovery(open: row.recoveries.map(\.epoch))
        }
        return try await change(.recovered(epochOfLoss: epoch), row.epoch)
    }
}

extension SiteDesk {
    private func checked(_ request: PromotionRequest) throws(SiteDeskFailure) -> PromotionRequest {
        let texts: [(String, String?)] = [
            ("by", request.by), ("approved_by", request.approvedBy), ("reason", request.reason),
            ("fenced_by", request.fencedBy), ("accept_data_loss", request.acceptDataLoss),
            ("accept_contracts", request.acceptContracts),
        ]
        try SiteDesk.check(texts)
        var request = request
        request.needsSecondPerson = settings.needsSecondPerson
        return request
    }

    private static func check(_ texts: [(field: String, text: String?)]) throws(SiteDeskFailure) {
        for (field, text) in texts {
            guard let text else { continue }
            guard (1...SiteTerm.longestText).contains(text.utf8.count) else { throw .malformed(field: field) }
        }
    }

    private func seenByWitness(_ row: SiteRow) async -> PromotionEvidence.Witness {
        guard let witness else { return .notAsked }
        do throws(StoreFailure) {
            let content = try await witness.look(skew: settings.skew)
            return content.evidence(for: settings.site, knowing: row.witness?.identity)
        } catch {
            return .unreachable(error.cause)
        }
    }

    /// The row, if this site's term is the newest and its database takes writes.
    private func own() async throws(SiteDeskFailure) -> SiteRow {
        let reading = try await status()
        guard reading.row.term?.site == settings.site, reading.database.isWritable else {
            throw .notActive(reading.row.term?.site)
        }
        return reading.row
    }

    private func change(_ change: SiteChange, _ epoch: Int64) async throws(SiteDeskFailure) -> SiteRow {
        let row = try await stored { () async throws(StoreFailure) in
            try await store.changeSite(change, epoch: epoch)
        }
        guard let row else { throw .overtaken }
        return row
    }

    private func end(_ row: SiteRow, _ phase: SitePhase) async throws(SiteDeskFailure) -> SiteRow {
        let row = try await change(.phase(phase), row.epoch)
        if let witness {
            // Whoever is next need not wait for it. If it does not answer, the lease runs out by itself.
            do throws(StoreFailure) {
                try await witness.release(settings.site, epoch: row.epoch)
            } catch {
                return row
            }
        }
        return row
    }

    private func pause(for span: Span = SiteDesk.pause) async throws(SiteDeskFailure) {
        do {
            try await clock.sleep(until: clock.now() + span)
        } catch {
            throw .store(StoreFailure(.unavailable, operation: "site", cause: "interrupted"))
        }
    }

    private func stored<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(SiteDeskFailure) -> Value {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }
}
