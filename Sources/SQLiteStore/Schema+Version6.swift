extension Schema {
    /// The sixth schema: since when the store is there, in milliseconds. A store that was made before has it from its
    /// oldest payment.
    static let version6 = """
        CREATE TABLE store_founding (
            sole INTEGER PRIMARY KEY CHECK (sole = 1),
            at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO store_founding (sole, at) VALUES (1, coalesce(
            (SELECT min(created_at) FROM payments), CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)));
        """
}
