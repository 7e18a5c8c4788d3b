import PaymentCore
import Reconciler

/// Payments in every state, made by the real machine and a small provider.
struct SamplePayment {
    /// How a provider behaves.
    enum Manner { case takes, declines, refuses, loses }

    static let now = Timestamp(milliseconds: 1_772_442_904_051)  // 2026-03-02T09:15:04.051Z

    private(set) var machine: PaymentMachine
    private(set) var entries: [AuditEntry]
    private var waiting: [PaymentAction]
    private var captures: [Int: [Observation.Movement]] = [:]
    private var refunds: [Int: [Observation.Movement]] = [:]
    private let context = MachineContext(now: SamplePayment.now, contracts: Sample.contracts)

    var payment: Payment { machine.payment }

    init(
        caller: String = "shop", key: String = "key-1", capture: CaptureMode = .automatic, legs: Int = 2
    ) throws {
        let cards = CreateRequest.Leg(
            provider: try ProviderName("cards"), instrument: try Instrument(token: "tok_9f3c2a7b1234"),
            amount: try Money(1_200, Sample.yen))
        let points = CreateRequest.Leg(
            provider: try ProviderName("points"), instrument: try Instrument(token: "member-88417706"),
            amount: try Money(300, Sample.yen))
        let request = try CreateRequest(
            caller: CallerID(caller), key: IdempotencyKey(key),
            amount: Money(legs == 2 ? 1_500 : 1_200, Sample.yen), legs: legs == 2 ? [cards, points] : [cards],
            captureMode: capture, reference: "order/1 \"ü\"", metadata: ["cart": "c-5512", "b": "2"],
            contracts: Sample.contracts)
        let (machine, actions) = PaymentMachine.create(request, context)
        self.machine = machine
        entries = machine.newEntries
        waiting = actions
    }

    /// Lets the providers answer everything that is sent, as they are told; what is lost stays unanswered for
    /// ever.
    mutating func run(cards: Manner = .takes, points: Manner = .takes) {
        while !waiting.isEmpty {
            guard case .send(let order) = waiting.removeFirst() else { continue }
            let report = report(order, order.provider.name == "cards" ? cards : points)
            handle(.attempted(leg: order.leg, effect: order.effect, number: order.number, report))
        }
    }

    mutating func handle(_ event: PaymentEvent) {
        waiting += machine.handle(event, context)
        entries = machine.newEntries
    }

    mutating func cancel(_ key: String) throws {
        waiting += try machine.cancel(
            CancelRequest(key: IdempotencyKey(key), reason: "no longer", at: SamplePayment.now), context)
        entries = machine.newEntries
    }

    mutating func refund(_ key: String, amounts: [Int: Money]? = nil, reason: String? = nil) throws {
        waiting += try machine.refund(key: IdempotencyKey(key), amounts: amounts, reason: reason, context)
        entries = machine.newEntries
    }

    private mutating func report(_ order: SendOrder, _ manner: Manner) -> AttemptReport {
        switch manner {
        case .loses: return AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 200)
        case .refuses: return AttemptReport(.refused, code: "unknown_instrument")
        case .declines:
            let seen = observation(.declined, order, reason: "insufficient_funds")
            return AttemptReport(.declined, code: "insufficient_funds", observation: seen)
        case .takes: break
        }
        let movement = Observation.Movement(key: order.key, amount: order.amount, state: .succeeded)
        let status: Observation.Status
        switch order.kind {
        case .authorize: status = .authorized
        case .sale: status = .captured
        case .void: status = .voided
        case .capture:
            captures[order.leg, default: []].append(movement)
            status = .captured
        case .refund:
            refunds[order.leg, default: []].append(movement)
            status = .captured
        }
        return AttemptReport(.accepted, code: "http_200", observation: observation(status, order))
    }

    private func observation(
        _ status: Observation.Status, _ order: SendOrder, reason: String? = nil
    ) -> Observation {
        Observation(
            status, began: SamplePayment.now, source: .answer, key: order.transactionKey,
            amount: payment.legs[order.leg].amount, captures: captures[order.leg] ?? [],
            refunds: refunds[order.leg] ?? [], reason: reason)
    }
}

/// The configuration of the tests.
enum Sample {
    static let yen = currency("JPY")
    static let contracts: [ProviderName: ProviderContract] = {
        var contracts: [ProviderName: ProviderContract] = [:]
        do {
            contracts[try ProviderName("cards")] = ProviderContract(phases: .authorizeCapture)
            contracts[try ProviderName("points")] = ProviderContract(phases: .sale)
        } catch {
            preconditionFailure("the tests' own names are valid")
        }
        return contracts
    }()

    private static func currency(_ code: String) -> Currency {
        guard let currency = Currency(code: code) else { preconditionFailure("a currency of the tests") }
        return currency
    }
}
