internal import Foundation
internal import PaymentCore
internal import PostgresServers
internal import StoreContract
internal import Testing

extension Tampering {
    /// Does it by SQL: whoever owns the tables can disable their triggers.
    func apply(in schema: String) async throws {
        let server = try await PostgresServer.shared()
        func sql(_ text: String) async throws -> String {
            try await server.psql(
                "SET search_path TO \(schema); SET session_replication_role = replica; \(text)")
        }
        switch self {
        case .alterEntry(let id, let sequence):
            _ = try await sql(
                """
                UPDATE events SET fields = '[["amount","1 JPY"]]' WHERE payment_id = '\(id)' AND seq = \(sequence)
                """)
        case .truncateTrail(let id):
            _ = try await sql(
                """
                DELETE FROM events WHERE payment_id = '\(id)'
                    AND seq = (SELECT max(seq) FROM events WHERE payment_id = '\(id)');
                \(Tampering.moveHead(of: id))
                """)
        case .rewriteTrail(let id):
            let rows = try await sql("SELECT seq, at, type, leg FROM events WHERE payment_id = '\(id)' ORDER BY seq")
            _ = try await sql(try Tampering.rewriting(rows, of: id) + Tampering.moveHead(of: id))
        case .removeTrail(let id):
            _ = try await sql("DELETE FROM events WHERE payment_id = '\(id)'")
        case .alterPayment(let id):
            _ = try await sql(
                """
                UPDATE payments SET document = jsonb_set(document::jsonb, '{captureMode}', '"manual"')::text
                WHERE id = '\(id)'
                """)
        case .alterSeal(let number):
            _ = try await sql("UPDATE seals SET at = at + 1 WHERE number = \(number)")
        case .removeSeal(let number):
            _ = try await sql(
                "DELETE FROM seal_heads WHERE seal = \(number); DELETE FROM seals WHERE number = \(number)")
        }
    }

    private static func rewriting(_ rows: String, of id: PaymentID) throws -> String {
        var head = AuditHead.empty(id)
        let trail = try rows.split(separator: "\n").filter { $0.contains("|") }.map { row in
            let columns = row.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
            let type = try #require(AuditType(rawValue: columns[2]))
            let at = Timestamp(milliseconds: try #require(Int64(columns[1])))
            let entry = AuditEntry(after: head, payment: id, at: at, type: type, leg: Int(columns[3]), fields: [])
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
            return entry
        }
        return forged(trail, of: id).map { entry in
            """
            UPDATE events SET fields = '[["forged","yes"]]', prev = '\(entry.previous.hex)', hash = '\(entry.hash.hex)'
            WHERE payment_id = '\(id)' AND seq = \(entry.sequence);
            """
        }.joined(separator: "\n")
    }

    private static func moveHead(of id: PaymentID) -> String {
        """
        UPDATE payments SET (audit_seq, audit_hash) = (
            SELECT seq, hash FROM events WHERE payment_id = '\(id)' ORDER BY seq DESC LIMIT 1
        ) WHERE id = '\(id)';
        UPDATE payments SET document = jsonb_set(
            document::jsonb, '{auditHead}', jsonb_build_object('sequence', audit_seq, 'hash', audit_hash))::text
        WHERE id = '\(id)';
        """
    }
}
