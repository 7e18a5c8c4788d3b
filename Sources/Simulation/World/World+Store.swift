internal import PaymentCore
internal import Reconciler

/// One site: a store, and whether its term runs.
struct Site {
    var store: SimulatedStore
    /// How far the store's clock is off, in milliseconds.
    var clockOffset: Int64 = 0
    /// Whether it holds the term: its replicas may write and send.
    var isServing = false
}

/// What a store tells its standby.
enum LogEntry {
    case changed(ChangedRow)
    case compared(ComparisonChange)
}

/// A change of a payment, or of a key.
struct ChangedRow {
    let payment: Int
    let after: Payment?
    let entries: [AuditEntry]
    let token: LeaseToken
    let record: IdempotencyRecord?
}

/// The way from the active site to its standby.
struct Link {
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
        guard sites[site].isServing, replicas[replica].partitionedUntil <= now else { return false }
        return canConfirm
    }

    /// A synchronous store that cannot reach its standby acknowledges nothing.
    private var canConfirm: Bool { plan.replication != .synchronous || link.isUp || !link.hasStandby }

    /// Makes a change durable in the store of a replica's site, if the store takes it.
    mutating func write(_ change: PaymentChange, by replica: Int) -> CommitResult {
        let site = replicas[replica].site
        guard sites[site].isServing else { return .leaseLost }
        var change = change
        sabotage(&change)
        let before = sites[site].store.row(change.payment.id)?.payment
        let result = sites[site].store.commit(change, at: storeTime(site), ignoring: laxness(change))
        guard case .committed = result, let row = sites[site].store.row(change.payment.id),
            let place = places[change.payment.id]
        else { return result }
        idleClaims[place] = 0
        let entry = ChangedRow(
            payment: place, after: row.payment, entries: change.entries, token: row.token, record: change.record)
        emit(
            .committed(
                Commit(
                    site: site, replica: replica, token: World.token(change.lease, row.token),
                    epoch: sites[site].store.epoch, before: before, after: row.payment, entries: change.entries,
                    isConfirmed: canConfirm)))
        tell(.changed(entry), from: site)
        if case .creating = change.lease { leased(replica, row.payment.id, row.token) }
        nudge(site, place, except: replica)
        return result
    }

    private static func token(_ lease: PaymentChange.LeaseRequirement, _ newest: LeaseToken) -> LeaseToken? {
        switch lease {
        case .creating: newest
        case .holding(let token), .releasing(let token): token
        case .none: nil
        }
    }

    private func laxness(_ change: PaymentChange) -> StoreLaxness {
        var laxness: StoreLaxness = []
        if does(.versionIgnored) { laxness.insert(.versions) }
        if does(.refundsNotReserved), change.record?.operation == .refund { laxness.insert(.versions) }
        if does(.leaseTokenIgnored) { laxness.formUnion([.leases, .versions]) }
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
        if let record = sites[site].store.record(caller, key), let place = places[record.payment],
            let row = sites[site].store.rows[place]
        {
            let entry = ChangedRow(payment: place, after: nil, entries: [], token: row.token, record: record)
            tell(.changed(entry), from: site)
        }
        return kept
    }

    // MARK: The standby

    mutating func tell(_ entry: LogEntry, from site: Int) {
        guard plan.sites > 1, site == activeSite else { return }
        link.log.append(entry)
        let count = link.log.count
        guard plan.replication == .asynchronous else { return ship(upTo: count) }
        let bits =
            switch entry {
            case .changed(let row): chance.bits(23, UInt64(row.payment), UInt64(row.after?.version ?? 0), UInt64(count))
            case .compared: chance.bits(101, UInt64(count), UInt64(now))
            }
        let drawn = 50 + span(bits & 7 == 0 ? 20_000 : 1_000, bits)
        push(.ship(upTo: count), after: plan.standbyLag?.milliseconds ?? drawn)
    }

    /// The standby takes in what it was told, in order.
    mutating func ship(upTo count: Int) {
        guard link.isUp, !link.isCut, link.hasStandby, count <= link.log.count, link.applied < count else { return }
        let standby = 1 - activeSite
        for place in link.applied..<count {
            switch link.log[place] {
            case .changed(let row): apply(row, to: standby)
            case .compared(let change): apply(change, to: standby)
            }
        }
        link.applied = count
    }

    private mutating func apply(_ change: ComparisonChange, to standby: Int) {
        do throws(Money.Failure) {
            try sites[standby].store.comparisons.apply(change)
        } catch {
            return  // Not reached: the sums fit where the change was made first.
        }
    }

    private mutating func apply(_ entry: ChangedRow, to standby: Int) {
        if let record = entry.record {
            sites[standby].store.records[CallerKey(caller: record.caller, key: record.key)] = record
        }
        guard let payment = entry.after else { return }
        let trail = sites[standby].store.rows[entry.payment]?.trail ?? []
        sites[standby].store.rows[entry.payment] = SimulatedStore.Row(
            payment: payment, trail: trail + entry.entries, token: entry.token, holder: "",
            until: Timestamp(milliseconds: 0))
        sites[standby].store.note(payment, at: entry.payment)
    }
}
