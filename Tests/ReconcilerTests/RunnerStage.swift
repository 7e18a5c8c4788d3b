import PaymentCore
import Reconciler
import Testing

/// One payment of one two-phase leg, and its runner, stepped by hand.
struct RunnerStage {
    static let start = Timestamp(milliseconds: 1_700_000_000_000)
    let contracts: [ProviderName: ProviderContract]
    var context: MachineContext
    var runner: OperationRunner
    let key: EffectKey
    let amount: Money

    init(capture: CaptureMode = .automatic) throws {
        let card = try ProviderName("card")
        contracts = [card: .reference]
        context = MachineContext(now: RunnerStage.start, contracts: contracts)
        amount = try Money(1_200, #require(Currency(code: "JPY")))
        let request = try CreateRequest(
            caller: CallerID("shop"), key: IdempotencyKey("create-1"), amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            captureMode: capture, contracts: contracts)
        var machine = PaymentMachine.create(request, context).machine
        machine.committed(version: 1)
        key = machine.payment.legs[0].primary.key
        runner = OperationRunner(machine: machine, token: LeaseToken(1))
    }

    mutating func feed(_ input: OperationRunner.Input) -> [OperationRunner.Output] {
        runner.handle(input, context)
    }

    func observation(_ status: Observation.Status, captures: [Observation.Movement] = []) -> Observation {
        Observation(status, began: context.now, source: .answer, key: key, amount: amount, captures: captures)
    }

    func authorized() -> PaymentEvent {
        .attempted(
            leg: 0, effect: .primary, number: 1,
            AttemptReport(.accepted, code: "http_201", observation: observation(.authorized)))
    }

    func record(_ key: String, _ operation: IdempotencyRecord.Operation) throws -> IdempotencyRecord {
        IdempotencyRecord(
            caller: try CallerID("shop"), key: try IdempotencyKey(key), operation: operation,
            payment: runner.payment.id, fingerprint: Digest(of: [key]), createdAt: context.now)
    }
}

extension [OperationRunner.Output] {
    var change: PaymentChange? {
        for case .commit(let change) in self { return change }
        return nil
    }
    var actions: [PaymentAction] {
        compactMap { output in
            if case .perform(let action) = output { return action }
            return nil
        }
    }
    var tickets: [Int] {
        compactMap { if case .answered(let ticket, _) = $0 { ticket } else { nil } }
    }
    var released: LeaseToken? {
        for case .finished(let release?) in self { return release }
        return nil
    }
    var hasAnswer: Bool {
        contains { if case .answered = $0 { true } else { false } }
    }
    var wantsReload: Bool {
        contains { output in
            if case .reload = output { return true }
            return false
        }
    }
}
