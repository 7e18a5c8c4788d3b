public import PaymentCore

/// Executes one run, as a machine: it claims the run, has carried out what the run's own machine orders, keeps the
/// lease, and lets go of it at the end. It has no clock, no tasks and no I/O: jobs go out, and what came of them comes
/// in.
public struct ComparisonRunnerMachine: Sendable {
    /// What it works with.
    public struct Setup: Sendable {
        /// What the provider can do.
        public var contract: ProviderContract
        /// What the operator decided about comparing.
        public var settings: ComparisonSettings
        /// The store's identity.
        public var identity: StoreID?
        /// How long the run belongs to a process that does not renew its claim.
        public var lease: Span
        /// The table by which positions are judged; only checkers have another than the shipped one.
        public var table = ComparisonTable.shipped

        /// A setup.
        public init(contract: ProviderContract, settings: ComparisonSettings, identity: StoreID?, lease: Span) {
            self.contract = contract
            self.settings = settings
            self.identity = identity
            self.lease = lease
        }
    }

    /// What it is told.
    public enum Input: Sendable {
        /// It may begin.
        case begun
        /// What came of the claim; `nil` if the run cannot be had.
        case claimed(ClaimedRun?)
        /// The store's clock.
        case storeTime(Timestamp)
        /// What came of an order.
        case event(ComparisonEvent)
        /// A job could not be done.
        case failed(Trouble)
        /// The pause before a renewal is over.
        case leaseDue
        /// Whether the lease is held still; `nil` if that could not be asked.
        case renewed(Bool?)
        /// The process stops.
        case stopped
    }

    /// Why a job could not be done.
    public enum Trouble: Error, Sendable, Hashable {
        /// The store failed.
        case store(StoreFailure)
        /// The provider's listing failed.
        case listing(ListingFailure)
    }

    /// What it wants done.
    public enum Job: Sendable {
        /// Claim the run.
        case claim
        /// Read the store's clock.
        case readStoreTime
        /// Carry out an order about the run.
        case carryOut(ComparisonOrder, of: ComparisonRun, LeaseToken)
        /// Wait, and say then that the lease is due.
        case awaitLease(Span)
        /// Renew the lease.
        case renew(LeaseToken)
        /// It is over. What is still on its way comes to nothing; the note, if there is one, is recorded, and then the
        /// lease under the token is given back. Neither need succeed.
        case end(ComparisonRunner.Outcome, release: LeaseToken?, note: ComparisonStep?)
    }

    /// A cursor that is refused begins the listing again, so many times without a pause; a page that is read ahead is
    /// refused twice.
    static let mostRefusals = 6

    private let setup: Setup
    private var claimed: ClaimedRun?
    private var machine: ComparisonMachine?
    /// How far the store's clock is ahead of the process's own: everything is judged by the store's.
    private var ahead = Span.zero
    private var refusals = 0
    private var isOver = false

    /// A machine for one execution.
    public init(_ setup: Setup) { self.setup = setup }

    /// The run as far as it was recorded; `nil` before it is claimed.
    public var run: ComparisonRun? { machine?.run ?? claimed?.run }
    /// The token of its lease.
    public var token: LeaseToken? { claimed?.token }

    /// Takes in what happened.
    ///
    /// - Parameter now: the process's own clock.
    public mutating func handle(_ input: Input, at now: Timestamp) -> [Job] {
        guard !isOver else { return [] }
        switch input {
        case .begun: return [.claim]
        case .claimed(nil): return end(.notOurs)
        case .claimed(let run?):
            claimed = run
            return [.readStoreTime]
        case .storeTime(let moment): return begin(moment, now)
        case .event(let event): return handle(event, now)
        case .failed(let trouble): return end(for: trouble, now)
        case .leaseDue: return claimed.map { [.renew($0.token)] } ?? []
        // A renewal that fails is tried again: steps name the lease, so that nothing is written under one that another
        // took.
        case .renewed(true), .renewed(nil): return [.awaitLease(pause)]
        case .renewed(false), .stopped: return end(.letGo)
        }
    }

    private var pause: Span { Span(milliseconds: setup.lease.milliseconds / 3) }

    private mutating func begin(_ moment: Timestamp, _ now: Timestamp) -> [Job] {
        guard let claimed else { return end(.letGo) }
        ahead = moment - now
        machine = ComparisonMachine(
            run: claimed.run, contract: setup.contract, settings: setup.settings, store: setup.identity,
            table: setup.table)
        return [.awaitLease(pause)] + handle(.claimed, now)
    }

    private mutating func handle(_ event: ComparisonEvent, _ now: Timestamp) -> [Job] {
        if event == .cursorRefused { refusals += 1 }
        guard refusals <= ComparisonRunnerMachine.mostRefusals else {
            return end(.failed(code: "cursor_refused", needsPerson: false, retryAt: nil))
        }
        guard let orders = machine?.handle(event, at: now + ahead), let run, let token else { return end(.letGo) }
        var jobs: [Job] = []
        for order in orders {
            switch order {
            case .finish: return end(.finished(run))
            case .letGo: return end(.letGo)
            case .giveUp: return end(.failed(code: "sum_does_not_fit", needsPerson: true, retryAt: nil))
            default: jobs.append(.carryOut(order, of: run, token))
            }
        }
        return jobs
    }

    private mutating func end(for trouble: Trouble, _ now: Timestamp) -> [Job] {
        switch trouble {
        case .store(let failure):
            return end(
                .failed(code: "store_\(failure.code.rawValue)", needsPerson: !failure.isPassing, retryAt: nil))
        case .listing(let failure):
            let needsPerson = failure.kind == .refused || failure.kind == .malformed
            let outcome = ComparisonRunner.Outcome.failed(
                code: failure.code, needsPerson: needsPerson, retryAt: failure.retryAt)
            let note = run?.held(upBy: failure.code, needsPerson: needsPerson, at: now + ahead)
            return end(outcome, note: note.map { ComparisonStep(run: $0) })
        }
    }

    /// A run that is finished has no lease any more.
    private mutating func end(_ outcome: ComparisonRunner.Outcome, note: ComparisonStep? = nil) -> [Job] {
        isOver = true
        var release = claimed?.token
        if case .finished = outcome { release = nil }
        return [.end(outcome, release: release, note: note)]
    }
}
