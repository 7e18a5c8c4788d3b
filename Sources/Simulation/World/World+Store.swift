internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// One site: its database, which follows the other's or takes writes.
struct Site {
    let name: SiteName
    var store: StoreModel
    /// The site's row, as this database has it.
    var row: SiteRow
    /// Whether it takes writes: it is no standby.
    var isWritable = false
    /// Whether it runs. What a site loses when it is lost as a whole.
    var isUp = true
    /// How far its clock is off, in milliseconds.
    var clockOffset: Int64 = 0
}

/// What a store tells its standby.
enum LogEntry {
    case changed(ChangedRow, paymentIndex: Int)
    case compared(ComparisonChange)
    case site(SiteRow)
}

/// The way from one site's database to the one that follows it.
struct Link {
    /// Whose log it carries.
    var source = 0
    var isUp = true
    /// The active site is gone, and what it had not told yet is gone with it.
    var isCut = false
    /// The other site has a whole copy and follows.
    var hasStandby = true
    var log: [LogEntry] = []
    /// So many came before those in the log; the standby has all of them.
    var before = 0
    /// So many of them the standby has.
    var applied = 0
    /// A change of the active site is under way.
    var isChanging = false

    /// Whoever follows from now on begins with a whole copy.
    mutating func begin() {
        before += log.count
        log.removeAll()
        applied = 0
    }
}

/// The stores as replicas reach them, and how rows get to the standby.
extension World {
    func storeTime(_ site: Int) -> Timestamp { Timestamp(milliseconds: now + sites[site].clockOffset) }

    func reachesStore(_ replica: Int) -> Bool {
        let site = replicas[replica].site
        return sites[site].isUp && replicas[replica].partitionedUntil <= now && canConfirm(site)
    }

    /// A synchronous store that cannot reach its standby acknowledges nothing, and one whose standby was made a primary
    /// never again.
    private func canConfirm(_ site: Int) -> Bool {
        guard plan.replication == .synchronous, !does(.oldSiteGoesOn), sites[site].isWritable else { return true }
        return link.source == site && (link.isUp || !link.hasStandby)
    }

    /// Whether the store of a replica's site takes its writes: under its term, as every store requires it.
    mutating func takesWrites(_ replica: Int) -> Bool {
        guard reachesStore(replica) else { return false }
        guard !does(.oldSiteGoesOn), plan.sites > 1 else { return true }
        guard let term = replicas[replica].term else { return false }
        let site = replicas[replica].site
        // A copy of the row would cost more than the change that is to be written.
        guard sites[site].isWritable, sites[site].row.epoch == term, !sites[site].row.phase.isOver else {
            hear(.termEnded(epoch: term), replica, after: 1)
            return false
        }
        return true
    }

    /// Whether what is written at a site is what everybody goes on with.
    func counts(_ site: Int) -> Bool { site == activeSite || does(.oldSiteGoesOn) }

    private static let inactive = StoreFailure(.inactive, operation: "write", cause: "the term is over")

    /// Makes a change durable in the store of a replica's site, if the store takes it.
    mutating func write(_ change: PaymentChange, by replica: Int) -> Result<CommitResult, StoreFailure> {
        let site = replicas[replica].site
        guard takesWrites(replica) else { return .failure(World.inactive) }
        var change = change
        sabotage(&change)
        let before = sites[site].store.payment(change.payment.id)
        let result: CommitResult
        do throws(StoreFailure) {
            result = try sites[site].store.commit(change, at: storeTime(site), overlooking: laxness(change))
        } catch {
            return .failure(error)
        }
        guard case .committed = result, let paymentIndex = paymentIndices[change.payment.id],
            let row = sites[site].store.rows[paymentIndex]
        else { return .success(result) }
        idleClaims[paymentIndex].written(isNews: !change.entries.isEmpty)
        // A process that stood still may write once more to a database that nobody follows any more. What it tells of
        // that is judged by the rows that count.
        guard counts(site) else {
            lose([paymentIndex])
            return .success(result)
        }
        emit(
            .committed(
                Commit(
                    site: site, replica: replica, token: World.token(change.lease, row.token),
                    epoch: sites[site].row.epoch, before: before, after: row.payment, entries: change.entries,
                    isConfirmed: canConfirm(site))))
        if let told = sites[site].store.changedRow(by: change) {
            tell(.changed(told, paymentIndex: paymentIndex), from: site)
        }
        callPeople(paymentIndex, before, row.payment)
        if case .creating = change.lease { leased(replica, row.payment.id, row.token) }
        wakeOtherReplicas(site, paymentIndex, except: replica)
        return .success(result)
    }

    private static func token(_ lease: PaymentChange.LeaseRequirement, _ newest: LeaseToken) -> LeaseToken? {
        switch lease {
        case .creating: newest
        case .holding(let token), .releasing(let token): token
        case .none: nil
        }
    }

    private func laxness(_ change: PaymentChange) -> StoreLaxness {
        var laxness: StoreLaxness = does(.ownRepairApproved) ? .repairs : []
        // A change from an older version does not continue the trail either.
        if does(.versionIgnored) { laxness.formUnion([.versions, .trails]) }
        if does(.refundsNotReserved), change.record?.operation == .refund {
            laxness.formUnion([.versions, .trails])
        }
        if does(.leaseTokenIgnored) { laxness.formUnion([.leases, .versions, .trails]) }
        if does(.auditEntryDropped) || does(.secretInAudit) { laxness.insert(.trails) }
        if does(.duplicateCreateAccepted), change.record?.operation == .create { laxness.insert(.keys) }
        return laxness
    }

    private func sabotage(_ change: inout PaymentChange) {
        if does(.auditEntryDropped), change.entries.count > 1, change.payment.version % 5 == 4 {
            change.entries.remove(at: 0)
        }
        if does(.secretInAudit), let last = change.entries.last, let leg = change.payment.legs.first {
            let before = AuditHead(sequence: last.sequence - 1, hash: last.previous)
            change.entries[change.entries.count - 1] = AuditEntry(
                after: before, payment: change.payment.id, at: last.at, type: last.type, leg: last.leg,
                fields: last.fields + [AuditField("instrument", leg.instrument.token)])
        }
    }

    /// Keeps the first settled answer under a key.
    mutating func keep(_ answer: StoredAnswer, _ caller: CallerID, _ key: IdempotencyKey, site: Int) -> StoredAnswer? {
        guard let kept = sites[site].store.keep(answer, caller, key) else { return nil }
        if let told = sites[site].store.changedRow(of: caller, key), let paymentIndex = paymentIndices[told.payment] {
            tell(.changed(told, paymentIndex: paymentIndex), from: site)
        }
        return kept
    }

    // MARK: The standby

    mutating func tell(_ entry: LogEntry, from site: Int) {
        guard plan.sites > 1 else { return }
        guard site == link.source else {
            // A branch that nobody goes on with: what is written there is lost.
            if case .changed(_, let paymentIndex) = entry { lose([paymentIndex]) }
            return
        }
        link.log.append(entry)
        let count = link.log.count
        guard plan.replication == .asynchronous else { return ship(upTo: count) }
        let bits =
            switch entry {
            case .changed(let row, let paymentIndex):
                chance.bits(23, UInt64(paymentIndex), UInt64(row.after?.version ?? 0), UInt64(count))
            case .compared, .site: chance.bits(101, UInt64(count), UInt64(now))
            }
        let drawn = 50 + span(bits & 7 == 0 ? 20_000 : 1_000, bits)
        push(.ship(upTo: count), after: plan.standbyLag?.milliseconds ?? drawn)
    }

    /// The standby takes in what it was told, in order.
    mutating func ship(upTo count: Int) {
        guard link.isUp, !link.isCut, link.hasStandby, count <= link.log.count, link.applied < count else { return }
        let standby = 1 - link.source
        for logIndex in link.applied..<count {
            switch link.log[logIndex] {
            case .changed(let row, _): sites[standby].store.apply(row)
            case .compared(let change): apply(change, to: standby)
            case .site(let row): sites[standby].row = row
            }
        }
        link.applied = count
    }

    private mutating func apply(_ change: ComparisonChange, to standby: Int) {
        do throws(Money.Failure) {
            try sites[standby].store.apply(change)
        } catch {
            return  // Not reached: the sums fit where the change was made first.
        }
    }
}
