public import PaymentCore
public import Reconciler

/// A store as its port describes it, over rows in memory: versions, leases and tokens, keys, trails, judged by its own
/// clock. What the port refuses, it refuses; what a run does to it on purpose is done from outside.
public struct SimulatedStore: Sendable {
    /// One payment and what is kept with it.
    public struct Row: Sendable {
        /// The payment.
        public internal(set) var payment: Payment
        /// Its audit trail.
        public internal(set) var trail: [AuditEntry]
        /// The newest token.
        public internal(set) var token: LeaseToken
        /// Who holds the lease; empty if nobody.
        public internal(set) var holder: String
        /// When the lease ends.
        public internal(set) var until: Timestamp
    }

    /// The rows, by the payments' places in the run.
    public internal(set) var rows: [Row?]
    /// The site's term. Writers of another term are refused.
    public internal(set) var epoch: Int64 = 1
    /// The keys that were used.
    var records: [CallerKey: IdempotencyRecord] = [:]
    /// What is kept of comparisons.
    public internal(set) var comparisons = SimulatedComparisons()
    /// Which payment has the leg with a key.
    var legs: [SimulatedComparisons.Place: Int] = [:]
    let places: [PaymentID: Int]

    init(places: [PaymentID: Int]) {
        self.places = places
        rows = Array(repeating: nil, count: places.count)
    }

    /// A payment's row.
    public func row(_ payment: PaymentID) -> Row? { places[payment].flatMap { rows[$0] } }

    /// The record of a key.
    public func record(_ caller: CallerID, _ key: IdempotencyKey) -> IdempotencyRecord? {
        records[CallerKey(caller: caller, key: key)]
    }

    /// Makes one change, or refuses it whole.
    mutating func commit(_ change: PaymentChange, at now: Timestamp, ignoring: StoreLaxness) -> CommitResult {
        if let record = change.record, let known = self.record(record.caller, record.key),
            !ignoring.contains(.keys)
        {
            return .duplicate(known)
        }
        guard let place = places[change.payment.id] else { return .versionConflict }
        if case .creating(let holder, let span) = change.lease {
            if rows[place] != nil, !ignoring.contains(.keys) { return .versionConflict }
            let token = LeaseToken((rows[place]?.token.number ?? 0) + 1)
            rows[place] = Row(
                payment: next(change.payment), trail: change.entries, token: token, holder: holder, until: now + span)
            keep(change.record)
            note(change.payment, at: place)
            return .committed(version: change.payment.version + 1, lease: token)
        }
        guard let row = rows[place] else { return .versionConflict }
        switch change.lease {
        case .holding(let token), .releasing(let token):
            let isHeld = !row.holder.isEmpty && row.token == token
            guard isHeld || ignoring.contains(.leases) else { return .leaseLost }
        case .creating, .none: break
        }
        guard row.payment.version == change.payment.version || ignoring.contains(.versions) else {
            return .versionConflict
        }
        if case .releasing = change.lease { rows[place]?.holder = "" }
        let payment = next(change.payment)
        rows[place]?.payment = payment
        rows[place]?.trail.append(contentsOf: change.entries)
        keep(change.record)
        if payment.legs.count != row.payment.legs.count { note(payment, at: place) }
        return .committed(version: change.payment.version + 1, lease: nil)
    }

    private mutating func keep(_ record: IdempotencyRecord?) {
        guard let record else { return }
        records[CallerKey(caller: record.caller, key: record.key)] = record
    }

    private func next(_ payment: Payment) -> Payment {
        var machine = PaymentMachine(payment: payment)
        machine.committed(version: payment.version + 1)
        return machine.payment
    }

    /// Keeps the first settled answer under a key; gives the one that counts.
    mutating func keep(_ answer: StoredAnswer, _ caller: CallerID, _ key: IdempotencyKey) -> StoredAnswer? {
        let place = CallerKey(caller: caller, key: key)
        guard var record = records[place] else { return nil }
        if let first = record.answer { return first }
        record.answer = answer
        records[place] = record
        return answer
    }
}

/// What a store overlooks when a run is sabotaged.
struct StoreLaxness: OptionSet, Sendable {
    let rawValue: Int
    static let versions = StoreLaxness(rawValue: 1)
    static let leases = StoreLaxness(rawValue: 2)
    static let keys = StoreLaxness(rawValue: 4)
}

extension SimulatedStore {
    /// Claims what is due and not leased, the longest overdue first.
    ///
    /// - Parameter oldest: what is due for longer is overlooked; only sabotage says so.
    mutating func claimDue(
        _ request: ClaimRequest, at now: Timestamp, overlooking oldest: Timestamp?
    ) -> [ClaimedPayment] {
        let scope = request.scope
        var due: [(at: Int64, place: Int)] = []
        for place in rows.indices {
            guard let dueAt = dueAt(place), dueAt <= now, !isLeased(place, at: now) else { continue }
            guard dueAt + scope.wait(at: rows[place]?.payment.dueProvider) <= now else { continue }
            if let oldest, dueAt < oldest { continue }
            due.append((dueAt.milliseconds, place))
        }
        guard !due.isEmpty else { return [] }
        due.sort { ($0.at, $0.place) < ($1.at, $1.place) }
        var taken: [ProviderName: Int] = [:]
        var claimed: [ClaimedPayment] = []
        for (_, place) in due where claimed.count < request.limit {
            if let provider = rows[place]?.payment.dueProvider, let limit = request.limitPerProvider[provider] {
                guard taken[provider, default: 0] < limit else { continue }
                taken[provider, default: 0] += 1
            }
            if let lease = lease(place, to: request.holder, until: now + request.leaseFor) { claimed.append(lease) }
        }
        return claimed
    }

    /// Claims what waits for a provider and is not due yet, in order.
    mutating func claimWaiting(_ request: WaitingRequest, at now: Timestamp) -> [ClaimedPayment] {
        var waiting: [(at: Timestamp, id: PaymentID, place: Int)] = []
        for place in rows.indices {
            guard let dueAt = dueAt(place), dueAt > now, let row = rows[place], row.holder.isEmpty,
                row.payment.dueProvider == request.provider
            else { continue }
            if let after = request.after, (dueAt, row.payment.id) <= (after.dueAt, after.id) { continue }
            waiting.append((dueAt, row.payment.id, place))
        }
        waiting.sort { ($0.at, $0.id) < ($1.at, $1.id) }
        return waiting.prefix(max(0, request.limit)).compactMap {
            lease($0.place, to: request.holder, until: now + request.leaseFor)
        }
    }

    /// Payments that wait for their callers, newest first.
    func resting(after place: PageCursor?, limit: Int) -> Page<Payment> {
        var found: [(at: Timestamp, id: PaymentID, place: Int)] = []
        for place in rows.indices {
            guard let row = rows[place], row.payment.state == .authorized else { continue }
            found.append((row.payment.createdAt, row.payment.id, place))
        }
        found.sort { ($0.at, $0.id) > ($1.at, $1.id) }
        if let place { found.removeAll { ($0.at, $0.id) >= (place.createdAt, place.id) } }
        let items = found.prefix(max(1, limit)).compactMap { rows[$0.place]?.payment }
        let last = items.last.map { PageCursor(createdAt: $0.createdAt, id: $0.id) }
        return Page(items: items, next: found.count > items.count ? last : nil)
    }

    private func dueAt(_ place: Int) -> Timestamp? {
        // An optional chain would copy the whole payment, for every row at every look of a sweep.
        guard let row = rows[place] else { return nil }
        return row.payment.dueAt
    }

    private func isLeased(_ place: Int, at now: Timestamp) -> Bool {
        guard let row = rows[place] else { return false }
        return !row.holder.isEmpty && row.until > now
    }

    /// Claims one payment, due or not; nil if it does not exist or another holder's lease on it runs.
    mutating func claim(
        _ payment: PaymentID, holder: String, leaseFor: Span, at now: Timestamp
    ) -> ClaimedPayment? {
        guard let place = places[payment], let row = rows[place] else { return nil }
        if isLeased(place, at: now), row.holder != holder { return nil }
        return lease(place, to: holder, until: now + leaseFor)
    }

    private mutating func lease(_ place: Int, to holder: String, until: Timestamp) -> ClaimedPayment? {
        guard let row = rows[place] else { return nil }
        let token = LeaseToken(row.token.number + 1)
        rows[place]?.token = token
        rows[place]?.holder = holder
        rows[place]?.until = until
        return ClaimedPayment(payment: row.payment, token: token, until: until)
    }

    /// Prolongs a lease; false if it is not held any more.
    mutating func renew(_ payment: PaymentID, _ token: LeaseToken, leaseFor: Span, at now: Timestamp) -> Bool {
        guard let place = places[payment], let row = rows[place], row.token == token, !row.holder.isEmpty else {
            return false
        }
        rows[place]?.until = now + leaseFor
        return true
    }

    /// Ends a lease without a change.
    mutating func release(_ payment: PaymentID, _ token: LeaseToken) {
        guard let place = places[payment], rows[place]?.token == token else { return }
        rows[place]?.holder = ""
    }

    /// When the next payment can be claimed as due.
    func nextDue(in scope: DueScope) -> Timestamp? {
        var next: Timestamp?
        for row in rows {
            guard let row, let dueAt = row.payment.dueAt else { continue }
            let claimable = dueAt + scope.wait(at: row.payment.dueProvider)
            let at = row.holder.isEmpty ? claimable : max(claimable, row.until)
            next = min(next ?? at, at)
        }
        return next
    }
}

/// The rows of a store at one moment, for judges.
struct RowView: StoredRows {
    let rows: [SimulatedStore.Row?]
    let places: [PaymentID: Int]
    let comparisons: SimulatedComparisons

    func payment(_ id: PaymentID) -> Payment? { places[id].flatMap { rows[$0]?.payment } }
    func everyPayment() -> [Payment] { rows.compactMap { $0?.payment } }
    func trail(of payment: PaymentID) -> [AuditEntry] { places[payment].flatMap { rows[$0]?.trail } ?? [] }
}

extension SimulatedStore {
    /// The rows as they are now.
    var view: RowView { RowView(rows: rows, places: places, comparisons: comparisons) }
}
