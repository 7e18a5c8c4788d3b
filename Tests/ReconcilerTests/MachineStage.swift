import PaymentCore
import Reconciler
import Testing

/// An engine's machine, told by hand what came of its jobs.
struct MachineStage {
    let card: ProviderName
    let caller: CallerID
    let amount: Money
    var machine: EngineMachine
    var now = RunnerStage.start
    var standing = SiteStanding.alone

    init(acknowledged: Bool = true, _ change: (inout EngineMachine.Settings) -> Void = { _ in }) throws {
        card = try ProviderName("card")
        caller = try CallerID("shop")
        amount = try Money(1_200, #require(Currency(code: "JPY")))
        var settings = EngineMachine.Settings(
            holder: "worker", policy: SettlementPolicy(), contracts: [card: .reference])
        settings.commitsAreAcknowledged = acknowledged
        change(&settings)
        machine = EngineMachine(settings)
    }

    mutating func tell(_ input: EngineInput) -> [EngineJob] {
        machine.handle(input, at: EngineMoment(now: now, jitter: 0, standing: standing))
    }

    func request(_ key: String = "create-1") throws -> CreateRequest {
        try CreateRequest(
            caller: caller, key: IdempotencyKey(key), amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            contracts: [card: .reference])
    }

    func record(_ operation: IdempotencyRecord.Operation, _ key: String) throws -> IdempotencyRecord {
        IdempotencyRecord(
            caller: caller, key: try IdempotencyKey(key), operation: operation,
            payment: PaymentID(caller: caller, key: try IdempotencyKey("create-1")), fingerprint: Digest(of: [key]),
            createdAt: now)
    }

    /// A row as another process left it: its first intent is written.
    func row(
        _ key: String = "create-1", acknowledged: Bool = true, canceled: Bool = false, version: Int64 = 1
    ) throws -> Payment {
        let context = MachineContext(
            now: now, contracts: [card: .reference], commitsAreAcknowledged: acknowledged, mayBegin: !canceled)
        var machine = PaymentMachine.create(try request(key), context).machine
        if canceled { _ = try machine.cancel(CancelRequest(key: IdempotencyKey("cancel-0"), at: now), context) }
        machine.committed(version: version)
        return machine.payment
    }

    func claimed(_ payment: Payment, _ token: Int64) -> ClaimedPayment {
        ClaimedPayment(payment: payment, token: LeaseToken(token), until: now + .seconds(30))
    }

    func cancel(_ ticket: Int, _ key: String = "cancel-1") throws -> EngineInput {
        .submit(
            OperationRunner.Request(
                ticket: ticket, operation: .cancel(reason: nil), record: try record(.cancel, key)))
    }
}

/// What a list of jobs holds.
extension [EngineJob] {
    var inserts: [(ticket: Int, change: PaymentChange, after: Span)] {
        compactMap { if case .insert(let ticket, let change, let span) = $0 { (ticket, change, span) } else { nil } }
    }
    var commits: [(change: PaymentChange, token: LeaseToken)] {
        compactMap { if case .commit(_, let token, let change, _) = $0 { (change, token) } else { nil } }
    }
    var sends: [SendOrder] {
        compactMap { if case .perform(_, _, .send(let order)) = $0 { order } else { nil } }
    }
    var claims: [PaymentID] { compactMap { if case .claim(let id, _, _) = $0 { id } else { nil } } }
    var looks: [ClaimRequest] { compactMap { if case .claimDue(let request) = $0 { request } else { nil } } }
    var wakes: [Timestamp] { compactMap { if case .wake(let moment) = $0 { moment } else { nil } } }
    var renewals: [Span] { compactMap { if case .renewLater(let span) = $0 { span } else { nil } } }
    var questions: [Span] { compactMap { if case .askStandby(let span) = $0 { span } else { nil } } }
    var releases: [LeaseToken] { compactMap { if case .release(_, let token) = $0 { token } else { nil } } }
    var answers: [(ticket: Int, answer: EngineAnswer)] {
        compactMap { if case .answer(let ticket, let answer) = $0 { (ticket, answer) } else { nil } }
    }
    func count(_ isWanted: (EngineJob) -> Bool) -> Int { filter(isWanted).count }
}
