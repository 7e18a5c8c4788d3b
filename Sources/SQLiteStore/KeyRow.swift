internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler

/// The record of an idempotency key as a row of `idempotency_keys`.
enum KeyRow {
    private static let columns = """
        caller, key, operation, payment_id, fingerprint, created_at, pruned, answer_status, answer_type,
        answer_location, answer_body
        """

    static func find(caller: String, key: String, _ db: Database) throws -> IdempotencyRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(columns) FROM idempotency_keys WHERE caller = ? AND key = ?")
        return try Row.fetchOne(statement, arguments: [caller, key]).map(record)
    }

    static func insert(_ record: IdempotencyRecord, _ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO idempotency_keys (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            record.caller.name, record.key.text, record.operation.rawValue, record.payment.text,
            record.fingerprint.hex, record.createdAt.milliseconds, record.isPruned, record.answer?.status,
            record.answer?.contentType, record.answer?.location, record.answer.map { Data($0.body) },
        ])
    }

    static func setAnswer(_ answer: StoredAnswer, caller: String, key: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE idempotency_keys
                SET answer_status = ?, answer_type = ?, answer_location = ?, answer_body = ?
                WHERE caller = ? AND key = ?
                """
        ).execute(arguments: [
            answer.status, answer.contentType, answer.location, Data(answer.body), caller, key,
        ])
    }

    private static func record(_ row: Row) throws -> IdempotencyRecord {
        let operation: String = row[2]
        guard let operation = IdempotencyRecord.Operation(rawValue: operation),
            let payment = PaymentID(text: row[3]), let fingerprint = Digest(hex: row[4])
        else {
            throw StoreFailure(.corrupted, operation: "decode", cause: "an idempotency record does not decode")
        }
        return IdempotencyRecord(
            caller: try CallerID(row[0]), key: try IdempotencyKey(row[1]), operation: operation,
            payment: payment, fingerprint: fingerprint, createdAt: Timestamp(milliseconds: row[5]),
            answer: answer(row), isPruned: row[6])
    }

    private static func answer(_ row: Row) -> StoredAnswer? {
        guard let status: Int = row[7], let type: String = row[8] else { return nil }
        let body: Data = row[10] ?? Data()
        return StoredAnswer(status: status, contentType: type, location: row[9], body: Array(body))
    }
}
