import MemoryStore
import PaymentCore
import Testing

@testable import Reconciler

/// What callers are told at a site that loses its right while their request is under way.
struct SiteOperationsTests {
    /// Operations that are done at once, after something happened to the site.
    private struct Done: PaymentOperations {
        let meanwhile: @Sendable () -> Void
        static let answer = StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: [])

        private func done() -> OperationResult {
            meanwhile()
            return .replay(Done.answer)
        }

        func create(
            _ request: CreateRequest, fingerprint: Digest, wait: Span
        ) async throws(OperationFailure) -> OperationResult { done() }
        func capture(
            _ command: OperationCommand, amounts: [Int: Money]?
        ) async throws(OperationFailure) -> OperationResult { done() }
        func cancel(
            _ command: OperationCommand, reason: String?
        ) async throws(OperationFailure) -> OperationResult { done() }
        func refund(
            _ command: OperationCommand, amounts: [Int: Money]?, reason: String?
        ) async throws(OperationFailure) -> OperationResult { done() }
        func reconcile(
            caller: CallerID, payment: PaymentID, wait: Span
        ) async throws(OperationFailure) -> OperationResult { done() }
        func take(
            _ news: EffectNews, from provider: ProviderName, of payment: PaymentID?
        ) async throws(OperationFailure) -> Bool {
            _ = done()
            return true
        }
        func payment(caller: CallerID, _ id: PaymentID) async throws(OperationFailure) -> Payment { throw .notFound }
        func payments(_ query: PaymentQuery) async throws(OperationFailure) -> Page<Payment> { throw .notFound }
        func events(
            caller: CallerID, payment: PaymentID, after sequence: Int64, limit: Int
        ) async throws(OperationFailure) -> [AuditEntry] { [] }
        func keep(
            _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
        ) async throws(OperationFailure) -> StoredAnswer { answer }
    }

    private func row(_ epoch: Int64, _ site: SiteName, _ phase: SitePhase = .active) -> SiteRow {
        var row = SiteRow(
            term: SiteTerm(
                epoch: epoch, site: site, since: Timestamp(milliseconds: 0), beginning: .first, by: "a", reason: "b"))
        row.phase = phase
        return row
    }

    private func gate() -> SiteGate {
        let gate = SiteGate(SiteMachine.Settings(site: .main, proof: .none, lease: .seconds(10)))
        read(row(1, .main), gate)
        return gate
    }

    private func read(_ row: SiteRow, _ gate: SiteGate) {
        gate.take(.read(row, isWritable: true, began: gate.moment))
        gate.update { right, now in
            if let standing = right.change(at: now) { right.tell(standing) }
        }
    }

    private func asked(_ gate: SiteGate, meanwhile: @escaping @Sendable () -> Void) async throws -> Bool {
        let operations = SiteOperations(
            Done(meanwhile: meanwhile), store: MemoryStore(clock: { Timestamp(milliseconds: 0) }), gate: gate,
            site: .main, peer: nil)
        let command = OperationCommand(
            caller: try CallerID("shop"),
            payment: PaymentID(caller: try CallerID("shop"), key: try IdempotencyKey("a")),
            key: try IdempotencyKey("b"), fingerprint: Digest(of: ["c"]), wait: .seconds(1))
        do throws(OperationFailure) {
            _ = try await operations.cancel(command, reason: String?.none)
            return true
        } catch {
            guard case .notActive = error else { throw error }
            return false
        }
    }

    /// Seed 601477241: a process slept through a promotion, wrote into the database that it was cut off with, and told
    /// its caller of a payment that nobody had any more.
    @Test func `a result is not told by a site that lost its right meanwhile`() async throws {
        let west = try SiteName("west")
        let gate = gate()
        #expect(try await asked(gate) {} == true)
        #expect(try await asked(gate) { self.read(self.row(2, west), gate) } == false)
        #expect(try await asked(gate) {} == false)
    }

    @Test func `what a drained site did is told: the other one has it`() async throws {
        let gate = gate()
        #expect(try await asked(gate) { self.read(self.row(1, .main, .drained), gate) } == true)
        #expect(try await asked(gate) {} == false)
    }
}
