import PaymentCore
import Reconciler
import Testing

/// New payments, and what is brought to those that are there.
@Suite struct EngineMachineTests {
    private static func failure(_ code: StoreFailure.Code) -> StoreFailure {
        StoreFailure(code, operation: "commit", cause: "scripted")
    }

    // MARK: New payments

    @Test func `a new payment is sent only once it is durable, and its caller is answered then`() throws {
        var stage = try MachineStage()
        let asked = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        #expect(asked.inserts.count == 1 && asked.sends.isEmpty && asked.answers.isEmpty)
        let done = stage.tell(.inserted(ticket: 1, .success(.committed(version: 1, lease: LeaseToken(1)))))
        #expect(done.sends.map(\.kind) == [.authorize])
        guard case .created(let payment) = done.answers.first?.answer else {
            Issue.record("expected a created payment")
            return
        }
        #expect(payment.version == 1)
        #expect(stage.machine.isInWork(payment.id))
    }

    @Test func `uncertainty only grows: what may have been written is never called refused`() throws {
        var stage = try MachineStage()
        _ = stage.tell(.create(ticket: 1, try stage.request(), try stage.record(.create, "create-1")))
        let first = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.indeterminate))))
        #expect(first.count { if case .lookUp = $0 { true } else { false } } == 1)
        let again = stage.tell(.lookedUp(ticket: 1, .success(nil)))
        #expect(again.inserts.count == 1)
        // The next try is only busy; the first may still have been written.
        let second = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.full))))
        #expect(second.count { if case .lookUp = $0 { true } else { false } } == 1)
        let end = stage.tell(.lookedUp(ticket: 1, .failure(Self.failure(.unavailable))))
        guard case .failed(let failure) = end.answers.first?.answer else {
            Issue.record("expected a failure")
            return
        }
        #expect(failure.code == .indeterminate)
        #expect(stage.machine.isIdle)
    }

    @Test func `a creation that was written after all is found by its key`() throws {
        var stage = try MachineStage()
        let record = try stage.record(.create, "create-1")
        _ = stage.tell(.create(ticket: 1, try stage.request(), record))
        _ = stage.tell(.inserted(ticket: 1, .failure(Self.failure(.indeterminate))))
        let found = stage.tell(.lookedUp(ticket: 1, .success(record)))
        guard case .duplicate(let known) = found.answers.first?.answer else {
            Issue.record("expected the record")
            return
        }
        #expect(known == record)
        #expect(found.sends.isEmpty, "its intent is in doubt: the sweep takes it up")
    }

    @Test func `nothing new is taken while draining, beyond the limit, or where the site may not`() throws {
        var stage = try MachineStage { $0.maximumActive = 1 }
        let record = try stage.record(.create, "create-1")
        _ = stage.tell(.create(ticket: 1, try stage.request(), record))
        func refusal(_ jobs: [EngineJob]) -> String? {
            guard case .notAccepting(let reason) = jobs.answers.first?.answer else { return nil }
            return reason
        }
        #expect(refusal(stage.tell(.create(ticket: 2, try stage.request("b"), record))) != nil)
        stage.standing.mode = .settleOnly
        let settling = refusal(stage.tell(.create(ticket: 3, try stage.request("c"), record)))
        #expect(settling?.contains("settle-only") == true)
        stage.standing = .alone
        _ = stage.tell(.drain)
        #expect(refusal(stage.tell(.create(ticket: 4, try stage.request("d"), record))) == "shutting down")
    }

    // MARK: Deliveries

    @Test func `what arrives while a payment is claimed waits for the claim, and is begun with it`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        #expect(stage.tell(try stage.cancel(1)).claims == [payment.id])
        #expect(stage.tell(.tell(payment.id, [.inquireNow])).isEmpty)
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        #expect(begun.commits.map(\.token) == [LeaseToken(2)])
        #expect(begun.commits.first?.change.payment.cancel != nil)
    }

    @Test func `a request that another holder keeps us from is written beside it, and nothing is sent`() throws {
        var stage = try MachineStage { $0.sweeps = false }
        let payment = try stage.row()
        _ = stage.tell(try stage.cancel(1))
        let refused = stage.tell(.claimed(payment.id, .success(nil)))
        guard case .readToWrite(let number, _)? = refused.first else {
            Issue.record("expected a read")
            return
        }
        let read = stage.tell(.readToWrite(number, .success(payment)))
        guard case .write(_, let change)? = read.first else {
            Issue.record("expected a write")
            return
        }
        #expect(change.lease == .none && change.payment.cancel != nil)
        // Another writer was first: it is read again, and not answered.
        let overtaken = stage.tell(.wrote(number, .success(.versionConflict)))
        #expect(overtaken.answers.isEmpty)
        #expect(overtaken.count { if case .readToWrite = $0 { true } else { false } } == 1)
        _ = stage.tell(.readToWrite(number, .success(payment)))
        let written = stage.tell(.wrote(number, .success(.committed(version: 2, lease: nil))))
        guard case .answered(.taken) = written.answers.first?.answer else {
            Issue.record("expected an answer")
            return
        }
        #expect(written.sends.isEmpty)
        #expect(stage.machine.isIdle)
    }

    @Test func `a provider's news are written beside the holder, and answered once they are durable`() throws {
        var stage = try MachineStage { settings in
            settings.sweeps = false
            for name in settings.contracts.keys { settings.contracts[name] = .adyen }
        }
        let payment = try stage.row()
        let news = EffectNews(
            key: payment.legs[0].primary.key, kind: .authorize, amount: nil,
            word: ProviderWord(.succeeded, at: stage.now))
        let asked = stage.tell(.news(ticket: 7, payment.id, leg: 0, news))
        #expect(asked.claims.isEmpty && asked.answers.isEmpty)
        guard case .readToWrite(let number, payment.id)? = asked.first else {
            Issue.record("expected a read")
            return
        }
        let read = stage.tell(.readToWrite(number, .success(payment)))
        guard case .write(_, let change)? = read.first else {
            Issue.record("expected a write")
            return
        }
        #expect(change.lease == .none && change.payment.legs[0].primary.word?.state == .succeeded)
        #expect(read.answers.isEmpty, "nothing is acknowledged before it is durable")
        let overtaken = stage.tell(.wrote(number, .success(.versionConflict)))
        #expect(overtaken.answers.isEmpty)
        _ = stage.tell(.readToWrite(number, .success(payment)))
        let written = stage.tell(.wrote(number, .success(.committed(version: 2, lease: nil))))
        guard case .told? = written.answers.first?.answer else {
            Issue.record("expected an answer")
            return
        }
        #expect(written.sends.isEmpty && stage.machine.isIdle)
        // Said once more, nothing changes, and it is answered all the same.
        _ = stage.tell(.news(ticket: 8, payment.id, leg: 0, news))
        let again = stage.tell(.readToWrite(number + 1, .success(change.payment)))
        #expect(again.answers.map(\.ticket) == [8])
    }

    @Test func `the holder in this process takes a provider's news in with the write beside it`() throws {
        var stage = try MachineStage { settings in
            settings.sweeps = false
            for name in settings.contracts.keys { settings.contracts[name] = .adyen }
        }
        let payment = try stage.row()
        _ = stage.tell(.tell(payment.id, [.inquireNow]))
        let begun = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        #expect(stage.machine.isInWork(payment.id) && begun.commits.count == 1)
        let news = EffectNews(
            key: payment.legs[0].primary.key, kind: .authorize, amount: nil,
            word: ProviderWord(.succeeded, at: stage.now))
        let asked = stage.tell(.news(ticket: 7, payment.id, leg: 0, news))
        guard case .readToWrite(let number, _)? = asked.first else {
            Issue.record("expected a read")
            return
        }
        _ = stage.tell(.readToWrite(number, .success(payment)))
        _ = stage.tell(.wrote(number, .success(.committed(version: 2, lease: nil))))
        // It takes it in once its own change is through; here it ends with that, for nothing is due.
        var jobs = begun
        for version in Int64(3)..<6 {
            guard let commit = jobs.commits.first else { break }
            jobs = stage.tell(
                .committed(
                    payment.id, commit.token, commit.change, .success(.committed(version: version, lease: nil))))
        }
        #expect(jobs.claims == [payment.id], "it is looked at anew, on the row that has the news")
    }

    @Test func `whoever stops waits for what is being claimed and given back`() throws {
        var stage = try MachineStage()
        let claims = stage.tell(.look).compactMap { if case .claimDue(let request) = $0 { request } else { nil } }
        let request = try #require(claims.first)
        _ = stage.tell(.drain)
        #expect(!stage.machine.isIdle, "what the store claims right now would be kept from others")
        let payment = try stage.row(canceled: true)
        let jobs = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 4)])))
        #expect(stage.machine.activeCount == 0)
        #expect(jobs.contains { if case .release(payment.id, LeaseToken(4)) = $0 { true } else { false } })
        #expect(!stage.machine.isIdle, "the lease is not given back yet")
        _ = stage.tell(.released)
        #expect(stage.machine.isIdle)
    }

    @Test func `a request that arrives while the last change is on its way is delivered again`() throws {
        var stage = try MachineStage()
        let payment = try stage.row(canceled: true)
        _ = stage.tell(.tell(payment.id, [.inquireNow]))
        var jobs = stage.tell(.claimed(payment.id, .success(stage.claimed(payment, 2))))
        // Nothing is left to do after this change, which gives the lease back with it.
        let last = try #require(jobs.commits.first)
        guard case .releasing = last.change.lease else {
            Issue.record("expected the last change, and it is \(last.change.lease)")
            return
        }
        #expect(stage.tell(try stage.cancel(7)).isEmpty)
        jobs = stage.tell(
            .committed(payment.id, LeaseToken(2), last.change, .success(.committed(version: 2, lease: nil))))
        #expect(jobs.claims == [payment.id], "the request is not dropped with the runner")
        jobs = stage.tell(.claimed(payment.id, .success(stage.claimed(last.change.payment, 3))))
        #expect(jobs.commits.count + jobs.answers.count > 0)
    }

    @Test func `an older claim does not take the place of a newer one, and a newer one does`() throws {
        var stage = try MachineStage()
        let payment = try stage.row()
        stage.now = stage.now + .minutes(1)
        _ = stage.tell(.look)
        let request = ClaimRequest(holder: "worker", limit: 8, leaseFor: .seconds(30))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 5)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(5))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 4)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(5))
        _ = stage.tell(.claimedDue(request, .success([stage.claimed(payment, 6)])))
        #expect(stage.machine.runner(of: payment.id)?.lease == LeaseToken(6))
    }
}
