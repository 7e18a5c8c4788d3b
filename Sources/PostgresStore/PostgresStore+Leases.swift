internal import Foundation
internal import Logging
public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Claims payments that are due and not leased, the longest overdue first. A payment that does not decode is
    /// logged and passed over.
    ///
    /// A claim is a commit like any other: once it is confirmed, so is everything that was read with it.
    public func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        guard request.limit > 0 else { return [] }
        let statement = DueStatements.claim(request, clock: clock.parameter)
        let claims = try await write("claim due") { connection in try Claim.run(statement, connection) }
        remember(claims, leaseFor: request.leaseFor)
        return readable(claims)
    }

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due. A payment that does not decode is logged and passed over.
    public func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        guard request.limit > 0 else { return [] }
        let statement = DueStatements.claimWaiting(request, clock: clock.parameter)
        let claims = try await write("claim waiting") { connection in try Claim.run(statement, connection) }
        remember(claims, leaseFor: request.leaseFor)
        return readable(claims)
    }

    private func readable(_ claims: [Claim]) -> [ClaimedPayment] {
        claims.compactMap { claim in
            do throws(StoreFailure) {
                return try claim.payment()
            } catch {
                // One damaged payment must not keep the others from being settled. Its lease runs out, and it is
                // reported again.
                configuration.logger.critical(
                    "a claimed payment cannot be read", metadata: ["payment": "\(claim.id)", "error": "\(error)"])
                return nil
            }
        }
    }

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    public func claim(
        _ id: PaymentID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedPayment? {
        let statement = Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now)
            UPDATE payments SET lease_holder = $3, lease_token = lease_token + 1,
                lease_until = (SELECT now FROM clock) + $4
            WHERE id = $2
                AND (lease_holder IS NULL OR lease_until <= (SELECT now FROM clock) OR lease_holder = $3)
            RETURNING id, lease_token, lease_until, document
            """,
            [
                clock.parameter, .text(id.text), .text(holder),
                .int(leaseFor.milliseconds),
            ])
        let claims = try await write("claim") { connection in try Claim.run(statement, connection) }
        remember(claims, leaseFor: leaseFor)
        guard let claim = claims.first else { return nil }
        return try claim.payment()
    }

    /// A claim tells what the time is.
    private func remember(_ claims: [Claim], leaseFor: Span) {
        for claim in claims { clock.saw(claim.until.milliseconds - leaseFor.milliseconds) }
    }

    /// Prolongs leases from now; returns those that are still held.
    public func renew(
        _ leases: [PaymentID: LeaseToken], leaseFor: Span
    ) async throws(StoreFailure) -> Set<PaymentID> {
        guard !leases.isEmpty else { return [] }
        let sorted = leases.sorted { $0.key < $1.key }
        let statement = Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now), locked AS (
                -- In one order, so that two of these never wait for each other.
                SELECT id FROM payments WHERE id = ANY ($2::text[]) ORDER BY id FOR UPDATE
            )
            UPDATE payments SET lease_until = (SELECT now FROM clock) + $4
            FROM unnest($2::text[], $3::bigint[]) AS held (id, token) JOIN locked USING (id)
            WHERE payments.id = held.id AND lease_holder IS NOT NULL AND lease_token = held.token
            RETURNING payments.id
            """,
            [
                clock.parameter, .texts(sorted.map(\.key.text)),
                .ints(sorted.map(\.value.number)), .int(leaseFor.milliseconds),
            ])
        return try await write("renew") { connection in
            let (rows, warnings) = try connection.run([statement])
            guard let held = rows.first else { return ([], warnings) }
            return (Set(try (0..<held.count).compactMap { PaymentID(text: try held.text($0, 0)) }), warnings)
        }
    }

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    public func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {
        try await write("release") { connection in
            try connection.run([
                Statement(
                    """
                    UPDATE payments SET lease_holder = NULL, lease_until = NULL
                    WHERE id = $1 AND lease_holder IS NOT NULL AND lease_token = $2
                    """, [.text(id.text), .int(token.number)])
            ]).warnings
        }
    }

    /// When the next payment can be claimed as due; for a leased one not before its lease ends.
    public func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? {
        try await perform("next due") { connection in
            guard let rows = try connection.run([DueStatements.next(in: scope)]).rows.first else { return nil }
            return try rows.optionalInt(0, 0).map { Timestamp(milliseconds: $0) }
        }
    }
}

/// A payment that was claimed, not yet decoded.
private struct Claim: Sendable {
    let id: String
    let token: LeaseToken
    let until: Timestamp
    let document: Data

    static func run(
        _ statement: Statement, _ connection: TermedConnection
    ) throws -> ([Claim], warnings: [String]) {
        let (rows, warnings) = try connection.run([statement])
        guard let claimed = rows.first else { return ([], warnings) }
        let claims = try (0..<claimed.count).map { row in
            Claim(
                id: try claimed.text(row, 0), token: LeaseToken(try claimed.int(row, 1)),
                until: Timestamp(milliseconds: try claimed.int(row, 2)), document: try claimed.data(row, 3))
        }
        return (claims, warnings)
    }

    func payment() throws(StoreFailure) -> ClaimedPayment {
        ClaimedPayment(payment: try PaymentDocument.decode(document), token: token, until: until)
    }
}
