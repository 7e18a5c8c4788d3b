internal import PaymentCore
internal import Reconciler

/// A transaction of a probe's own.
struct ProbedTransaction: Sendable, Hashable {
    /// Its name within the run.
    let name: String
    let payment: PaymentID
    /// The key under which the provider knows it.
    let key: EffectKey
}

/// Sends a probe's requests, one at a time, and remembers what has to be undone.
actor ProbeBench {
    /// Whose payments they are, as the provider sees them.
    static let caller = "reconciled-probe"

    nonisolated let provider: any PaymentProvider
    nonisolated let clock: any WallClock
    nonisolated let settings: ProbeSettings
    nonisolated let reading: @Sendable () -> ProviderClocks.Reading?
    /// What is still to be looked at before the probe ends, in the order in which it was begun.
    private(set) var open: [ProbedTransaction] = []
    /// How many transactions were begun.
    var transactions: Int { names.count }
    private var names: Set<String> = []
    /// Requests that were sent, reads included.
    private(set) var requests = 0
    /// What was taken, and no read showed since that it was given back.
    private(set) var taken: Set<ProbedTransaction> = []
    /// What may have been taken, and no read showed it.
    private(set) var inDoubt: Set<ProbedTransaction> = []
    /// What the first request of a transaction was answered, until it is sent again.
    private var begun: [ProbedTransaction: AttemptReport] = [:]
    /// How often a first request was answered by something that the adapter does not know, by its code, and how often
    /// a read showed then that it had been executed.
    private var errors: [String: (answers: Int, executed: Int)] = [:]
    /// Answers that the adapter takes for proof that nothing was executed, although something was.
    private(set) var breaches: [String] = []
    /// The latest that a change was shown.
    private(set) var worstLag = Span.zero
    private let callerID: CallerID

    init(
        provider: any PaymentProvider, clock: any WallClock, settings: ProbeSettings,
        reading: @escaping @Sendable () -> ProviderClocks.Reading?
    ) throws(ProbeFailure) {
        self.reading = reading
        self.provider = provider
        self.clock = clock
        self.settings = settings
        do {
            callerID = try CallerID(Self.caller)
        } catch {
            throw .run
        }
    }

    // MARK: What is sent

    /// Takes the whole amount in one step, or holds it, as the contract says.
    nonisolated var begins: EffectKind { provider.contract.phases == .sale ? .sale : .authorize }

    /// A part of the amount; less than all of it, so that no transaction ever moves more than was allowed.
    nonisolated func part(_ share: Int64) -> Money {
        do { return try Money(settings.amount.value / share, settings.amount.currency) } catch {
            return settings.amount
        }
    }

    nonisolated func transaction(_ name: String) throws(ProbeFailure) -> ProbedTransaction {
        do {
            let key = try IdempotencyKey("\(settings.run)/\(name)")
            let payment = PaymentID(caller: callerID, key: key)
            return ProbedTransaction(name: name, payment: payment, key: try self.key(begins, of: payment, "create"))
        } catch {
            throw .run
        }
    }

    private nonisolated func key(
        _ kind: EffectKind, of payment: PaymentID, _ operation: String
    ) throws -> EffectKey {
        EffectKey(
            EffectKey.Source(
                caller: callerID, payment: payment, operation: try IdempotencyKey(operation), leg: 0, effect: kind),
            format: provider.contract.keyFormat)
    }

    /// What differs from a plain request.
    struct Details: Sendable {
        var amount: Money?
        var instrument: Instrument?
        var notAfter: Timestamp?
        /// Tells refunds of one transaction apart.
        var operation = "create"
    }

    /// Sends one request. It is repeated only where it provably did not arrive, so that it never arrives twice.
    func send(
        _ kind: EffectKind, _ transaction: ProbedTransaction, _ details: Details = Details()
    ) async throws(ProbeFailure) -> AttemptReport {
        // Before anything leaves: whatever becomes of the request, it is looked at before the probe ends.
        let isNew = names.insert(transaction.name).inserted
        if !open.contains(transaction) { open.append(transaction) }
        var report = try await sendOnce(kind, transaction, details, number: 1)
        for number in 2...5 where report.outcome == .unsent || report.outcome == .throttled {
            guard !report.credentialsRefused else { break }
            let pause = report.retryAfter.map { $0 - clock.now() } ?? .seconds(1)
            try await sleep(min(max(pause, settings.readEvery), settings.patience))
            report = try await sendOnce(kind, transaction, details, number: number)
        }
        guard !report.credentialsRefused else {
            if isNew { open.removeAll { $0 == transaction } }
            throw .credentials(report.code)
        }
        if kind == begins { remember(report, of: transaction, isNew: isNew) }
        if kind == begins, report.outcome == .accepted { taken.insert(transaction) }
        if kind == begins, report.outcome == .indeterminate { inDoubt.insert(transaction) }
        return report
    }

    private func sendOnce(
        _ kind: EffectKind, _ transaction: ProbedTransaction, _ details: Details, number: Int
    ) async throws(ProbeFailure) -> AttemptReport {
        requests += 1
        let order: SendOrder
        do {
            let own = try kind == begins ? transaction.key : key(kind, of: transaction.payment, details.operation)
            order = SendOrder(
                payment: transaction.payment, leg: 0, effect: Self.reference(kind), number: number,
                provider: provider.name, kind: kind, transactionKey: transaction.key, key: own,
                amount: details.amount ?? settings.amount, instrument: details.instrument ?? settings.instrument,
                caller: callerID, reference: nil, notAfter: details.notAfter,
                startBefore: clock.now() + .seconds(30))
        } catch {
            throw .run
        }
        return await provider.send(order)
    }

    private static func reference(_ kind: EffectKind) -> EffectReference {
        switch kind {
        case .authorize, .sale: .primary
        case .capture: .capture
        case .void: .void
        case .refund: .refund(0)
        }
    }

    nonisolated func refundKey(_ transaction: ProbedTransaction, _ operation: String) throws(ProbeFailure) -> EffectKey
    {
        do { return try key(.refund, of: transaction.payment, operation) } catch { throw .run }
    }

    /// Gives back what is out. What cannot be given back now is tried again at the end.
    func giveBack() async -> [Prober.Remainder] {
        let transactions = open
        var left: [Prober.Remainder] = []
        for transaction in transactions {
            if let reason = await UndoneProbe(bench: self).undo(transaction) {
                left.append(Prober.Remainder(key: transaction.key, reason: reason))
            } else {
                open.removeAll { $0 == transaction }
            }
        }
        return left
    }

    // MARK: What errors leave behind

    /// A transaction that is begun a second time shows what became of both requests: it says nothing of the first.
    private func remember(_ report: AttemptReport, of transaction: ProbedTransaction, isNew: Bool) {
        begun[transaction] = isNew ? report : nil
        if isNew, report.outcome == .indeterminate { errors[report.code, default: (0, 0)].answers += 1 }
    }

    /// A read shows what became of a first request that was not accepted.
    private func judge(_ observation: Observation, of transaction: ProbedTransaction) {
        guard [.authorized, .captured].contains(observation.status), let report = begun.removeValue(forKey: transaction)
        else { return }
        if report.outcome == .indeterminate { errors[report.code]?.executed += 1 }
        guard report.isProofOfNothing else { return }
        breached("\(transaction.name): a request that was answered \(ProbedReads.words(report)) took the amount")
    }

    /// An answer that the adapter takes for proof that nothing was executed, although something was.
    func breached(_ words: String) { breaches.append(words) }

    /// What the answers that the adapter does not know left behind: a sentence for each code.
    var wordsOfErrors: [String] {
        errors.sorted { $0.key < $1.key }.map { code, seen in
            "\(seen.answers) first requests were answered \(code); reads showed \(seen.executed) of them executed"
        }
    }

    // MARK: What is read

    /// Now, by the provider's clock as far as it is known.
    nonisolated var providersNow: Timestamp { clock.now() + (reading()?.offset ?? .zero) }

    func read(_ transaction: ProbedTransaction) async -> Observation {
        requests += 1
        let observation = await provider.inquire(
            InquiryOrder(payment: transaction.payment, leg: 0, provider: provider.name, transactionKey: transaction.key)
        )
        judge(observation, of: transaction)
        if UndoneProbe.holdsNothing(observation), observation.status != .notFound {
            taken.remove(transaction)
            inDoubt.remove(transaction)
        }
        return observation
    }

    /// What reads come to.
    struct Watch: Sendable {
        /// The last read.
        var last: Observation
        /// Whether enough reads in a row showed it.
        var isShown: Bool
        /// From the answer until the last read that did not show it had begun; zero where all did.
        var lag: Span
        var reads: Int
    }

    /// Reads until so many reads in a row show what is waited for, or patience ends.
    func watch(
        _ transaction: ProbedTransaction, until isShown: @Sendable (Observation) -> Bool
    ) async throws(ProbeFailure) -> Watch {
        let began = clock.now()
        var watch = Watch(
            last: Observation(.unavailable, began: began, source: .inquiry), isShown: false, lag: .zero, reads: 0)
        var agreeing = 0
        while true {
            let observation = await read(transaction)
            watch.reads += 1
            watch.last = observation
            if isShown(observation) {
                agreeing += 1
            } else {
                agreeing = 0
                if observation.status != .unavailable { watch.lag = observation.began - began + settings.readEvery }
            }
            watch.isShown = agreeing >= settings.agreeingReads
            if watch.isShown || clock.now() - began >= settings.patience {
                if watch.isShown { worstLag = max(worstLag, watch.lag) }
                return watch
            }
            try await sleep(settings.readEvery)
        }
    }

    func sleep(_ span: Span) async throws(ProbeFailure) {
        do { try await clock.sleep(until: clock.now() + span) } catch { throw .stopped }
    }

    /// Counts requests that are sent past ``send(_:_:_:)`` and ``read(_:)``.
    func count(_ more: Int) { requests += more }

    /// Waits until reads show what happened, as late as the contract says they do, or as they were seen to.
    func waitForReads() async throws(ProbeFailure) {
        let lag = max(provider.contract.visibilityLag, worstLag)
        try await sleep(min(settings.patience, lag + lag))
    }

    /// Something was not shown within the patience.
    func missed() { worstLag = settings.patience }
}

/// Why a probe did not come to its end.
public enum ProbeFailure: Error, Sendable, Hashable {
    /// The name of the run is no part of a key.
    case run
    /// The provider does not take the credentials.
    case credentials(String)
    /// It was told to stop.
    case stopped
}
