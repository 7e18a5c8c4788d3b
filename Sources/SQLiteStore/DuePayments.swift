internal import GRDB
internal import PaymentCore
internal import Reconciler

/// What is due, found provider by provider: a backlog at one that is slow or full is never read through in search of
/// what is due at the others.
enum DuePayments {
    /// Due, and without a lease. The words are those of the partial index.
    private static let free = "due_at IS NOT NULL AND lease_until IS NULL"

    /// How long what is due at a provider is left to others, in milliseconds, by the name in the row.
    private struct Waits {
        private let names: Set<String>
        private let others: Int64

        init(_ scope: DueScope) {
            names = Set(scope.providers.map(\.name) + [""])
            others = scope.othersAfter.milliseconds
        }

        func wait(at provider: String) -> Int64 { names.contains(provider) ? 0 : others }
    }

    private struct Candidate {
        let id: String
        let dueAt: Int64
        let provider: String
    }

    /// The payments to claim: the longest overdue first, within the limits.
    static func choose(_ request: ClaimRequest, now: Timestamp, _ db: Database) throws -> [String] {
        let waits = Waits(request.scope)
        var candidates = try withExpiredLeases(now, db).filter { candidate in
            candidate.dueAt + waits.wait(at: candidate.provider) <= now.milliseconds
        }
        for provider in try providers(db) {
            let limit = min(request.limit, allowance(of: provider, request))
            guard limit > 0 else { continue }
            let latest = now.milliseconds - waits.wait(at: provider)
            let statement = try db.cachedStatement(
                sql: """
                    SELECT id, due_at FROM payments WHERE \(free) AND due_provider = ? AND due_at <= ?
                    ORDER BY due_at, id LIMIT ?
                    """)
            let rows = try Row.fetchAll(statement, arguments: [provider, latest, limit])
            candidates += rows.map { Candidate(id: $0[0], dueAt: $0[1], provider: provider) }
        }
        candidates.sort { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
        var taken: [String: Int] = [:]
        var chosen: [String] = []
        for candidate in candidates where chosen.count < request.limit {
            guard taken[candidate.provider, default: 0] < allowance(of: candidate.provider, request) else { continue }
            taken[candidate.provider, default: 0] += 1
            chosen.append(candidate.id)
        }
        return chosen
    }

    /// The payments that wait for a provider and are not due yet, in order.
    static func waiting(_ request: WaitingRequest, now: Timestamp, _ db: Database) throws -> [String] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id FROM payments
                WHERE \(free) AND due_provider = ? AND due_at > ? AND (due_at, id) > (?, ?)
                ORDER BY due_at, id LIMIT ?
                """)
        let after = request.after
        return try String.fetchAll(
            statement,
            arguments: [
                request.provider.name, now.milliseconds, after?.dueAt.milliseconds ?? now.milliseconds,
                after?.id.text ?? "", request.limit,
            ])
    }

    /// How many payments are due and not leased.
    static func count(now: Timestamp, _ db: Database) throws -> Int {
        var count = try withExpiredLeases(now, db).count
        for provider in try providers(db) {
            let statement = try db.cachedStatement(
                sql: "SELECT count(*) FROM payments WHERE \(free) AND due_provider = ? AND due_at <= ?")
            count += try Int.fetchOne(statement, arguments: [provider, now.milliseconds]) ?? 0
        }
        return count
    }

    /// When the next payment of a scope can be claimed as due: one that is leased not before its lease ends.
    static func next(in scope: DueScope, _ db: Database) throws -> Int64? {
        let waits = Waits(scope)
        let leased = try db.cachedStatement(
            sql:
                """
                SELECT due_at, lease_until, due_provider FROM payments
                WHERE lease_until IS NOT NULL AND due_at IS NOT NULL
                """
        )
        var moments: [Int64?] = try Row.fetchAll(leased).map { row in
            let (dueAt, leaseUntil): (Int64, Int64) = (row[0], row[1])
            return max(dueAt + waits.wait(at: row[2]), leaseUntil)
        }
        for provider in try providers(db) {
            let statement = try db.cachedStatement(
                sql: "SELECT min(due_at) FROM payments WHERE \(free) AND due_provider = ?")
            let first = try Int64.fetchOne(statement, arguments: [provider])
            moments.append(first.map { $0 + waits.wait(at: provider) })
        }
        return moments.compactMap { $0 }.min()
    }

    /// The payments whose holder let the lease run out: few, because every holder ends or prolongs its leases.
    private static func withExpiredLeases(_ now: Timestamp, _ db: Database) throws -> [Candidate] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, due_at, due_provider FROM payments
                WHERE lease_until IS NOT NULL AND lease_until <= ?1 AND due_at <= ?1
                """)
        return try Row.fetchAll(statement, arguments: [now.milliseconds]).map { row in
            Candidate(id: row[0], dueAt: row[1], provider: row[2])
        }
    }

    /// The providers at which anything is due at any time, each found by one step in the index.
    private static func providers(_ db: Database) throws -> [String] {
        let first = try db.cachedStatement(
            sql: "SELECT due_provider FROM payments WHERE \(free) ORDER BY due_provider LIMIT 1")
        let further = try db.cachedStatement(
            sql: "SELECT due_provider FROM payments WHERE \(free) AND due_provider > ? ORDER BY due_provider LIMIT 1")
        var providers: [String] = []
        var found = try String.fetchOne(first)
        while let provider = found {
            providers.append(provider)
            found = try String.fetchOne(further, arguments: [provider])
        }
        return providers
    }

    private static func allowance(of provider: String, _ request: ClaimRequest) -> Int {
        request.limitPerProvider.first { $0.key.name == provider }?.value ?? .max
    }
}
