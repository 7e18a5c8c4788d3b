internal import MemoryStore
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite struct ScriptedFaultTests {
    private let clock = ManualClock()

    private func makeStore() -> MemoryStore {
        MemoryStore(clock: { [clock] in clock.now() })
    }

    @Test func `a scripted fault fails its operation once, before it does anything`() async throws {
        let store = makeStore()
        let scenario = Scenario(store: store, clock: clock)
        await store.failNext(.busy, on: .commit)
        let failure = await #expect(throws: StoreFailure.self) {
            try await scenario.create(Scenario.Order("k1"))
        }
        #expect(failure?.code == .busy)
        #expect(try await store.statistics().paymentsByState.isEmpty)
        try await scenario.create(Scenario.Order("k1"))
        #expect(try await store.statistics().paymentsByState == [.processing: 1])
        #expect(await store.unusedFaults == 0)
    }

    @Test func `a fault after the work leaves the work done`() async throws {
        let store = makeStore()
        let scenario = Scenario(store: store, clock: clock)
        await store.failNext(.indeterminate, on: .commit, afterDoing: true)
        await #expect(throws: StoreFailure.self) { try await scenario.create(Scenario.Order("k1")) }
        #expect(try await store.statistics().paymentsByState == [.processing: 1])
    }

    @Test func `faults wait for their own operation, in order`() async throws {
        let store = makeStore()
        await store.failNext(.full, on: .probe)
        await store.failNext(.unavailable, on: .probe)
        #expect(try await store.nextDue(in: .everywhere) == nil)
        let first = await #expect(throws: StoreFailure.self) { try await store.probe() }
        let second = await #expect(throws: StoreFailure.self) { try await store.probe() }
        #expect([first?.code, second?.code] == [.full, .unavailable])
        try await store.probe()
    }

    @Test(arguments: StoreOperation.allCases)
    func `every operation can be made to fail`(_ operation: StoreOperation) async throws {
        let store = makeStore()
        let id = try PaymentID(caller: CallerID("shop"), key: IdempotencyKey("k1"))
        let (caller, key) = (try CallerID("shop"), try IdempotencyKey("k1"))
        await store.failNext(.unavailable, on: operation)
        await #expect(throws: StoreFailure.self) {
            switch operation {
            case .now: _ = try await store.now()
            case .commit: try await Scenario(store: store, clock: clock).create(Scenario.Order("k1"))
            case .payment: _ = try await store.payment(id)
            case .payments: _ = try await store.payments(PaymentQuery())
            case .auditTrail: _ = try await store.auditTrail(of: id, after: 0, limit: 1)
            case .paymentOfEffect:
                _ = try await store.payment(at: ProviderName("cards"), effect: EffectKey(reported: "k"))
            case .claimDue: _ = try await store.claimDue(ClaimRequest(holder: "w", limit: 1, leaseFor: .seconds(1)))
            case .claimWaiting:
                let provider = try ProviderName("cards")
                _ = try await store.claimWaiting(
                    WaitingRequest(provider: provider, holder: "w", limit: 1, leaseFor: .seconds(1)))
            case .claim: _ = try await store.claim(id, holder: "w", leaseFor: .seconds(1))
            case .renew: _ = try await store.renew([:], leaseFor: .seconds(1))
            case .release: try await store.release(id, token: LeaseToken(1))
            case .nextDue: _ = try await store.nextDue(in: .everywhere)
            case .idempotencyRecord: _ = try await store.idempotencyRecord(caller: caller, key: key)
            case .storeAnswer:
                let answer = StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: [])
                _ = try await store.storeAnswer(answer, caller: caller, key: key)
            case .seal: _ = try await store.seal()
            case .verifySeals: _ = try await store.verifySeals()
            case .standbyReading: _ = try await store.standbyReading(nil)
            case .statistics: _ = try await store.statistics()
            case .probe: try await store.probe()
            default: try await compare(store, operation)
            }
        }
        #expect(await store.unusedFaults == 0)
    }

    /// Calls an operation of sites.
    private func site(_ store: MemoryStore, _ operation: StoreOperation) async throws {
        let term = SiteTerm(
            epoch: 2, site: .main, since: clock.now(), beginning: .promotion, by: "a", reason: "b")
        switch operation {
        case .siteReading: _ = try await store.siteReading()
        case .repair: _ = try await store.repair("rep_1")
        case .repairs: _ = try await store.repairs(RepairQuery())
        case .renewSite:
            _ = try await store.renewSite(SiteRenewal(epoch: 1, proof: .postgres, lease: .seconds(1)))
        case .noteAlive: try await store.noteAlive(epoch: 1)
        case .beginTerm: _ = try await store.beginTerm(term, loss: nil)
        case .changeSite: _ = try await store.changeSite(.mode(.full), epoch: 1)
        case .siteTerms: _ = try await store.siteTerms(limit: 1)
        case .paymentsInWork: _ = try await store.paymentsInWork()
        default: try await report(store, operation)
        }
    }

    /// Calls an operation of webhooks.
    private func report(_ store: MemoryStore, _ operation: StoreOperation) async throws {
        let shop = try CallerID("shop")
        let id = try PaymentID(caller: shop, key: IdempotencyKey("k1"))
        let claimed = ClaimedWebhook(
            webhook: Webhook(
                payment: id, caller: shop, reported: Digest(of: ["s"]), raisedAt: clock.now(), dueAt: clock.now()),
            token: LeaseToken(1))
        switch operation {
        case .claimWebhooks:
            _ = try await store.claimWebhooks(WebhookClaimRequest(caller: shop, limit: 1, leaseFor: .seconds(1)))
        case .settleWebhook: _ = try await store.settleWebhook(WebhookSettlement(of: claimed, .accepted))
        case .nextWebhooks: _ = try await store.nextWebhooks(of: [shop])
        case .webhook: _ = try await store.webhook(of: id)
        case .webhooks: _ = try await store.webhooks(WebhookQuery())
        case .redeliverWebhook: _ = try await store.redeliverWebhook(of: id)
        case .webhookCounts: _ = try await store.webhookCounts()
        default: Issue.record("no call for \(operation)")
        }
    }

    /// Calls an operation of comparisons, with values that nothing is stored for.
    private func compare(_ store: MemoryStore, _ operation: StoreOperation) async throws {
        let run = try Comparing.run()
        let token = LeaseToken(1)
        switch operation {
        case .beginRun: _ = try await store.begin(run)
        case .claimRun: _ = try await store.claimRun(run.id, holder: "w", leaseFor: .seconds(1))
        case .renewRun: _ = try await store.renewRun(run.id, token: token, leaseFor: .seconds(1))
        case .releaseRun: try await store.releaseRun(run.id, token: token)
        case .abandonRun: _ = try await store.abandonRun(run.id)
        case .run: _ = try await store.run(run.id)
        case .runs: _ = try await store.runs(RunQuery())
        case .chainHead: _ = try await store.chainHead(of: run.provider)
        case .findings: _ = try await store.findings(of: run.id, after: nil, limit: 1)
        case .positions: _ = try await store.positions(at: run.provider, [])
        case .changedPositions:
            _ = try await store.changedPositions(at: run.provider, in: run.window, after: nil, limit: 1)
        case .unsettledPositions: _ = try await store.unsettledPositions(at: run.provider, after: nil, limit: 1)
        case .standing: _ = try await store.standing(at: run.provider)
        case .explainedDifferences: _ = try await store.explainedDifferences(at: run.provider)
        case .recordStep: _ = try await store.record(ComparisonStep(run: run), token: token)
        case .discrepanciesByID: _ = try await store.discrepancies([DiscrepancyID]())
        case .discrepancies: _ = try await store.discrepancies(DiscrepancyQuery())
        case .changeDiscrepancy: _ = try await store.change(Comparing.discrepancy("k1"))
        case .discrepancyCounts: _ = try await store.discrepancyCounts()
        default: try await site(store, operation)
        }
    }
}
