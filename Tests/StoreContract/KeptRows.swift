/// What is only ever added to, whoever writes to the database by hand: changes that its triggers refuse.
public enum KeptRows {
    /// Statements that each concern a row once a payment was made, answered and sealed.
    public static let changes = [
        "UPDATE events SET type = 'forged'", "DELETE FROM events", "UPDATE seals SET at = at + 1",
        "DELETE FROM seals", "UPDATE seal_heads SET hash = hash", "DELETE FROM seal_heads",
        "UPDATE idempotency_keys SET fingerprint = 'another'", "UPDATE idempotency_keys SET payment_id = 'another'",
        "DELETE FROM idempotency_keys", "DELETE FROM payments",
    ]
}
