internal import PaymentCore
internal import Reconciler

/// The record of an idempotency key as a row of `idempotency_keys`.
enum KeyRow {
    private static let columns = """
        caller, key, operation, payment_id, fingerprint, created_at, pruned, answer_status, answer_type,
        answer_location, answer_body
        """

    static func place(_ caller: CallerID, _ key: IdempotencyKey) -> Parameter {
        .text(PaymentID(caller: caller, key: key).text)
    }

    /// Reads the row of a key.
    static func find(_ caller: CallerID, _ key: IdempotencyKey) -> Statement {
        Statement("SELECT \(columns) FROM idempotency_keys WHERE place = $1", [place(caller, key)])
    }

    static func record(_ rows: Rows, _ row: Int) throws -> IdempotencyRecord {
        guard let operation = IdempotencyRecord.Operation(rawValue: try rows.text(row, 2)),
            let payment = PaymentID(text: try rows.text(row, 3)),
            let fingerprint = Digest(hex: try rows.text(row, 4))
        else {
            throw StoreFailure(.corrupted, operation: "decode", cause: "an idempotency record does not decode")
        }
        return IdempotencyRecord(
            caller: try CallerID(rows.text(row, 0)), key: try IdempotencyKey(rows.text(row, 1)), operation: operation,
            payment: payment, fingerprint: fingerprint, createdAt: Timestamp(milliseconds: try rows.int(row, 5)),
            answer: try answer(rows, row), isPruned: try rows.bool(row, 6))
    }

    private static func answer(_ rows: Rows, _ row: Int) throws -> StoredAnswer? {
        guard let status = try rows.optionalInt(row, 7), let type = try rows.optionalText(row, 8) else { return nil }
        return StoredAnswer(
            status: Int(status), contentType: type, location: try rows.optionalText(row, 9),
            body: try rows.optionalBytes(row, 10) ?? [])
    }
}
