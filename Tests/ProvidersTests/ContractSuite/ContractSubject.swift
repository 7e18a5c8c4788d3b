import PaymentCore
import Reconciler
import Testing

/// A provider behind its adapter, put up for the suite: what it must be able to do on request.
protocol ContractSubject: Sendable {
    /// The adapter of a provider that holds first and takes later; where the wire cannot hold, of one that takes at
    /// once.
    var main: any PaymentProvider { get }
    /// The adapter of a provider that takes at once.
    var onePhase: any PaymentProvider { get }
    /// Like `main`, but it waits only a fraction of a second for an answer.
    var impatient: any PaymentProvider { get }
    /// Like `main`, with credentials that are not valid.
    var stranger: any PaymentProvider { get }
    /// Like `main`, at an address where nobody listens.
    var unreachable: any PaymentProvider { get }
    /// Like `main`, at a provider whose void leaves nothing behind.
    var withoutTombstones: any PaymentProvider { get }

    /// What its wire has of that which not every wire has.
    var traits: Set<SuiteTrait> { get }
    /// Orders of a transaction that begins as this wire begins it.
    var book: OrderBook { get }

    /// The next request of this kind suffers this.
    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) async throws
    /// What the provider itself has in its books under a key.
    func books(of key: EffectKey) async throws -> SuiteBooks
    /// An instrument that is declined, or not known.
    func instrument(_ behaviour: SuiteInstrument) -> String
}

/// What a wire may have or not. A case names what it needs; an adapter whose wire lacks that has a test of its own for
/// what happens there.
enum SuiteTrait: Sendable, CaseIterable {
    /// It holds first and takes later. Without it every case begins with a sale.
    case holds
    /// A void gives back what the first request held, or took where the wire cannot hold.
    case voids
    /// A request past its `not_after` is not executed.
    case notAfter
    /// An inquiry shows a tombstone, and not nothing.
    case visibleTombstones
    /// A void of nothing may leave nothing behind.
    case voidOfNothing
    /// An error that executed nothing is not the answer for as long as the key lives.
    case errorsNotStored
    /// A 503 with `Retry-After` proves that nothing was executed.
    case unavailableProvesNothingDone
    /// A capture may be undecided.
    case pendingCaptures
    /// A void of nothing keeps a later request under the key from happening.
    case tombstones
    /// A key that is used with another body is a conflict, and not answered with the earlier result.
    case conflictingKeys
    /// The answer to a void shows the transaction.
    case voidsShowTransactions
    /// It lists what changed in a time.
    case lists
    /// There is an instrument that is declined.
    case declines
    /// There are instruments whose captures and refunds are declined.
    case declinesChanges
    /// The provider does what a test tells it: it takes its time to decide, records another amount, shows what was
    /// before. A fake does, a sandbox does not.
    case obeys

    /// What every fake has, and a sandbox may not have.
    static let ofFakes: Set<SuiteTrait> = [.declines, .declinesChanges, .obeys]
}

/// What the suite lets a provider suffer.
enum SuiteFault: Sendable, CaseIterable {
    /// Nothing is executed and nothing answered.
    case requestLost
    /// Executed, and not answered.
    case answerLost
    /// Executed, and answered after more time than `impatient` has.
    case slow
    /// 500, nothing executed.
    case failsBefore
    /// Executed, then 500.
    case failsAfter
    /// Executed, and a page of HTML with 200.
    case page
    /// Executed, and the answer breaks off.
    case cutOff
    /// Executed, and the answer lacks the status.
    case statusMissing
    /// Recorded, decided later.
    case pending
    /// Another amount is recorded.
    case otherAmount
    /// 429
    case throttled
    /// 503 with `Retry-After`.
    case unavailable
    /// Executed, and inquiries show the state before it for a while.
    case staleReads
    /// Arrives twice.
    case twice
    /// Lost, and executed a while later all the same.
    case late
}

/// Which requests a fault is for.
enum SuiteOperation: Sendable {
    /// The first request: a hold or a sale.
    case authorize
    case capture
    case void
    case refund
    case inquire
}

/// Behaviour by instrument.
enum SuiteInstrument: Sendable {
    case declined
    case unknown
    case captureDeclined
    case refundDeclined
}

/// What a provider's books show under one key.
struct SuiteBooks: Sendable, Equatable {
    /// How often something was held.
    var holds = 0
    /// How often something was taken.
    var charges = 0
    /// Taken less given back.
    var net: Int64 = 0
    /// Still held.
    var held: Int64 = 0
}

extension PaymentProvider {
    /// What an inquiry shows, whenever it was made.
    func shown(_ order: InquiryOrder) async -> Observation {
        var observation = await inquire(order)
        observation.began = StandingClock.noon
        return observation
    }
}

/// One thing that every adapter must do.
struct ContractCase: Sendable, CustomTestStringConvertible {
    let name: String
    let needs: Set<SuiteTrait>
    let check: @Sendable (any ContractSubject) async throws -> Void

    init(
        _ name: String, needs: Set<SuiteTrait> = [],
        _ check: @escaping @Sendable (any ContractSubject) async throws -> Void
    ) {
        self.name = name
        self.needs = needs
        self.check = check
    }

    var testDescription: String { name }

    /// The whole suite.
    static let all = lifecycle + refusals + faults + faultsOfInquiries

    /// What is asked of a wire with these traits.
    static func all(with traits: Set<SuiteTrait>) -> [ContractCase] { all.filter { $0.needs.isSubset(of: traits) } }
}
