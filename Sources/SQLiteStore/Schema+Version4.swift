extension Schema {
    /// The fourth schema: operations that wait for people or for time, a row for each, as long as it waits.
    ///
    /// What waits for people already is written at once. The operation of a quarantined leg is written anew when its
    /// status is read, once a day.
    static let version4 = """
        CREATE TABLE waiting_operations (
            payment_id TEXT NOT NULL REFERENCES payments (id),
            operation TEXT NOT NULL,
            waits_for TEXT NOT NULL,
            PRIMARY KEY (payment_id, operation, waits_for)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX waiting_operations_for ON waiting_operations (waits_for, payment_id);
        INSERT INTO waiting_operations (payment_id, operation, waits_for)
            SELECT id, 'create', 'people' FROM payments WHERE state = 'quarantined'
            UNION
            SELECT payment_id, 'refund', 'people' FROM effects WHERE kind = 'refund' AND status = 'quarantined';
        """
}
