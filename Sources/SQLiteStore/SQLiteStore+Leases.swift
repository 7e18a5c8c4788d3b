internal import Foundation
internal import GRDB
internal import Logging
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Claims payments that are due and not leased, the longest overdue first. A payment that does not decode is
    /// logged and passed over.
    public func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        guard request.limit > 0 else { return [] }
        let clock = clock
        let claims = try await queue.write("claim due") { db in
            let now = clock.now()
            return try DuePayments.choose(request, now: now, db).map { id in
                try Lease.take(id, holder: request.holder, until: now + request.leaseFor, db)
            }
        }
        return readable(claims)
    }

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due. A payment that does not decode is logged and passed over.
    public func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        guard request.limit > 0 else { return [] }
        let clock = clock
        let claims = try await queue.write("claim waiting") { db in
            let now = clock.now()
            return try DuePayments.waiting(request, now: now, db).map { id in
                try Lease.take(id, holder: request.holder, until: now + request.leaseFor, db)
            }
        }
        return readable(claims)
    }

    private func readable(_ claims: [Lease.Claim]) -> [ClaimedPayment] {
        claims.compactMap { claim in
            do throws(StoreFailure) {
                return try claim.payment()
            } catch {
                // One damaged payment must not keep the others from being settled. Its lease runs out, and it is
                // reported again.
                logger.critical(
                    "a claimed payment cannot be read", metadata: ["payment": "\(claim.id)", "error": "\(error)"])
                return nil
            }
        }
    }

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    public func claim(
        _ id: PaymentID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedPayment? {
        let clock = clock
        let claim: Lease.Claim? = try await queue.write("claim") { db in
            let now = clock.now()
            let statement = try db.cachedStatement(
                sql: """
                    SELECT 1 FROM payments
                    WHERE id = ? AND (lease_holder IS NULL OR lease_until <= ? OR lease_holder = ?)
                    """)
            guard try Row.fetchOne(statement, arguments: [id.text, now.milliseconds, holder]) != nil else {
                return nil
            }
            return try Lease.take(id.text, holder: holder, until: now + leaseFor, db)
        }
        guard let claim else { return nil }
        return try claim.payment()
    }

    /// Prolongs leases from now; returns those that are still held.
    public func renew(
        _ leases: [PaymentID: LeaseToken], leaseFor: Span
    ) async throws(StoreFailure) -> Set<PaymentID> {
        guard !leases.isEmpty else { return [] }
        let clock = clock
        return try await queue.write("renew") { db in
            let until = clock.now() + leaseFor
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE payments SET lease_until = ?
                    WHERE id = ? AND lease_holder IS NOT NULL AND lease_token = ?
                    """)
            var held: Set<PaymentID> = []
            for (id, token) in leases {
                try statement.execute(arguments: [until.milliseconds, id.text, token.number])
                if db.changesCount > 0 { held.insert(id) }
            }
            return held
        }
    }

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    public func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {
        try await queue.write("release") { db in
            try db.cachedStatement(
                sql: """
                    UPDATE payments SET lease_holder = NULL, lease_until = NULL
                    WHERE id = ? AND lease_holder IS NOT NULL AND lease_token = ?
                    """
            ).execute(arguments: [id.text, token.number])
        }
    }

    /// When the next payment can be claimed as due; for a leased one not before its lease ends.
    public func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? {
        try await read("next due") { db in
            try DuePayments.next(in: scope, db).map { Timestamp(milliseconds: $0) }
        }
    }
}

/// The lease on one payment.
enum Lease {
    /// A payment that was claimed, not yet decoded.
    struct Claim: Sendable {
        let id: String
        let token: LeaseToken
        let until: Timestamp
        let document: Data

        func payment() throws(StoreFailure) -> ClaimedPayment {
            ClaimedPayment(payment: try PaymentDocument.decode(document), token: token, until: until)
        }
    }

    /// Leases a payment under the next token.
    static func take(_ id: String, holder: String, until: Timestamp, _ db: Database) throws -> Claim {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE payments SET lease_holder = ?, lease_token = lease_token + 1, lease_until = ? WHERE id = ?
                RETURNING lease_token, document
                """)
        guard let row = try Row.fetchOne(statement, arguments: [holder, until.milliseconds, id]) else {
            throw StoreFailure(.other, operation: "claim", cause: "the payment vanished while it was claimed")
        }
        return Claim(id: id, token: LeaseToken(row[0]), until: until, document: row[1])
    }
}
