import PaymentCore

/// What a provider has in its books, kept by the rules of a contract. It is the judge of every story: what it says was
/// charged, was charged.
struct Ledger {
    /// One transaction.
    struct Entry: Hashable {
        let key: EffectKey
        let kind: EffectKind
        let amount: Money
        let firstUse: Timestamp
        var status: Observation.Status
        var pendingUntil: Timestamp?
        var authorizedUntil: Timestamp?
        /// Until when its newest capture or refund is undecided.
        var movementPendingUntil: Timestamp?
        var captures: [Observation.Movement] = []
        var refunds: [Observation.Movement] = []
        var disputes: [Dispute] = []
        /// It is pending until its payer acts.
        var awaitsPayer = false

        /// Captured less refunded.
        var net: Int64 {
            guard status == .captured else { return 0 }
            let taken = kind == .sale ? amount.value : Entry.succeeded(captures)
            return taken - Entry.succeeded(refunds)
        }

        /// Whether money is held or taken.
        var isLive: Bool { status == .authorized || net > 0 }

        static func succeeded(_ movements: [Observation.Movement]) -> Int64 {
            movements.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
        }
    }

    let contract: ProviderContract
    /// Which leg of the payment it serves.
    let name: Int
    /// Every transaction; the last one of a key is the one that is shown.
    var entries: [Entry] = []
    /// How many of the next effects of a kind are declined.
    var declines: [EffectKind: Int] = [:]
    /// How long a new transaction stays undecided.
    var pendingFor: Span = .zero
    /// What each key was answered first, at a provider that gives that answer again.
    var firstAnswers: [EffectKey: (report: AttemptReport, at: Timestamp)] = [:]
    /// Whether payers of new transactions have to act first.
    var asksPayers = false
    /// Whether it says where payers go.
    var payersGoSomewhere = true
    /// Whether the amount of what is shown is another than asked.
    var showsAnotherAmount = false

    init(_ contract: ProviderContract, name: Int = 0) {
        self.contract = contract
        self.name = name
    }

    /// When something is decided of which a provider that cannot be asked will tell.
    var nextNews: Timestamp? {
        guard contract.inquiry == .byResend else { return nil }
        return entries.flatMap { [$0.pendingUntil, $0.movementPendingUntil] }.compactMap { $0 }.min()
    }

    func entry(_ key: EffectKey) -> Entry? { entries.last { $0.key == key } }
    func liveCount(_ key: EffectKey) -> Int { entries.count { $0.key == key && $0.isLive } }
    func net(_ key: EffectKey) -> Int64 { entries.filter { $0.key == key }.reduce(0) { $0 + $1.net } }
    func isHeld(_ key: EffectKey) -> Bool { entries.contains { $0.key == key && $0.status == .authorized } }

    /// Time passes: what is pending is decided, holds run out.
    mutating func settle(at now: Timestamp) {
        for index in entries.indices {
            if let until = entries[index].pendingUntil, now >= until {
                entries[index].pendingUntil = nil
                entries[index].status = entries[index].kind == .sale ? .captured : .authorized
            }
            if let until = entries[index].movementPendingUntil, now >= until {
                entries[index].movementPendingUntil = nil
                entries[index].decideMovements()
            }
            let isHeld = entries[index].status == .authorized && entries[index].movementPendingUntil == nil
            if isHeld, let until = entries[index].authorizedUntil, now >= until {
                entries[index].status = .expired
            }
        }
    }

    static func money(_ value: Int64, like other: Money) -> Money {
        do { return try Money(value, other.currency) } catch { return .zero(other.currency) }
    }

    /// Executes a request as it arrives.
    mutating func execute(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        settle(at: now)
        guard contract.inquiry == .byResend else { return executed(order, at: now) }
        if var first = firstAnswers[order.key], contract.keyRetention.map({ now - first.at <= $0 }) ?? true {
            first.report.observation?.began = now
            return first.report
        }
        let report = executed(order, at: now)
        if report.outcome == .accepted || report.outcome == .declined { firstAnswers[order.key] = (report, now) }
        return report
    }

    private mutating func executed(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        switch order.kind {
        case .authorize, .sale: return begin(order, at: now)
        case .capture: return capture(order, at: now)
        case .void: return void(order, at: now)
        case .refund: return refund(order, at: now)
        }
    }

    /// What an inquiry is answered.
    func observe(_ key: EffectKey, began: Timestamp, source: Observation.Source = .inquiry) -> Observation {
        guard let entry = entry(key) else { return Observation(.notFound, began: began, source: source) }
        var shown = Observation(
            entry.status, began: began, source: source, key: key,
            amount: entry.status == .tombstoned ? nil : entry.amount, authorizedUntil: entry.authorizedUntil,
            captures: entry.captures, refunds: entry.refunds,
            disputes: entry.disputes.isEmpty ? nil : entry.disputes)
        let given = Entry.succeeded(entry.refunds)
        if contract.refundVisibility == .sumsOnly {
            let sum = Ledger.money(given, like: entry.amount)
            shown.refunds =
                sum.isZero
                ? [] : [Observation.Movement(key: EffectKey(reported: "sum"), amount: sum, state: .succeeded)]
        }
        if entry.awaitsPayer, entry.status == .pending {
            shown.payerAction = PayerAction(
                url: payersGoSomewhere ? WebAddress("https://bank.example/\(key.text)") : nil)
        }
        if showsAnotherAmount { shown.amount = Ledger.money(entry.amount.value + 1, like: entry.amount) }
        return shown
    }

    private func report(_ outcome: OutcomeClass, _ code: String, _ key: EffectKey, _ now: Timestamp) -> AttemptReport {
        AttemptReport(
            outcome, code: code, observation: observe(key, began: now, source: .answer), bytesWritten: 100)
    }

    private mutating func isDeclined(_ kind: EffectKind) -> Bool {
        guard let left = declines[kind], left > 0 else { return false }
        declines[kind] = left - 1
        return true
    }

    private mutating func begin(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        if contract.enforcesNotAfter, let limit = order.notAfter, now > limit {
            return AttemptReport(.indeterminate, code: "http_410", bytesWritten: 100)
        }
        if let known = entry(order.key), !isForgotten(known, now),
            !(known.status == .declined && !contract.declinesBound)
        {
            guard known.status == .tombstoned || known.amount == order.amount else {
                return AttemptReport(.indeterminate, code: "http_422", bytesWritten: 100)
            }
            switch known.status {
            case .declined: return report(.declined, "declined", order.key, now)
            case .tombstoned: return report(.refused, "tombstoned", order.key, now)
            default: return report(.accepted, "replayed", order.key, now)
            }
        }
        let declined = isDeclined(order.kind)
        let done: Observation.Status = order.kind == .sale ? .captured : .authorized
        var entry = Entry(
            key: order.key, kind: order.kind, amount: order.amount, firstUse: now, status: declined ? .declined : done)
        if !declined, pendingFor > .zero {
            entry.status = .pending
            entry.pendingUntil = now + pendingFor
        }
        if !declined, asksPayers, order.returnURL == nil {
            entry.status = .declined
            entries.append(entry)
            return report(.declined, "payer_action_required", order.key, now)
        }
        if !declined, asksPayers {
            entry.status = .pending
            entry.awaitsPayer = true
        }
        if order.kind == .authorize, let life = contract.authorizationLife { entry.authorizedUntil = now + life }
        entries.removeAll { $0.key == order.key && $0.status == .declined }
        entries.append(entry)
        return report(declined ? .declined : .accepted, declined ? "declined" : "ok", order.key, now)
    }

    private func isForgotten(_ entry: Entry, _ now: Timestamp) -> Bool {
        guard let retention = contract.keyRetention else { return false }
        return entry.status != .tombstoned && now - entry.firstUse > retention
    }
}

extension Ledger {
    private mutating func capture(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        guard let index = entries.lastIndex(where: { $0.key == order.transactionKey }) else {
            return report(.refused, "http_404", order.transactionKey, now)
        }
        if let known = entries[index].captures.first(where: { $0.key == order.key }) {
            return report(known.state == .declined ? .declined : .accepted, "replayed", order.transactionKey, now)
        }
        guard entries[index].status == .authorized, order.amount.value <= entries[index].amount.value,
            entries[index].movementPendingUntil == nil
        else {
            return report(.refused, "http_409", order.transactionKey, now)
        }
        let declined = isDeclined(.capture)
        let state = state(declined: declined, index, at: now)
        entries[index].captures.append(Observation.Movement(key: order.key, amount: order.amount, state: state))
        if state == .succeeded { entries[index].status = .captured }
        return report(declined ? .declined : .accepted, declined ? "declined" : "ok", order.transactionKey, now)
    }

    private mutating func void(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        let key = order.transactionKey
        guard let index = entries.lastIndex(where: { $0.key == key }) else {
            guard contract.cancel == .tombstoning else { return report(.refused, "http_404", key, now) }
            entries.append(
                Entry(key: key, kind: .authorize, amount: order.amount, firstUse: now, status: .tombstoned))
            return report(.accepted, "tombstoned", key, now)
        }
        switch entries[index].status {
        case .authorized where entries[index].movementPendingUntil != nil:
            return report(.refused, "http_409", key, now)
        case .authorized, .pending:
            if isDeclined(.void) { return report(.declined, "declined", key, now) }
            entries[index].status = .voided
            entries[index].pendingUntil = nil
        case .captured:
            guard contract.cancelReversesSale, entries[index].kind == .sale, !isDeclined(.void) else {
                return report(.refused, "http_409", key, now)
            }
            entries[index].status = .voided
        case .declined:
            if !contract.declinesBound, contract.cancel == .tombstoning { entries[index].status = .tombstoned }
        default: break
        }
        return report(.accepted, "ok", key, now)
    }

    private mutating func refund(_ order: SendOrder, at now: Timestamp) -> AttemptReport {
        guard let index = entries.lastIndex(where: { $0.key == order.transactionKey }) else {
            return report(.refused, "http_404", order.transactionKey, now)
        }
        if let known = entries[index].refunds.first(where: { $0.key == order.key }) {
            return report(known.state == .declined ? .declined : .accepted, "replayed", order.transactionKey, now)
        }
        let isDisputed = entries[index].disputes.contains { $0.state == .open }
        guard !isDisputed, order.amount.value > 0, order.amount.value <= entries[index].unclaimed else {
            return report(.refused, "http_409", order.transactionKey, now)
        }
        let declined = isDeclined(.refund)
        let state = state(declined: declined, index, at: now)
        entries[index].refunds.append(Observation.Movement(key: order.key, amount: order.amount, state: state))
        return report(declined ? .declined : .accepted, declined ? "declined" : "ok", order.transactionKey, now)
    }
}
