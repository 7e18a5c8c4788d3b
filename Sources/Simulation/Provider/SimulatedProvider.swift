public import PaymentCore

/// A provider with its books, kept by the rules of a contract. What its books say was charged, was charged:
/// it is the judge of every run.
///
/// Times are the provider's own; whoever simulates a skew adds it before it calls.
public struct SimulatedProvider: Sendable {
    /// The store whose machines run, as it names itself to the providers.
    public static let ours = StoreID(text: "sto_" + String(repeating: "0", count: 32))
    /// Another store at the same accounts.
    public static let others = StoreID(text: "sto_" + String(repeating: "f", count: 32))

    /// Its name.
    public let name: ProviderName
    /// What it can do.
    public let contract: ProviderContract
    /// Every transaction, in the order of its first use.
    public internal(set) var transactions: [SimulatedTransaction] = []
    /// The transactions under a key; the last one is shown, the others were forgotten.
    var indicesByKey: [EffectKey: [Int]] = [:]
    /// The transactions of a leg, under whatever key.
    var indicesByLeg: [LegPlace: [Int]] = [:]

    /// Until when its listing withholds a transaction that it shows to whoever asks for the key.
    var hiddenUntil: [EffectKey: Timestamp] = [:]

    /// Whether it says when a transaction was recorded first.
    var saysWhenRecorded = true

    /// When a transaction went that somebody took out of the books.
    var goneAt: [EffectKey: Timestamp] = [:]

    /// Whether a known key is answered as it was at first, whatever became of it since; elsewhere an answer shows what
    /// is.
    var replaysFirst: Bool

    /// Until when a key is answered by the error that it met first.
    private var erringUntil: [EffectKey: Timestamp] = [:]

    /// Answers a key by an error from now on, for as long as it is kept and for a day at most.
    mutating func storeError(_ key: EffectKey, at now: Timestamp) {
        erringUntil[key] = now + min(contract.keyRetention ?? .hours(24), .hours(24))
    }

    /// Whether a key is answered by an error, and nothing is executed.
    func isErring(_ key: EffectKey, at now: Timestamp) -> Bool { erringUntil[key].map { $0 > now } ?? false }

    /// Whether the listing withholds a transaction.
    func isHidden(_ key: EffectKey, at now: Timestamp) -> Bool { hiddenUntil[key].map { $0 > now } ?? false }

    /// Whether the listing withheld it at a moment; where nobody can be asked for the key, whether it ever did: once
    /// the window of its change was read without it, no other shows it.
    func wasHidden(_ key: EffectKey, at moment: Timestamp) -> Bool {
        contract.inquiry == .byOwnKey ? isHidden(key, at: moment) : hiddenUntil[key] != nil
    }

    /// A leg of a payment.
    struct LegPlace: Sendable, Hashable {
        let payment: PaymentID
        let leg: Int
    }

    /// A provider with empty books.
    public init(name: ProviderName, contract: ProviderContract) {
        self.name = name
        self.contract = contract
        replaysFirst = contract.inquiry != .byOwnKey
    }

    /// Executes a request as it arrives at `now`, and says what the answer says.
    ///
    /// - Parameter began: when the sender began, by its own clock; it goes into what the answer shows.
    public mutating func execute(
        _ order: SendOrder, at now: Timestamp, began: Timestamp, choices: ProviderChoices = .none
    ) -> Execution {
        var index = indicesByKey[order.transactionKey]?.last
        if let known = index {
            transactions[known].settle(at: now, lag: contract.visibilityLag)
            if transactions[known].isLost { index = nil }
        }
        switch order.kind {
        case .authorize, .sale: return begin(order, index, at: now, began: began, choices)
        case .capture: return capture(order, index, at: now, began: began, choices)
        case .void: return void(order, index, at: now, began: began, choices)
        case .refund: return refund(order, index, at: now, began: began, choices)
        }
    }

    /// Answers a status read that arrives at `now`.
    ///
    /// - Parameters:
    ///   - began: when the reader began, by its own clock.
    ///   - staleBy: how old the state is that it shows; never more than the contract's visibility lag.
    public mutating func read(
        _ key: EffectKey, began: Timestamp, at now: Timestamp, staleBy: Span = .zero
    ) -> Observation {
        let nothing = Observation(.notFound, began: began, source: .inquiry)
        guard let indices = indicesByKey[key], let newest = indices.last else { return nothing }
        transactions[newest].settle(at: now, lag: contract.visibilityLag)
        if let retention = contract.statusRetention, now - transactions[newest].changedAt > retention {
            return nothing
        }
        if transactions[newest].isLost { return nothing }
        let staleness = min(staleBy, contract.visibilityLag)
        guard staleness > .zero else { return shown(transactions[newest], began: began, source: .inquiry) }
        let moment = now + (Span.zero - staleness)
        guard let index = indices.last(where: { transactions[$0].firstUse <= moment }) else { return nothing }
        let visibleState = transactions[index].visibleState(at: moment)
        return shown(transactions[index], visibleState, began: began, source: .inquiry)
    }

    /// Somebody changes the transaction at the provider's own console; `false` if it cannot be done to what
    /// is there.
    public mutating func changeOutside(_ change: OutsideChange, _ key: EffectKey, at now: Timestamp) -> Bool {
        guard let index = indicesByKey[key]?.last else { return false }
        let lag = contract.visibilityLag
        transactions[index].settle(at: now, lag: lag)
        let known = transactions[index]
        guard !known.isUndecided else { return false }
        switch (change, known.status) {
        case (.void, .authorized):
            transactions[index].change(at: now, lag: lag) { $0.status = .voided }
        case (.capture, .authorized):
            let movement = outsideMovement("console-capture", known.amount, now)
            transactions[index].takenAt = now
            transactions[index].change(at: now, lag: lag) {
                $0.captures.append(movement)
                $0.status = .captured
            }
        case (.refundPart, .captured), (.refundAll, .captured), (.chargeback, .captured):
            let left = known.captured - known.refunded
            guard left > 0 else { return false }
            let given = money(change == .refundPart ? 1 : left, like: known.amount)
            let movement = outsideMovement("console-\(change.rawValue)", given, now)
            transactions[index].change(at: now, lag: lag) { $0.refunds.append(movement) }
        default: return false
        }
        transactions[index].changedOutside = true
        return true
    }

    private func outsideMovement(
        _ key: String, _ amount: Money, _ now: Timestamp
    ) -> SimulatedTransaction.Movement {
        SimulatedTransaction.Movement(
            key: EffectKey(reported: key), amount: amount, firstUse: now, state: .succeeded,
            undecidedUntil: nil,
            isOutside: true)
    }
}

extension SimulatedProvider {
    /// Notes a new transaction under its key and for its leg.
    mutating func enter(_ transaction: SimulatedTransaction) {
        let index = transactions.count
        transactions.append(transaction)
        indicesByKey[transaction.key, default: []].append(index)
        indicesByLeg[LegPlace(payment: transaction.payment, leg: transaction.leg), default: []].append(index)
    }

    /// Whether a key that was used at `firstUse` is forgotten, and would be executed anew.
    func isForgotten(_ firstUse: Timestamp, _ now: Timestamp) -> Bool {
        guard let retention = contract.keyRetention else { return false }
        return now - firstUse > retention
    }

    func money(_ value: Int64, like other: Money) -> Money {
        do { return try Money(value, other.currency) } catch { return .zero(other.currency) }
    }

    /// What a status read or an answer shows of a transaction.
    func shown(
        _ transaction: SimulatedTransaction, _ earlier: SimulatedTransaction.VisibleState? = nil, began: Timestamp,
        source: Observation.Source
    ) -> Observation {
        let visibleState = earlier ?? transaction.visibleState
        var amount: Money? = visibleState.status == .tombstoned ? nil : transaction.amount
        if transaction.contradicts, amount != nil {
            amount = money(transaction.amount.value + 1, like: transaction.amount)
        }
        var shown = Observation(
            visibleState.status, began: began, source: source, key: transaction.key, amount: amount,
            authorizedUntil: transaction.authorizedUntil, reason: visibleState.reason)
        if transaction.asksPayer, visibleState.status == .pending {
            shown.payerAction = PayerAction(url: WebAddress("https://bank.example/\(transaction.key.text)"))
        }
        shown.captures = visibleState.captures.map(\.shown)
        shown.disputes = visibleState.disputes.isEmpty ? nil : visibleState.disputes
        guard contract.refundVisibility == .sumsOnly else {
            shown.refunds = visibleState.refunds.map(\.shown)
            return shown
        }
        let sum = SimulatedTransaction.succeeded(visibleState.refunds)
        if sum > 0 {
            shown.refunds = [
                Observation.Movement(
                    key: EffectKey(reported: "sum"), amount: money(sum, like: transaction.amount),
                    state: .succeeded)
            ]
        }
        return shown
    }
}
