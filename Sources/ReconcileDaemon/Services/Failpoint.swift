#if DEBUG
    import Foundation
    import PaymentCore
    import Reconciler

    /// Ends the process with SIGKILL at one place, so that a test can see what the next process makes of what is left.
    /// Not in release builds. `RECONCILED_FAILPOINT=<place>:<kind>[:<count>]`, such as `after-intent:capture:1`.
    final class Failpoint: Sendable {
        enum Place: String, CaseIterable {
            case beforeIntent = "before-intent"
            case afterIntent = "after-intent"
            case beforeCall = "before-call"
            case afterCall = "after-call"
            case beforeOutcome = "before-outcome"
            case afterOutcome = "after-outcome"
        }

        private let point: Place
        private let kind: String
        private let remaining: Countdown

        init?(environment: [String: String]) {
            guard let text = environment["RECONCILED_FAILPOINT"] else { return nil }
            let parts = text.split(separator: ":").map(String.init)
            guard parts.count >= 2, let point = Place(rawValue: parts[0]) else { return nil }
            self.point = point
            kind = parts[1]
            remaining = Countdown(parts.count > 2 ? Int(parts[2]) ?? 1 : 1)
        }

        func reach(_ point: Place, kind: String) async {
            guard point == self.point, kind == self.kind, await remaining.isDue() else { return }
            kill(getpid(), SIGKILL)
        }

        private actor Countdown {
            private var left: Int
            init(_ count: Int) { left = count }
            func isDue() -> Bool {
                left -= 1
                return left == 0
            }
        }
    }

    /// A store that dies around commits.
    struct FailpointStore: PaymentStore {
        let store: any PaymentStore
        let failpoint: Failpoint

        func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
            for kind in kinds(change, .intent) { await failpoint.reach(.beforeIntent, kind: kind) }
            for kind in kinds(change, .outcome) { await failpoint.reach(.beforeOutcome, kind: kind) }
            let result = try await store.commit(change)
            for kind in kinds(change, .intent) { await failpoint.reach(.afterIntent, kind: kind) }
            for kind in kinds(change, .outcome) { await failpoint.reach(.afterOutcome, kind: kind) }
            return result
        }

        private func kinds(_ change: PaymentChange, _ type: AuditType) -> [String] {
            change.entries.filter { $0.type == type }.flatMap { entry in
                entry.fields.filter { $0.name == "kind" }.map(\.value)
            }
        }

        func now() async throws(StoreFailure) -> Timestamp { try await store.now() }
        func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? { try await store.payment(id) }
        func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
            try await store.payments(query)
        }
        func auditTrail(
            of id: PaymentID, after sequence: Int64, limit: Int
        ) async throws(StoreFailure) -> [AuditEntry] {
            try await store.auditTrail(of: id, after: sequence, limit: limit)
        }
        func payment(
            at provider: ProviderName, effect key: EffectKey
        ) async throws(StoreFailure) -> PaymentID? { try await store.payment(at: provider, effect: key) }
        func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] {
            try await store.claimDue(request)
        }
        func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] {
            try await store.claimWaiting(request)
        }
        func claim(_ id: PaymentID, holder: String, leaseFor: Span) async throws(StoreFailure) -> ClaimedPayment? {
            try await store.claim(id, holder: holder, leaseFor: leaseFor)
        }
        func renew(
            _ leases: [PaymentID: LeaseToken], leaseFor: Span
        ) async throws(StoreFailure) -> Set<PaymentID> { try await store.renew(leases, leaseFor: leaseFor) }
        func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {
            try await store.release(id, token: token)
        }
        func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? {
            try await store.nextDue(in: scope)
        }
        func idempotencyRecord(
            caller: CallerID, key: IdempotencyKey
        ) async throws(StoreFailure) -> IdempotencyRecord? {
            try await store.idempotencyRecord(caller: caller, key: key)
        }
        func storeAnswer(
            _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
        ) async throws(StoreFailure) -> StoredAnswer {
            try await store.storeAnswer(answer, caller: caller, key: key)
        }
        func seal() async throws(StoreFailure) -> Seal? { try await store.seal() }
        func verifySeals() async throws(StoreFailure) -> [SealBreak] { try await store.verifySeals() }
        func statistics() async throws(StoreFailure) -> StoreStatistics { try await store.statistics() }
        func standbyReading(_ name: String?) async throws(StoreFailure) -> StandbyReading {
            try await store.standbyReading(name)
        }
        func probe() async throws(StoreFailure) { try await store.probe() }
    }

    /// A provider at whose door the process dies.
    struct FailpointProvider: PaymentProvider {
        let provider: any PaymentProvider
        let failpoint: Failpoint

        var name: ProviderName { provider.name }
        var contract: ProviderContract { provider.contract }
        var listing: (any ListingProvider)? { provider.listing }

        func send(_ order: SendOrder) async -> AttemptReport {
            await failpoint.reach(.beforeCall, kind: order.kind.rawValue)
            let report = await provider.send(order)
            await failpoint.reach(.afterCall, kind: order.kind.rawValue)
            return report
        }

        func inquire(_ order: InquiryOrder) async -> Observation {
            await failpoint.reach(.beforeCall, kind: "inquiry")
            let observation = await provider.inquire(order)
            await failpoint.reach(.afterCall, kind: "inquiry")
            return observation
        }
    }
#endif
