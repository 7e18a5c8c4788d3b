import PaymentCore
import Testing

@testable import Reconciler

/// What a caller asks, stepped by hand.
@Suite struct OperationMachineTests {
    let stage: MachineStage

    init() throws { stage = try MachineStage() }

    private func capture(of payment: Payment, wait: Span) throws -> OperationMachine {
        OperationMachine(
            .operate(.capture(amounts: nil), on: payment.id), caller: stage.caller,
            key: try IdempotencyKey("capture-1"), fingerprint: Digest(of: ["capture-1"]), wait: wait)
    }

    /// Hands the operation to the engine, which says that the payment is being confirmed.
    private func refuse(_ machine: inout OperationMachine, at now: Timestamp) -> OperationMachine.Step? {
        let refusal = OperationRefusal.beingConfirmed(from: now + .seconds(3))
        _ = machine.handle(.engine(.answered(.refused(refusal))), at: now)
        return machine.handle(.record(nil), at: now)
    }

    @Test func `what is being confirmed is asked again until it was read, and then followed`() throws {
        let payment = try stage.row()
        var machine = try capture(of: payment, wait: .seconds(10))
        var now = stage.now
        _ = machine.handle(.began(isLookedUpFirst: true, asksCallers: true), at: now)
        _ = machine.handle(.payment(payment), at: now)
        _ = machine.handle(.record(nil), at: now)
        for _ in 0..<4 {
            guard case .wait(let moment)? = refuse(&machine, at: now) else {
                Issue.record("it does not wait")
                return
            }
            #expect(moment > now && moment <= now + .milliseconds(800))
            now = moment
            guard case .submit? = machine.handle(.waited, at: now) else {
                Issue.record("it does not ask again")
                return
            }
        }
        let step = machine.handle(.engine(.answered(.taken(payment))), at: now)
        guard case .wait? = step else {
            Issue.record("it is not followed")
            return
        }
        #expect(machine.isFollowing)
    }

    @Test(arguments: [Span.zero, .seconds(2)])
    func `what is not confirmed within the wait is refused so that it is asked again`(wait: Span) throws {
        let payment = try stage.row()
        var machine = try capture(of: payment, wait: wait)
        var now = stage.now
        _ = machine.handle(.began(isLookedUpFirst: true, asksCallers: true), at: now)
        _ = machine.handle(.payment(payment), at: now)
        _ = machine.handle(.record(nil), at: now)
        var step = refuse(&machine, at: now)
        while case .wait(let moment)? = step {
            now = moment
            _ = machine.handle(.waited, at: now)
            step = refuse(&machine, at: now)
        }
        #expect(now == stage.now + wait)
        guard case .finish(.failure(.refused(.beingConfirmed, payment.id)))? = step else {
            Issue.record("\(String(describing: step))")
            return
        }
    }

    @Test func `a repeated create is told to the payment that may wait for it`() throws {
        let payment = try stage.row()
        let record = try stage.record(.create, "create-1")
        var machine = OperationMachine(
            .create(try stage.request()), caller: stage.caller, key: try IdempotencyKey("create-1"),
            fingerprint: record.fingerprint, wait: .seconds(1))
        _ = machine.handle(.began(isLookedUpFirst: true, asksCallers: true), at: stage.now)
        _ = machine.handle(.record(record), at: stage.now)
        guard case .tellRepeated(payment)? = machine.handle(.payment(payment), at: stage.now) else {
            Issue.record("nobody is told")
            return
        }
        _ = machine.handle(.engine(.told), at: stage.now)
        #expect(machine.isFollowing)
    }

    @Test func `only a payment that waits for its caller is taken up because its create is repeated`() throws {
        for loss in [RecoveryWindow.Loss.asynchronousPromotion, .promotion, nil] {
            var stage = stage
            let payment = try stage.row()
            let window = loss.map { RecoveryWindow.opened(by: $0, at: stage.now, contracts: [.reference]) }
            _ = stage.tell(.entered(term: 1, window))
            let jobs = stage.tell(.repeated(ticket: 1, payment))
            let isAwaited = loss == .asynchronousPromotion
            #expect(stage.machine.asksCallers == isAwaited)
            #expect(jobs.claims == (isAwaited ? [payment.id] : []))
            #expect(jobs.answers.isEmpty == isAwaited)
            guard isAwaited else { continue }
            let taken = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
            #expect(taken.answers.map(\.ticket) == [1])
            #expect(taken.commits.first?.change.payment.recovery?.repetition == .heard)
        }
    }

    @Test func `a cancel of what turns out to have gone forward came too late`() throws {
        let payment = try stage.row()
        var machine = OperationMachine(
            .operate(.cancel(reason: nil), on: payment.id), caller: stage.caller, key: try IdempotencyKey("cancel-1"),
            fingerprint: Digest(of: ["cancel-1"]), wait: .seconds(1))
        _ = machine.handle(.began(isLookedUpFirst: true, asksCallers: true), at: stage.now)
        _ = machine.handle(.payment(payment), at: stage.now)
        _ = machine.handle(.record(nil), at: stage.now)
        _ = machine.handle(.engine(.answered(.taken(payment))), at: stage.now)
        let forward = try succeeded(payment)
        guard
            case .finish(.failure(.refused(.tooLate(.succeeded), payment.id)))? = machine.handle(
                .changed(forward, kept: nil), at: stage.now)
        else {
            Issue.record("it is called canceled")
            return
        }
    }

    /// The payment after its provider showed that it was charged before rows were lost.
    private func succeeded(_ payment: Payment) throws -> Payment {
        let context = MachineContext(now: stage.now, contracts: [stage.card: .reference])
        var machine = PaymentMachine(payment: payment)
        _ = machine.handle(
            .claimedAfterLoss(RecoveryWindow(readsCountFrom: stage.now, latestNotAfter: stage.now)), context)
        let leg = machine.payment.legs[0]
        let taken = Observation.Movement(key: leg.primary.key, amount: leg.amount, state: .succeeded)
        _ = machine.handle(
            .inquired(
                leg: 0,
                Observation(
                    .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
                    captures: [taken])), context)
        return machine.payment
    }

    @Test func `the pauses between two questions grow to less than a second`() throws {
        let payment = try stage.row()
        var machine = try capture(of: payment, wait: .seconds(30))
        var now = stage.now
        _ = machine.handle(.began(isLookedUpFirst: true, asksCallers: true), at: now)
        _ = machine.handle(.payment(payment), at: now)
        _ = machine.handle(.record(nil), at: now)
        var pauses: [Span] = []
        for _ in 0..<6 {
            guard case .wait(let moment)? = refuse(&machine, at: now) else {
                Issue.record("it does not wait")
                return
            }
            pauses.append(moment - now)
            now = moment
            _ = machine.handle(.waited, at: now)
        }
        #expect(pauses == [100, 200, 400, 800, 800, 800].map { Span.milliseconds($0) })
    }
}
