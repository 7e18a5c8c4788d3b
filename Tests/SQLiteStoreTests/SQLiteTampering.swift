internal import Foundation
internal import GRDB
internal import PaymentCore
internal import StoreContract
internal import Testing

extension Tampering {
    /// Does it by SQL: whoever can write the file can drop its triggers.
    func apply(_ db: Database) throws {
        let triggers = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger)") }
        switch self {
        case .alterEntry(let id, let sequence):
            try db.execute(
                sql: "UPDATE events SET fields = '[[\"amount\",\"1 JPY\"]]' WHERE payment_id = ? AND seq = ?",
                arguments: [id.text, sequence])
        case .truncateTrail(let id):
            try db.execute(
                sql: """
                    DELETE FROM events WHERE payment_id = ?1
                    AND seq = (SELECT max(seq) FROM events WHERE payment_id = ?1)
                    """, arguments: [id.text])
            try Tampering.moveHead(of: id, db)
        case .rewriteTrail(let id):
            try Tampering.rewriteTrail(of: id, db)
            try Tampering.moveHead(of: id, db)
        case .removeTrail(let id):
            try db.execute(sql: "DELETE FROM events WHERE payment_id = ?", arguments: [id.text])
        case .alterPayment(let id):
            try Tampering.change(id, "'$.captureMode', 'manual'", db)
        case .alterSeal(let number):
            try db.execute(sql: "UPDATE seals SET at = at + 1 WHERE number = ?", arguments: [number])
        case .removeSeal(let number):
            try db.execute(sql: "DELETE FROM seal_heads WHERE seal = ?", arguments: [number])
            try db.execute(sql: "DELETE FROM seals WHERE number = ?", arguments: [number])
        }
    }

    private static func rewriteTrail(of id: PaymentID, _ db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT seq, at, type, leg FROM events WHERE payment_id = ? ORDER BY seq", arguments: [id.text])
        var head = AuditHead.empty(id)
        let trail = try rows.map { row in
            let type = try #require(AuditType(rawValue: row["type"]))
            let entry = AuditEntry(
                after: head, payment: id, at: Timestamp(milliseconds: row["at"]), type: type, leg: row["leg"],
                fields: [])
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
            return entry
        }
        for entry in forged(trail, of: id) {
            try db.execute(
                sql: """
                    UPDATE events SET fields = '[["forged","yes"]]', prev = ?, hash = ?
                    WHERE payment_id = ? AND seq = ?
                    """,
                arguments: [entry.previous.hex, entry.hash.hex, id.text, entry.sequence])
        }
    }

    private static func moveHead(of id: PaymentID, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE payments SET (audit_seq, audit_hash) = (
                    SELECT seq, hash FROM events WHERE payment_id = ?1 ORDER BY seq DESC LIMIT 1
                ) WHERE id = ?1
                """, arguments: [id.text])
        try change(id, "'$.auditHead', json_object('sequence', audit_seq, 'hash', audit_hash)", db)
    }

    /// Functions for JSON take and make texts, and the document is a BLOB.
    private static func change(_ id: PaymentID, _ part: String, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE payments SET document = CAST(json_set(CAST(document AS TEXT), \(part)) AS BLOB) WHERE id = ?
                """, arguments: [id.text])
    }
}
