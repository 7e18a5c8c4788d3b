import PaymentCore
import Reconciler
import Testing

@Suite struct OperationRunnerTests {
    @Test func `nothing is performed before the change that decided it is durable`() throws {
        var stage = try RunnerStage()
        let decided = stage.feed(.event(stage.authorized()))
        let change = try #require(decided.change)
        #expect(change.payment.latch == .forward)
        #expect(change.entries.contains { $0.type == .intent })
        #expect(decided.actions.isEmpty)

        let durable = stage.feed(.committed(.committed(version: 2, lease: nil)))
        guard case .send(let order) = try #require(durable.actions.first) else {
            Issue.record("expected a request")
            return
        }
        #expect(order.kind == .capture)
        #expect(stage.runner.payment.version == 2)
    }

    @Test func `what arrives while a change is on its way waits for it`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        #expect(stage.feed(.event(.inquireNow)).isEmpty)
        let after = stage.feed(.committed(.committed(version: 2, lease: nil)))
        #expect(after.change?.entries.contains { $0.type == .operation } == true)
    }

    @Test func `another writer's change is read and the event is applied to it`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        #expect(stage.feed(.committed(.versionConflict)).wantsReload)

        var other = PaymentMachine(payment: stage.runner.payment)
        var context = stage.context
        context.mayBegin = false
        _ = try other.cancel(CancelRequest(key: IdempotencyKey("cancel-1"), at: context.now), context)
        other.committed(version: 2)

        let change = try #require(stage.feed(.reloaded(other.payment)).change)
        #expect(change.payment.latch == .back)
        #expect(change.payment.version == 2)
        let durable = stage.feed(.committed(.committed(version: 3, lease: nil)))
        guard case .send(let order) = try #require(durable.actions.first) else {
            Issue.record("expected the void")
            return
        }
        #expect(order.kind == .void)
    }

    @Test func `a commit of which nobody knows is settled by reading`() throws {
        var stage = try RunnerStage()
        let change = try #require(stage.feed(.event(stage.authorized())).change)
        let failure = StoreFailure(.indeterminate, operation: "commit", cause: "connection lost")
        #expect(stage.feed(.commitFailed(failure)).wantsReload)
        var written = PaymentMachine(payment: change.payment)
        written.committed(version: 2)
        let found = stage.feed(.reloaded(written.payment))
        #expect(found.actions.count == 1)
        #expect(found.change == nil)
    }

    /// Two equal operations under two keys, asked in the same millisecond, through two processes. Simulation, seed 192:
    /// the refund of the second key was acknowledged and lost.
    @Test func `another's equal operation is not taken for the one of which nobody knows`() throws {
        var stage = try RunnerStage()
        let before = stage.runner.payment
        let own = OperationRunner.Request(
            ticket: 7, operation: .cancel(reason: nil), record: try stage.record("cancel-1", .cancel))
        #expect(stage.feed(.request(own)).change != nil)
        var other = PaymentMachine(payment: before)
        var context = stage.context
        context.mayBegin = false
        _ = try other.cancel(CancelRequest(key: try IdempotencyKey("cancel-2"), at: context.now), context)
        other.committed(version: before.version + 1)
        let failure = StoreFailure(.indeterminate, operation: "commit", cause: "connection lost")
        #expect(stage.feed(.commitFailed(failure)).wantsReload)
        let outputs = stage.feed(.reloaded(other.payment))
        #expect(outputs.change?.record?.key == own.record.key)
        #expect(!outputs.hasAnswer)
    }

    /// Nothing but when to look again is written, by two processes in the same millisecond. Simulation, seed
    /// 1981240612: the lease of the one that did not write was kept, and the payment waited until it ran out.
    @Test func `a lease is given back where the change found may be another's`() throws {
        var stage = try RunnerStage(capture: .manual)
        let change = try #require(stage.feed(.event(stage.authorized())).change)
        #expect(change.lease == .releasing(LeaseToken(1)))
        _ = stage.feed(.commitFailed(StoreFailure(.indeterminate, operation: "commit", cause: "connection lost")))
        var equal = PaymentMachine(payment: change.payment)
        equal.committed(version: 2)
        let found = stage.feed(.reloaded(equal.payment))
        #expect(found.released == LeaseToken(1))
    }

    @Test func `a commit of which nobody knows and which is not there is made again`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        _ = stage.feed(.commitFailed(StoreFailure(.indeterminate, operation: "commit", cause: "connection lost")))
        let again = stage.feed(.reloaded(stage.runner.payment))
        #expect(again.change?.payment.latch == .forward)
        #expect(again.actions.isEmpty)
    }

    @Test(arguments: [StoreFailure.Code.busy, .full, .serialization, .unavailable])
    func `a passing failure of the store is waited out with the same change`(code: StoreFailure.Code) throws {
        var stage = try RunnerStage()
        let change = try #require(stage.feed(.event(stage.authorized())).change)
        for index in 0..<5 {
            let outputs = stage.feed(.commitFailed(StoreFailure(code, operation: "commit", cause: "test")))
            guard case .commitAgain(let again, let tries) = try #require(outputs.first) else {
                Issue.record("expected the same change again")
                return
            }
            #expect(again.payment == change.payment)
            #expect(tries == index)
        }
        #expect(stage.feed(.committed(.committed(version: 2, lease: nil))).actions.count == 1)
    }

    @Test func `a worker without its lease performs nothing`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        let outputs = stage.feed(.committed(.leaseLost))
        #expect(outputs.actions.isEmpty)
        #expect(stage.runner.hasEnded)
    }

    /// Seed 3641238001: a read from before another worker's refunds was written into the row, and called one of them
    /// somebody else's.
    @Test func `a worker without its lease leaves what it was told, and no read of its own`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        _ = stage.feed(.event(.inquired(leg: 0, stage.observation(.captured))))
        _ = stage.feed(.event(.inquireNow))
        _ = stage.feed(.committed(.leaseLost))
        #expect(stage.runner.takeLeftovers().events == [.inquireNow])
    }

    @Test func `a refused operation changes nothing and is answered`() throws {
        var stage = try RunnerStage()
        let request = OperationRunner.Request(
            ticket: 7, operation: .refund(amounts: nil, reason: nil), record: try stage.record("refund-1", .refund))
        #expect(stage.feed(.request(request)).wantsReload)
        let outputs = stage.feed(.reloaded(stage.runner.payment))
        guard case .answered(7, .refused(.wrongState(.processing, _))) = try #require(outputs.first) else {
            Issue.record("expected a refusal")
            return
        }
        #expect(outputs.change == nil)
    }

    /// Simulation, seed 872: another process had brought the payment to its end, and this one refused a refund by what
    /// it remembered.
    @Test func `an operation is not refused by what the store no longer says`() throws {
        var stage = try RunnerStage(capture: .manual)
        let request = OperationRunner.Request(
            ticket: 7, operation: .capture(amounts: nil), record: try stage.record("capture-1", .capture))
        var other = PaymentMachine(payment: stage.runner.payment)
        _ = other.handle(stage.authorized(), stage.context)
        other.committed(version: 2)
        #expect(other.payment.state == .authorized)
        let first = stage.feed(.request(request))
        #expect(first.wantsReload && !first.hasAnswer)
        #expect(stage.runner.unansweredTickets == [7])
        let outputs = stage.feed(.reloaded(other.payment))
        #expect(outputs.change?.payment.capture?.key == request.record.key)
        #expect(!outputs.hasAnswer)
    }

    @Test func `an operation that came after the read that checks another is checked by a read of its own`() throws {
        var stage = try RunnerStage()
        func refund(_ ticket: Int) throws -> OperationRunner.Request {
            OperationRunner.Request(
                ticket: ticket, operation: .refund(amounts: nil, reason: nil),
                record: try stage.record("refund-\(ticket)", .refund))
        }
        #expect(stage.feed(.request(try refund(1))).wantsReload)
        #expect(stage.feed(.request(try refund(2))).isEmpty)
        let first = stage.feed(.reloaded(stage.runner.payment))
        #expect(first.tickets == [1])
        #expect(first.wantsReload)
        #expect(stage.feed(.reloaded(stage.runner.payment)).tickets == [2])
    }

    @Test func `events that came with an operation are durable before it is refused`() throws {
        var stage = try RunnerStage()
        let window = RecoveryWindow(readsCountFrom: stage.context.now, latestNotAfter: stage.context.now)
        let refund = OperationRunner.Request(
            ticket: 7, operation: .refund(amounts: nil, reason: nil), record: try stage.record("refund-1", .refund))
        let outputs = stage.runner.begin(with: [.recoveryOpened(window)], requests: [refund], stage.context)
        #expect(outputs.change?.payment.recovery == window)
        #expect(outputs.change?.record == nil)
        #expect(!outputs.hasAnswer)
        let after = stage.feed(.committed(.committed(version: 2, lease: nil)))
        #expect(after.wantsReload && !after.hasAnswer)
    }

    @Test func `an operation that cannot be checked is left unanswered`() throws {
        var stage = try RunnerStage()
        let request = OperationRunner.Request(
            ticket: 7, operation: .refund(amounts: nil, reason: nil), record: try stage.record("refund-1", .refund))
        _ = stage.feed(.request(request))
        let outputs = stage.feed(.reloadFailed)
        #expect(!outputs.hasAnswer)
        #expect(stage.runner.hasEnded && stage.runner.unansweredTickets == [7])
    }

    @Test func `too late is a settled answer: its key is durable before it is given`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        _ = stage.feed(.committed(.committed(version: 2, lease: nil)))
        let record = try stage.record("cancel-1", .cancel)
        let outputs = stage.feed(
            .request(OperationRunner.Request(ticket: 7, operation: .cancel(reason: nil), record: record)))
        let change = try #require(outputs.change)
        #expect(change.record == record)
        #expect(change.payment.latch == .forward)
        let durable = stage.feed(.committed(.committed(version: 3, lease: nil)))
        let refusals = durable.compactMap { output in
            if case .answered(7, .refused(let refusal)) = output { return refusal }
            return nil
        }
        #expect(refusals == [.tooLate(state: .processing)])
    }

    @Test func `the key's record is written with the operation's change`() throws {
        var stage = try RunnerStage(capture: .manual)
        let record = try stage.record("cancel-1", .cancel)
        let outputs = stage.feed(
            .request(OperationRunner.Request(ticket: 1, operation: .cancel(reason: "changed"), record: record)))
        let change = try #require(outputs.change)
        #expect(change.record == record)
        #expect(change.payment.latch == .back)
    }

    @Test func `the lease ends with the last change`() throws {
        var stage = try RunnerStage()
        _ = stage.feed(.event(stage.authorized()))
        _ = stage.feed(.committed(.committed(version: 2, lease: nil)))
        let capture = try #require(stage.runner.payment.legs[0].capture)
        let captured = stage.observation(
            .captured, captures: [.init(key: capture.key, amount: stage.amount, state: .succeeded)])
        let outputs = stage.feed(
            .event(
                .attempted(
                    leg: 0, effect: .capture, number: 1,
                    AttemptReport(.accepted, code: "http_201", observation: captured))))
        let change = try #require(outputs.change)
        #expect(change.lease == .releasing(LeaseToken(1)))
        #expect(change.payment.state == .succeeded)
        _ = stage.feed(.committed(.committed(version: 3, lease: nil)))
        #expect(stage.runner.hasEnded)
    }
}
